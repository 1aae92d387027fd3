package files_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// editors are the files of one machine, opened once for each of some who work at the same time.
func editors(t *testing.T, n int) map[string][]*files.Host {
	t.Helper()
	all := map[string][]*files.Host{}
	s, web := sshd(t)
	for range n {
		all["sftp"] = append(all["sftp"], openOn(t, s, web))
		all["local"] = append(all["local"], openOn(t, pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local}))
		all["command"] = append(all["command"], openOn(t, pty(t, localpty.Config{Command: []string{"sh"}}), hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"sh"}}))
	}
	// The same machine by two names, and by sftp and without it.
	for i := range n {
		all["two ways"] = append(all["two ways"], all[[]string{"sftp", "local"}[i%2]][i])
	}
	return all
}

func TestEditsOfDifferentLinesAreAllKept(t *testing.T) {
	const n, rounds = 8, 3
	for name, all := range editors(t, n) {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			text := ""
			for i := range n {
				text += fmt.Sprintf("line %d: 0.\n", i)
			}
			path := put(t, dir, "f", text)
			require.NoError(t, os.Symlink(dir, filepath.Join(dir, "d")))
			require.NoError(t, os.Symlink("d/f", filepath.Join(dir, "l")))
			names := []string{"/f", "/l", "/d/f", "/d/../" + filepath.Base(dir) + "/f", "//f", "/d/d/l"}
			for r := range rounds {
				var wg sync.WaitGroup
				for i, h := range all {
					wg.Go(func() {
						_, err := h.Edit(t.Context(), dir+names[(i+r)%len(names)], fmt.Appendf(nil, "line %d: %d.", i, r), fmt.Appendf(nil, "line %d: %d.", i, r+1), files.WriteOptions{})
						assert.NoError(t, err)
					})
				}
				wg.Wait()
			}
			for i := range n {
				assert.Contains(t, content(t, path), fmt.Sprintf("line %d: %d.\n", i, rounds))
			}
		})
	}
}

func TestOfEqualExpectationsOneWins(t *testing.T) {
	const n = 6
	for name, all := range editors(t, n) {
		t.Run(name, func(t *testing.T) {
			for _, how := range []string{"write", "edit", "new"} {
				path := filepath.Join(t.TempDir(), "f")
				o := files.WriteOptions{If: files.Expect{New: true}}
				if how != "new" {
					put(t, filepath.Dir(path), "f", "old")
					o.If = files.Expect{SHA256: sum("old")}
				}
				var won atomic.Int32
				var winner atomic.Value
				var wg sync.WaitGroup
				for i, h := range all {
					wg.Go(func() {
						text := fmt.Sprint("by ", i, " old") // an edit would match again
						var err error
						if how == "edit" {
							_, err = h.Edit(t.Context(), path, []byte("old"), []byte(text), o)
						} else {
							_, err = h.Write(t.Context(), path, []byte(text), o)
						}
						if err == nil {
							won.Add(1)
							winner.Store(text)
							return
						}
						assert.Equal(t, files.CodeConflict, code(t, err), "%v", err)
					})
				}
				wg.Wait()
				assert.EqualValues(t, 1, won.Load(), how)
				assert.Equal(t, winner.Load(), content(t, path), how)
				assert.Equal(t, []string{"f"}, names(t, filepath.Dir(path)))
			}
		})
	}
}

// Who waits for another change is no longer pending than they want to, and a change of another file waits for nothing.
func TestAChangeWaitsForAnotherNoLongerThanItsCaller(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "f", "old")
	release := files.Hold(t, openOn(t, pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local}), path)
	h := openOn(t, pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local})
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	over := make(chan error)
	go func() {
		_, err := h.Write(ctx, path, []byte("new"), files.WriteOptions{})
		over <- err
	}()
	_, err := openOn(t, pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local}).Write(t.Context(), path+"2", []byte("new"), files.WriteOptions{})
	require.NoError(t, err)
	cancel(enough)
	err = <-over
	assert.ErrorIs(t, err, enough)
	assert.Equal(t, files.CodeCanceled, code(t, err))
	assert.Equal(t, "old", content(t, path))
	release()
	_, err = h.Write(t.Context(), path, []byte("new"), files.WriteOptions{})
	require.NoError(t, err)
	assert.Zero(t, files.Turns())
}

// New content did not get the rights of the old one: that is for who gives them.
func TestNewContentHasSetUIDOnlyIfItsModeSaysSo(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		if os.Getuid() == 0 { // also where the file is given to its owner, which may come after the mode
			require.NoError(t, os.Chown(dir, 0, 12345))
		}
		for name, tt := range map[string]struct{ old, ask, want fs.FileMode }{
			"set-uid":      {0o755 | fs.ModeSetuid, 0, 0o755},
			"set-gid":      {0o755 | fs.ModeSetgid, 0, 0o755},
			"both, sticky": {0o711 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky, 0, 0o711 | fs.ModeSticky},
			"not executed": {0o644 | fs.ModeSetuid | fs.ModeSetgid, 0, 0o644},
			"mode without": {0o755 | fs.ModeSetuid, 0o750, 0o750},
			"mode with":    {0o755, 0o750 | fs.ModeSetuid, 0o750 | fs.ModeSetuid},
			"mode, both":   {0o755 | fs.ModeSetuid, 0o755 | fs.ModeSetuid | fs.ModeSetgid, 0o755 | fs.ModeSetuid | fs.ModeSetgid},
		} {
			t.Run(name, func(t *testing.T) {
				path := put(t, dir, "f", "old")
				if os.Getuid() == 0 {
					require.NoError(t, os.Chown(path, 12345, 23456))
				}
				require.NoError(t, os.Chmod(path, tt.old))
				o := files.WriteOptions{}
				if tt.ask != 0 {
					o.Mode = &tt.ask
				}
				i, err := h.Write(t.Context(), path, []byte("one"), o)
				require.NoError(t, err)
				assert.Equal(t, tt.want, i.Mode)
				assertMode(t, path, tt.want)
				if tt.ask != 0 {
					return
				}
				require.NoError(t, os.Chmod(path, tt.old))
				_, err = h.Edit(t.Context(), path, []byte("one"), []byte("two"), o)
				require.NoError(t, err)
				assertMode(t, path, tt.want)
			})
		}
	})
}
