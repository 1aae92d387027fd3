package files_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// ways are what may hold a session on this machine: with a helper for Landlock, and without.
func ways(t *testing.T, f func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string)) {
	exe, err := os.Executable()
	require.NoError(t, err)
	for name, helper := range map[string][]string{"with a helper": {exe, "sandbox-exec"}, "without one": nil} {
		t.Run(name, func(t *testing.T) {
			w := keepertest.Start(t, func(c *keeper.Config) { c.Confine = helper })
			b, dir := w.Box("here")
			f(t, w, b, dir)
		})
	}
}

func TestASessionInASandboxStaysThere(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string) {
		agent := w.As("agent/claude")
		outside := filepath.Join(w.Dir, "outside")
		s, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.Label, Name: "work"})
		require.NoError(t, err)
		assert.Contains(t, []string{"kernel", "checked"}, s.Sandbox)
		if sandbox.LandlockVersion() >= sandbox.MinLandlock && len(w.Cfg.Confine) > 0 {
			assert.Equal(t, "kernel", s.Sandbox)
		}
		assert.Equal(t, dir, s.CWD)
		t.Log(s.Sandbox)
		r := w.RunIn(agent, s.ID, "pwd; ls")
		assert.Equal(t, "ok", r.Status)
		assert.Equal(t, dir+"\nsub\n", r.Stdout)
		assert.Equal(t, "denied", w.RunIn(agent, s.ID, "cd /").Status)
		assert.Equal(t, "denied", w.RunIn(agent, s.ID, "cd .. && pwd").Status)
		for _, script := range []string{"cat /etc/passwd", "ls sub/../..", "(cd / && ls)", "touch " + outside} {
			assert.Equal(t, "denied", w.RunIn(agent, s.ID, script).Status, script)
		}
		assert.Equal(t, dir+"\n", w.RunIn(agent, s.ID, "pwd").Stdout)

		w.Approved(agent, s.ID, "touch inside; d=..; touch $d/outside")
		assert.FileExists(t, filepath.Join(dir, "inside"))
		if s.Sandbox == "kernel" {
			assert.NoFileExists(t, outside, "an approval does not open the kernel's sandbox")
		} else {
			assert.FileExists(t, outside, "where only paths are checked, an approved command runs as approved")
		}
	})
}

func TestOnlyASandboxOfOnesOwnIsEntered(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("here")
	agent, other := w.As("agent/claude"), w.As("agent/other")
	for name, path := range map[string]string{"id": b.ID, "label": b.Label, "path": dir} {
		s, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: path})
		require.NoError(t, err, name)
		require.NoError(t, agent.CloseSession(t.Context(), s.ID))
		_, err = other.Open(t.Context(), wire.Open{Host: "here", Sandbox: path})
		assert.Equal(t, "not_found", keepertest.CodeOf(t, err), name)
		_, err = agent.Open(t.Context(), wire.Open{Host: "there", Sandbox: path})
		assert.Equal(t, "not_found", keepertest.CodeOf(t, err), name)
	}
	_, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID, CWD: "../x"})
	assert.Equal(t, "invalid", keepertest.CodeOf(t, err))
}

func TestASessionThatLeftItsSandboxIsToldTheWayBack(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string) {
		agent := w.As("agent/claude")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600))
		s, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
		require.NoError(t, err)
		// Nobody can tell beforehand where this goes.
		r := w.Approved(agent, s.ID, "root=/; cd $root")
		require.Equal(t, "ok", r.Status, "%+v", r.Error)
		require.Equal(t, "/", r.CWD)
		r = w.RunIn(agent, s.ID, "pwd")
		assert.Equal(t, "denied", r.Status)
		require.NotNil(t, r.Error)
		assert.Contains(t, r.Error.Message, "cd "+dir)
		f, err := agent.ReadFile(t.Context(), client.FileAt{Session: s.ID, Path: filepath.Join(dir, "mine")}, 0, 100)
		require.NoError(t, err, "a path that needs no directory to begin in")
		assert.Equal(t, "mine", f.Content)
		_, err = agent.ReadFile(t.Context(), client.FileAt{Session: s.ID, Path: "etc/hostname"}, 0, 100)
		assert.Equal(t, "denied", keepertest.CodeOf(t, err))
		assert.Equal(t, "ok", w.RunIn(agent, s.ID, "cd "+dir).Status)
		assert.Equal(t, "mine\n", w.RunIn(agent, s.ID, "ls mine").Stdout)
	})
}

