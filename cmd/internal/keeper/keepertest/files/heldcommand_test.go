package files_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// holds asserts that what holds the commands of a sandbox is what its check and its sessions tell, and returns it.
func holds(w *keepertest.World, b wire.Sandbox, dir string) string {
	t := w.T
	t.Helper()
	e, err := w.CheckSandbox(t.Context(), b.ID)
	require.NoError(t, err)
	s, err := w.As("agent/claude").Open(t.Context(), wire.Open{Host: b.Host, Sandbox: b.ID})
	require.NoError(t, err)
	require.Equal(t, e.Level, s.Sandbox)
	outside, inside := filepath.Join(w.Dir, "ESCAPED"), filepath.Join(dir, "inside")

	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "pwd"})
	assert.Equal(t, "executed", c.Status, c.Reason)
	assert.Equal(t, dir+"\n", c.Stdout)
	assert.Equal(t, e.Level, c.Enforcement)

	// What a program does cannot be told from its name: a person is asked, and their yes lets nothing out.
	program := "#!/bin/sh\necho in >inside; echo out >" + outside + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "program"), []byte(program), 0o700))
	_, c = w.Post(wire.NewCommand{Sandbox: b.ID, Command: "./program"})
	assert.Equal(t, e.Level, c.Enforcement, "who approves can see it")
	c = w.Yes(c)
	assert.Equal(t, e.Level, c.Enforcement)
	if e.Level == "kernel" {
		assert.Equal(t, "executed", c.Status, c.Reason)
		assert.FileExists(t, inside)
		assert.NoFileExists(t, outside)
	}
	return e.Level
}

func TestACommandInASandboxIsHeldAsItsSessionsAre(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string) {
		if level := holds(w, b, dir); level != "kernel" {
			needs.Part(t, "nothing on this machine holds more than is checked")
		}
	})
}

func TestACommandInASandboxOverSSHIsHeldAsItsSessionsAre(t *testing.T) {
	t.Parallel()
	w := keepertest.OverSSH(t, sessiontest.OpenSSHD(t))
	b, dir := w.Box("sshd")
	e, err := w.CheckSandbox(t.Context(), b.ID)
	require.NoError(t, err)
	if level := holds(w, b, dir); level != "kernel" {
		needs.Part(t, "%s", e.Why)
	}
	assert.Equal(t, "bubblewrap", e.How)
}

func TestWhereNoKernelHoldsACommandThatIsSaid(t *testing.T) {
	w := keepertest.Start(t)
	dir, err := filepath.EvalSymlinks(w.Dir)
	require.NoError(t, err)
	dir = filepath.Join(dir, "a box") // bubblewrap cannot be told of this path
	require.NoError(t, os.Mkdir(dir, 0o700))
	var b wire.Sandbox
	status, p := w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: "there", Path: dir}, &b)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	assert.Equal(t, "checked", holds(w, b, dir))

	// The paths that it names are judged instead.
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	for name, script := range map[string]string{"a file outside": "cat /etc/hostname", "a link that leads outside": "cat link/hostname"} {
		_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: script})
		assert.Equal(t, "rejected", c.Status, name)
		assert.Equal(t, "deny", c.Verdict, name)
		assert.Equal(t, "checked", c.Enforcement, name)
	}
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	list, err := w.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	doc, err := w.Approval(t.Context(), list[0].ID)
	require.NoError(t, err)
	assert.Contains(t, string(doc.Document), "held by: checked", "who approves is told")
	c = w.Yes(c)
	assert.Equal(t, "executed", c.Status, c.Reason)
	assert.FileExists(t, filepath.Join(dir, "made"))
}

// A yes to what the kernel would hold is none to what it would not.
func TestAYesIsForWhatHeldTheCommandThen(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("here")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	if c.Enforcement != "kernel" {
		needs.Part(t, "nothing on this machine holds more than is checked")
	}
	require.NoError(t, w.StopServing())
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "bwrap"), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	w.Serve()
	c = w.Yes(c)
	assert.Equal(t, "denied", c.Outcome)
	assert.Contains(t, c.Reason, "bubblewrap does not work there")
	assert.NotContains(t, c.Reason, "_fl_", "nothing of how commands travel")
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}

func TestACommandIsListedByItsSessionWhileItRunsAndLater(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	fifo := filepath.Join(dir, "fifo")
	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "mkfifo "+fifo)
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "cat fifo", WaitS: new(float64)})
	require.Equal(t, "approved", c.Status)
	require.NoError(t, os.WriteFile(fifo, nil, 0)) // until it reads, and so runs
	_, other := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "pwd"})
	var got wire.Command
	w.API("", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
	require.NotEmpty(t, got.Session)
	assert.NotEqual(t, other.Session, got.Session)
	for _, c := range []wire.Command{got, other} {
		var l wire.Commands
		w.API("agent/claude", "GET", keepertest.CommandsPath+"?session_id="+c.Session, nil, &l)
		require.Len(t, l.Items, 1)
		assert.Equal(t, c.ID, l.Items[0].ID)
	}
	var l wire.Commands
	w.API("agent/claude", "GET", keepertest.CommandsPath+"?session_id=s_none", nil, &l)
	assert.Empty(t, l.Items)
}
