package files_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// gated are the files of a host on each way to one, behind a gate that a test sees.
func gated(t *testing.T, run func(t *testing.T, r *files.Remote, g *gate)) {
	t.Run("this machine", func(t *testing.T) {
		g := &gate{}
		run(t, files.On(g.pool(t, localpty.Dial), hosts.Host{Name: "here", Transport: hosts.Local}), g)
	})
	t.Run("a command", func(t *testing.T) {
		g := &gate{}
		run(t, files.On(g.pool(t, localpty.Dial), hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"sh"}}), g)
	})
	t.Run("SSH", func(t *testing.T) {
		server := sessiontest.Server(t, sshserver.Config{})
		d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, sessiontest.HostKeys(t, server.Addr(), server.HostKey()))
		require.NoError(t, err)
		g := &gate{}
		run(t, files.On(g.pool(t, d.Dial), sessiontest.Host(t, "web1", server.Addr())), g)
	})
}

// gate notes what is judged and recorded.
type gate struct {
	verdict func(script string) policy.Verdict // nil allows
	judged  []string
	entries []audit.Event
}

func (g *gate) pool(t *testing.T, dial func(context.Context, hosts.Host) (session.Transport, error)) *session.Pool {
	t.Helper()
	p, err := session.NewPool(session.PoolConfig{Dial: dial, Session: session.Config{
		Policy: policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
			g.judged = append(g.judged, req.Command)
			v := policy.Allow
			if g.verdict != nil {
				v = g.verdict(req.Command)
			}
			return policy.Decision{Verdict: v}, nil
		}),
		Audit: audit.SinkFunc(func(_ context.Context, e audit.Event) error { g.entries = append(g.entries, e); return nil }),
	}})
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

func TestFilesPassTheGateOfAPool(t *testing.T) {
	gated(t, func(t *testing.T, r *files.Remote, g *gate) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		name := filepath.Join(dir, "app.conf")
		ctx := t.Context()

		i, err := r.Write(ctx, name, []byte("port = 80\n"), files.WriteOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 10, i.Size)
		assert.Equal(t, []string{"realpath -- " + name, "cat >" + name}, g.judged)
		last := g.entries[len(g.entries)-1]
		assert.Equal(t, audit.FileResult, last.Kind)
		assert.Equal(t, i.SHA256, last.StdinSHA256)

		_, err = r.Because("another port").Edit(ctx, name, []byte("80"), []byte("8080"), files.WriteOptions{})
		require.NoError(t, err)
		assert.Equal(t, "another port", g.entries[len(g.entries)-2].Reason)

		var b bytes.Buffer
		i, err = r.Read(ctx, name, &b)
		require.NoError(t, err)
		assert.Equal(t, "port = 8080\n", b.String())
		assert.Equal(t, i.SHA256, g.entries[len(g.entries)-1].StdoutSHA256)

		names, err := r.List(ctx, dir)
		require.NoError(t, err)
		require.Len(t, names, 1)
		assert.Equal(t, "app.conf", names[0].Name)

		i, err = r.Look(ctx, filepath.Join(dir, "none"))
		require.NoError(t, err)
		assert.Equal(t, files.None, i.Kind)

		_, err = r.Read(ctx, filepath.Join(dir, "none"), &b)
		var fe *files.Error
		require.ErrorAs(t, err, &fe)
		assert.Equal(t, files.CodeNotFound, fe.Code)
		var se *session.Error
		require.ErrorAs(t, err, &se)
		assert.Equal(t, files.CodeNotFound, se.Code)
	})
}

func TestWhatThePolicyForbidsIsNotDoneToFiles(t *testing.T) {
	gated(t, func(t *testing.T, r *files.Remote, g *gate) {
		name := filepath.Join(t.TempDir(), "f")
		g.verdict = func(script string) policy.Verdict {
			if strings.HasPrefix(script, "cat >") {
				return policy.Deny
			}
			return policy.Allow
		}
		_, err := r.Write(t.Context(), name, []byte("x"), files.WriteOptions{})
		require.ErrorIs(t, err, session.ErrDenied)
		assert.NoFileExists(t, name)
		g.verdict = func(string) policy.Verdict { return policy.Deny }
		require.NoError(t, os.WriteFile(name, []byte("secret"), 0o600))
		var b bytes.Buffer
		_, err = r.Read(t.Context(), name, &b)
		require.ErrorIs(t, err, session.ErrDenied)
		assert.Empty(t, b.String())
	})
}

func TestAWriteExpectsWhatItsCallerSays(t *testing.T) {
	gated(t, func(t *testing.T, r *files.Remote, _ *gate) {
		name := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(name, []byte("theirs"), 0o600))
		for _, x := range []files.Expect{{New: true}, {SHA256: strings.Repeat("0", 64)}, {Target: "/elsewhere"}} {
			_, err := r.Write(t.Context(), name, []byte("ours"), files.WriteOptions{If: x})
			var fe *files.Error
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, files.CodeConflict, fe.Code)
			var se *session.Error
			require.ErrorAs(t, err, &se)
			assert.False(t, se.Retriable, "it is not what the caller expects the next time either")
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, "theirs", string(text))
	})
}

// What can never be met would look like a change of somebody else's, and bits that no mode has would be lost.
func TestOptionsThatNoFileMeetsAreRefused(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	setuid, dir := fs.FileMode(0o4755), fs.ModeDir|0o755
	for name, o := range map[string]files.WriteOptions{
		"a hash that is too short": {If: files.Expect{SHA256: "abc"}}, "a hash in large letters": {If: files.Expect{SHA256: strings.ToUpper(sum)}},
		"bits of chmod": {Mode: &setuid}, "a directory's mode": {Mode: &dir},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			g := &gate{}
			r := files.On(g.pool(t, localpty.Dial), hosts.Host{Name: "here", Transport: hosts.Local})
			_, err := r.Write(t.Context(), path, []byte("new"), o)
			require.ErrorIs(t, err, session.ErrInvalid)
			var e *files.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, files.CodeInvalid, e.Code)
			_, err = r.Edit(t.Context(), path, []byte("old"), []byte("new"), o)
			require.ErrorIs(t, err, session.ErrInvalid)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "old", string(text))
			assert.Empty(t, g.judged, "the policy is not asked")
		})
	}
}

func TestAPathThatNoHostTakesIsRefusedLikeAnyOther(t *testing.T) {
	gated(t, func(t *testing.T, r *files.Remote, g *gate) {
		for _, path := range []string{"", "x", "/a\x00b", "~/x"} {
			_, err := r.Write(t.Context(), path, []byte("x"), files.WriteOptions{})
			var of *session.Error
			var why *files.Error
			require.ErrorAs(t, err, &of, "%q", path)
			require.ErrorAs(t, err, &why, "%q", path)
			assert.ErrorIs(t, err, session.ErrInvalid, "%q", path)
			assert.Equal(t, files.CodeInvalid, why.Code)
			assert.Equal(t, "look at", why.Op)
		}
	})
}

func TestAWriterThatTakesLessIsAnError(t *testing.T) {
	gated(t, func(t *testing.T, r *files.Remote, g *gate) {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
		_, err := r.Read(t.Context(), path, lazyWriter{})
		assert.ErrorIs(t, err, session.ErrOutput)
	})
}

type lazyWriter struct{}

func (lazyWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }
