package files_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// The test binary is the helper that Landlock needs, too.
func init() {
	if len(os.Args) > 3 && os.Args[1] == "sandbox-exec" {
		fmt.Fprintln(os.Stderr, sandbox.Confine(os.Args[2], os.Args[3:], os.Environ()))
		os.Exit(126)
	}
}

// confined starts programs in a sandbox, as a session's transport does.
type confined struct {
	session.Transport
	wrap func(session.Program) (session.Program, error)
}

func (confined) Held() {}

func (c confined) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	p, err := c.wrap(p)
	if err != nil {
		return nil, err
	}
	return c.Transport.Open(ctx, p)
}

// A directory in the sandbox and a link to one outside change places as fast as they can, while files are written, edited
// and read below that name. Nothing but the kernel keeps them in: no path is judged here.
func TestWhatAKernelHoldsWritesNothingOutside(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("bubblewrap is not installed, and here it must be")
		}
		t.Skip("bubblewrap is not installed")
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	for name, how := range map[string]struct {
		open func(*testing.T) (session.Transport, hosts.Host)
		can  sandbox.Ability
	}{
		"local, bubblewrap": {func(t *testing.T) (session.Transport, hosts.Host) {
			return pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local}
		}, sandbox.Ability{Bubblewrap: true}},
		"local, landlock": {func(t *testing.T) (session.Transport, hosts.Host) {
			return pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local}
		}, sandbox.Ability{Landlock: sandbox.LandlockVersion()}},
		"sshd with sftp, bubblewrap": {func(t *testing.T) (session.Transport, hosts.Host) { return sshd(t) }, sandbox.Ability{Bubblewrap: true}},
	} {
		t.Run(name, func(t *testing.T) {
			home, err := os.UserHomeDir() // what is in /tmp is not to be seen inside
			require.NoError(t, err)
			root, err := os.MkdirTemp(home, "fl")
			require.NoError(t, err)
			t.Cleanup(func() { os.RemoveAll(root) })
			root, err = filepath.EvalSymlinks(root)
			require.NoError(t, err)
			dir, out := filepath.Join(root, "box"), filepath.Join(root, "out")
			for _, d := range []string{filepath.Join(dir, "dd"), out} {
				require.NoError(t, os.MkdirAll(d, 0o777))
			}
			require.NoError(t, os.Symlink(out, filepath.Join(dir, "link")))
			require.NoError(t, os.WriteFile(filepath.Join(out, "keep"), []byte("theirs"), 0o600))
			s := sandbox.Sandbox{ID: "b_1", Principal: "agent/x", Host: "web1", Path: dir, Active: true}
			e, err := sandbox.Choose(s, how.can, sandbox.Wants{})
			require.NoError(t, err)
			if e.Level != sandbox.LevelKernel {
				if os.Getenv("CI") == "true" {
					t.Fatalf("no kernel holds it here, and one must: %s", e.Why)
				}
				t.Skip(e.Why)
			}
			tr, h := how.open(t)
			f, err := files.Open(t.Context(), confined{tr, e.Wrap(s, sandbox.Bubblewrap{}, sandbox.Landlock{Helper: []string{exe, "sandbox-exec"}})}, h)
			if err != nil {
				needs.Part(t, "the kernel does not let bubblewrap work: %v", err)
			}
			defer f.Close()

			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				at := func(name string) string { return filepath.Join(dir, name) }
				pace := time.NewTicker(time.Millisecond) // the host needs time for the files, too
				defer pace.Stop()
				for {
					select {
					case <-stop:
						return
					case <-pace.C:
						_ = os.Rename(at("dd"), at("x"))
						_ = os.Rename(at("link"), at("dd"))
						_ = os.Rename(at("dd"), at("link"))
						_ = os.Rename(at("x"), at("dd"))
					}
				}
			})
			written, read := 0, 0
			for i := range 8 {
				path := filepath.Join(dir, "dd", fmt.Sprintf("f%d", i))
				if _, err := f.Write(t.Context(), path, []byte("escaped"), files.WriteOptions{}); err == nil {
					written++
				}
				_, _ = f.Edit(t.Context(), path, []byte("escaped"), []byte("again"), files.WriteOptions{})
				_, _ = f.Write(t.Context(), filepath.Join(dir, "dd", "keep"), []byte("escaped"), files.WriteOptions{})
				var b bytes.Buffer
				if _, err := f.Read(t.Context(), filepath.Join(dir, "dd", "keep"), 0, -1, 0, &b); err == nil {
					read++
				}
			}
			close(stop)
			wg.Wait()
			t.Logf("%d of 8 files were written, %d read", written, read)
			left, err := os.ReadDir(out)
			require.NoError(t, err)
			require.Len(t, left, 1, "%v", left)
			text, err := os.ReadFile(filepath.Join(out, "keep"))
			require.NoError(t, err)
			assert.Equal(t, "theirs", string(text))

			// In peace it works.
			i, err := f.Write(t.Context(), filepath.Join(dir, "new"), []byte("in"), files.WriteOptions{})
			require.NoError(t, err)
			assert.Equal(t, sum("in"), i.SHA256)
			text, err = os.ReadFile(filepath.Join(dir, "new"))
			require.NoError(t, err)
			assert.Equal(t, "in", string(text))
			_, err = f.Write(t.Context(), filepath.Join(out, "new"), []byte("out"), files.WriteOptions{})
			require.Error(t, err)
		})
	}
}