func TestFilesOfASandboxAreReadWhileACommandAwaitsApproval(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string) {
		agent := w.As("agent/claude")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600))
		s, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
		require.NoError(t, err)
		w.Asked(agent, s.ID, "touch made")
		for _, path := range []string{"mine", filepath.Join(dir, "mine")} {
			f, err := agent.ReadFile(t.Context(), client.FileAt{Session: s.ID, Path: path}, 0, 100)
			require.NoError(t, err, path)
			assert.Equal(t, "mine", f.Content)
		}
		for _, path := range []string{"../outside", "/etc/hostname"} {
			_, err = agent.ReadFile(t.Context(), client.FileAt{Session: s.ID, Path: path}, 0, 100)
			assert.Equal(t, "busy", keepertest.CodeOf(t, err), "%s is no read that is allowed", path)
		}
	})
}

func TestASessionEndsToBeOfUseWithItsSandbox(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *keepertest.World, b wire.Sandbox) int{
		"switched off": func(w *keepertest.World, b wire.Sandbox) int {
			off := false
			status, _ := w.API("", "PATCH", keepertest.SandboxesPath+"/"+b.ID, wire.SandboxChange{Active: &off}, nil)
			return status
		},
		"moved": func(w *keepertest.World, b wire.Sandbox) int {
			path := w.Dir
			status, _ := w.API("", "PATCH", keepertest.SandboxesPath+"/"+b.ID, wire.SandboxChange{Path: &path}, nil)
			return status
		},
		"deleted": func(w *keepertest.World, b wire.Sandbox) int {
			status, _ := w.API("", "DELETE", keepertest.SandboxesPath+"/"+b.ID, nil, nil)
			return status
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := keepertest.Start(t)
			b, _ := w.Box("here")
			agent := w.As("agent/claude")
			s, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
			require.NoError(t, err)
			assert.Equal(t, "ok", w.RunIn(agent, s.ID, "pwd").Status)
			require.Less(t, change(w, b), http.StatusMultipleChoices)
			assert.Equal(t, "denied", w.RunIn(agent, s.ID, "pwd").Status)
		})
	}
}

// Paths of files are judged whatever holds the session, so that what leads outside is denied and not only refused.
func TestFilesOfASessionInASandboxStayThereToo(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string) {
		agent := w.As("agent/claude")
		outside := filepath.Join(filepath.Dir(dir), "outside")
		require.NoError(t, os.WriteFile(outside, []byte("theirs"), 0o600))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link")))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600))
		s, err := agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
		require.NoError(t, err)
		for _, path := range []string{outside, "../outside", "sub/../../outside", "link", "/etc/hostname"} {
			at := client.FileAt{Session: s.ID, Path: path}
			_, err := agent.ReadFile(t.Context(), at, 0, 100)
			assert.Equal(t, "denied", keepertest.CodeOf(t, err), path)
			_, err = agent.WriteFile(t.Context(), at, []byte("ours"), client.WriteOptions{})
			assert.Equal(t, "denied", keepertest.CodeOf(t, err), path)
		}
		f, err := agent.ReadFile(t.Context(), client.FileAt{Session: s.ID, Path: "mine"}, 0, 100)
		require.NoError(t, err)
		assert.Equal(t, "mine", f.Content)
		text, err := os.ReadFile(outside)
		require.NoError(t, err)
		assert.Equal(t, "theirs", string(text))
	})
}
