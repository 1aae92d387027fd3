package files_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ways runs f with the files of this machine, reached in each way.
func ways(t *testing.T, f func(t *testing.T, h *files.Host, dir string)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) (session.Transport, hosts.Host){
		"local": func(t *testing.T) (session.Transport, hosts.Host) {
			return pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local}
		},
		"sftp":           func(t *testing.T) (session.Transport, hosts.Host) { return sshd(t) },
		"no subsystem":   func(t *testing.T) (session.Transport, hosts.Host) { return sshd(t, "Subsystem other /bin/false") },
		"missing server": func(t *testing.T) (session.Transport, hosts.Host) { return sshd(t, "Subsystem sftp /nonexistent/sftp") },
		"command": func(t *testing.T) (session.Transport, hosts.Host) {
			return pty(t, localpty.Config{Command: []string{"sh"}}), hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"sh"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr, host := open(t)
			f(t, openOn(t, tr, host), t.TempDir())
		})
	}
}

func openOn(t *testing.T, tr session.Transport, host hosts.Host) *files.Host {
	t.Helper()
	h, err := files.Open(t.Context(), tr, host)
	require.NoError(t, err)
	t.Cleanup(func() { h.Close() })
	return h
}

func pty(t *testing.T, cfg localpty.Config) session.Transport {
	t.Helper()
	tr, err := localpty.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	return tr
}

func sshd(t *testing.T, more ...string) (session.Transport, hosts.Host) {
	t.Helper()
	s := sessiontest.OpenSSHD(t, more...)
	d, err := sshconn.Static([]ssh.Signer{s.ClientKey}, s.HostKeys(t))
	require.NoError(t, err)
	host := s.Host(t, "web1")
	tr, err := d.Dial(t.Context(), host)
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	return tr, host
}

func put(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o640))
	return path
}

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

func code(t *testing.T, err error) string {
	t.Helper()
	var e *files.Error
	require.ErrorAs(t, err, &e)
	return e.Code
}

// names lists a directory, so that what was left behind shows.
func names(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := []string{}
	for _, e := range list {
		all = append(all, e.Name())
	}
	return all
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// strange is content that a terminal or a shell would change.
var strange = func() string {
	var b strings.Builder
	for i := range 256 {
		b.WriteByte(byte(i))
	}
	return "first\r\n\x00\x04\x1b[31m'\"$(x)`\\" + b.String() + "\xff\xfelast line without end"
}()

func TestAFileIsReadByteForByteWithItsHash(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		for name, text := range map[string]string{"strange": strange, "empty": "", "long": strings.Repeat("0123456789abcdef\n", 20000), "it's a $name": "x"} {
			path := put(t, dir, name, text)
			var b bytes.Buffer
			i, err := h.Read(t.Context(), path, 0, -1, 0, &b)
			require.NoError(t, err, name)
			assert.True(t, text == b.String(), name)
			assert.Equal(t, sum(text), i.SHA256, name)
			assert.EqualValues(t, len(text), i.Size)
			assert.Equal(t, fs.FileMode(0o640), i.Mode)
		}
	})
}

func TestPartsOfAFileAreRead(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		path := put(t, dir, "f", "0123456789")
		for _, c := range []struct {
			offset, limit int64
			want          string
		}{{0, 4, "0123"}, {3, 4, "3456"}, {8, 100, "89"}, {10, 5, ""}, {50, 5, ""}, {7, -1, "789"}, {0, 0, ""}} {
			var b bytes.Buffer
			i, err := h.Read(t.Context(), path, c.offset, c.limit, 0, &b)
			require.NoError(t, err)
			assert.Equal(t, c.want, b.String())
			assert.EqualValues(t, 10, i.Size)
			assert.Empty(t, i.SHA256, "nobody has seen all of it")
		}
		_, err := h.Read(t.Context(), path, 0, -1, 9, io.Discard)
		assert.Equal(t, files.CodeTooLarge, code(t, err))
		_, err = h.Read(t.Context(), path, -1, -1, 0, io.Discard)
		assert.Equal(t, files.CodeInvalid, code(t, err))
	})
}

func TestAFileIsWrittenWholeAndKeepsItsMode(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		path := filepath.Join(dir, "new")
		i, err := h.Write(t.Context(), path, []byte(strange), files.WriteOptions{})
		require.NoError(t, err)
		assert.Equal(t, sum(strange), i.SHA256)
		assert.True(t, strange == content(t, path))
		assertMode(t, path, 0o644)

		require.NoError(t, os.Chmod(path, 0o751|fs.ModeSetuid))
		_, err = h.Write(t.Context(), path, []byte("two\n"), files.WriteOptions{If: files.Expect{SHA256: sum(strange)}})
		require.NoError(t, err)
		assert.Equal(t, "two\n", content(t, path))
		assertMode(t, path, 0o751)

		mode := fs.FileMode(0o600)
		_, err = h.Write(t.Context(), path, nil, files.WriteOptions{Mode: &mode})
		require.NoError(t, err)
		assert.Equal(t, "", content(t, path))
		assertMode(t, path, 0o600)
		assert.Equal(t, []string{"new"}, names(t, dir))
	})
}

func assertMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	st, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, want, st.Mode())
}

func TestAWriteThatRestsOnOtherContentIsAConflict(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		path := put(t, dir, "f", "theirs")
		_, err := h.Write(t.Context(), path, []byte("ours"), files.WriteOptions{If: files.Expect{SHA256: sum("old")}})
		assert.Equal(t, files.CodeConflict, code(t, err))
		var e *files.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, sum("theirs"), e.SHA256)
		assert.ErrorContains(t, err, sum("theirs"))
		for _, x := range []files.Expect{{New: true}, {Target: "/elsewhere"}} {
			_, err = h.Write(t.Context(), path, []byte("ours"), files.WriteOptions{If: x})
			assert.Equal(t, files.CodeConflict, code(t, err))
		}
		for _, x := range []files.Expect{{Old: true}, {SHA256: sum("old")}} {
			_, err = h.Write(t.Context(), filepath.Join(dir, "none"), []byte("ours"), files.WriteOptions{If: x})
			assert.Equal(t, files.CodeConflict, code(t, err))
		}
		assert.Equal(t, "theirs", content(t, path))
		assert.Equal(t, []string{"f"}, names(t, dir))
	})
}

func TestAnEditReplacesTheOnlyOccurrence(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		secret := "password=\xff\x00hunter2\r\n"
		path := put(t, dir, "f", secret+"port=80\nport2=80\n")
		i, err := h.Edit(t.Context(), path, []byte("port=80"), []byte("port=8080"), files.WriteOptions{})
		require.NoError(t, err)
		assert.Equal(t, secret+"port=8080\nport2=80\n", content(t, path))
		assert.Equal(t, sum(content(t, path)), i.SHA256)
		assertMode(t, path, 0o640)

		_, err = h.Edit(t.Context(), path, []byte("absent"), nil, files.WriteOptions{})
		assert.Equal(t, files.CodeNoMatch, code(t, err))
		_, err = h.Edit(t.Context(), path, []byte("port"), []byte("x"), files.WriteOptions{})
		assert.Equal(t, files.CodeManyMatch, code(t, err))
		assert.ErrorContains(t, err, "2 times")
		_, err = h.Edit(t.Context(), path, nil, []byte("x"), files.WriteOptions{})
		assert.Equal(t, files.CodeInvalid, code(t, err))
		_, err = h.Edit(t.Context(), path, []byte("port2"), nil, files.WriteOptions{If: files.Expect{SHA256: sum("old")}})
		assert.Equal(t, files.CodeConflict, code(t, err))
		assert.Equal(t, secret+"port=8080\nport2=80\n", content(t, path))
		assert.Equal(t, []string{"f"}, names(t, dir))

		over := put(t, dir, "overlap", "aaa")
		_, err = h.Edit(t.Context(), over, []byte("aa"), []byte("b"), files.WriteOptions{})
		assert.Equal(t, files.CodeManyMatch, code(t, err), "which one is meant?")
	})
}

func TestALinkStandsForWhatItLeadsTo(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		dir, err := filepath.EvalSymlinks(dir)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "real", "deep"), 0o755))
		file := put(t, filepath.Join(dir, "real"), "f", "old")
		require.NoError(t, os.Symlink("real/deep", filepath.Join(dir, "d")))
		require.NoError(t, os.Symlink("../real/f", filepath.Join(dir, "real", "l1")))
		require.NoError(t, os.Symlink(filepath.Join(dir, "real", "l1"), filepath.Join(dir, "l2")))
		require.NoError(t, os.Symlink("real/none", filepath.Join(dir, "dangling")))
		require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
		for path, want := range map[string]string{
			dir + "/l2": file, dir + "/d/../f": file, dir + "/real/./f": file, dir + "//real//f": file,
			dir + "/dangling": filepath.Join(dir, "real", "none"), dir + "/d": filepath.Join(dir, "real", "deep"),
			dir + "/d/..": filepath.Join(dir, "real"), dir + "/d/": filepath.Join(dir, "real", "deep"), "/": "/",
		} {
			i, err := h.Look(t.Context(), path)
			require.NoError(t, err, path)
			assert.Equal(t, want, i.Target, path)
		}
		_, err = h.Look(t.Context(), dir+"/loop")
		assert.Equal(t, files.CodeInvalid, code(t, err))
		_, err = h.Look(t.Context(), "relative")
		assert.Equal(t, files.CodeInvalid, code(t, err))

		i, err := h.Write(t.Context(), dir+"/l2", []byte("new"), files.WriteOptions{If: files.Expect{Target: file}})
		require.NoError(t, err)
		assert.True(t, i.Linked())
		assert.Equal(t, "new", content(t, file))
		st, err := os.Lstat(dir + "/l2")
		require.NoError(t, err)
		assert.NotZero(t, st.Mode()&fs.ModeSymlink, "the link stays")
		_, err = h.Write(t.Context(), dir+"/dangling", []byte("made"), files.WriteOptions{})
		require.NoError(t, err)
		assert.Equal(t, "made", content(t, dir+"/real/none"))
	})
}

func TestOnlyOrdinaryFilesAreTouched(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		fifo := filepath.Join(dir, "fifo")
		require.NoError(t, syscall.Mkfifo(fifo, 0o600))
		for path, want := range map[string]string{
			dir: files.CodeDirectory, fifo: files.CodeSpecial, "/dev/null": files.CodeSpecial,
			dir + "/none/f": files.CodeNotFound, fifo + "/f": files.CodeNotFound,
		} {
			_, err := h.Write(t.Context(), path, []byte("x"), files.WriteOptions{})
			assert.Equal(t, want, code(t, err), "%s: %v", path, err)
			_, err = h.Edit(t.Context(), path, []byte("x"), nil, files.WriteOptions{})
			assert.Equal(t, want, code(t, err), "%s: %v", path, err)
			_, err = h.Read(t.Context(), path, 0, -1, 0, io.Discard)
			assert.Equal(t, want, code(t, err), "%s: %v", path, err)
		}
		_, err := h.Read(t.Context(), dir+"/none", 0, -1, 0, io.Discard)
		assert.Equal(t, files.CodeNotFound, code(t, err))
		assert.Equal(t, []string{"fifo"}, names(t, dir))
	})
}

func TestAFullDiskLeavesEverythingAsItWas(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		small(t, dir, "64k")
		path := put(t, dir, "f", "old")
		_, err := h.Write(t.Context(), path, bytes.Repeat([]byte("x"), 200<<10), files.WriteOptions{})
		assert.Equal(t, files.CodeNoSpace, code(t, err), "%v", err)
		assert.Equal(t, "old", content(t, path))
		assert.Equal(t, []string{"f"}, names(t, dir))
	})
}

// An sftp server calls it a failure, and no more.
func TestAReadOnlyFileSystemIsNamed(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		small(t, dir, "64k")
		path := put(t, dir, "f", "old")
		require.NoError(t, readOnly(dir))
		_, err := h.Write(t.Context(), path, []byte("new"), files.WriteOptions{})
		assert.Equal(t, files.CodePermission, code(t, err), "%v", err)
		assert.ErrorContains(t, err, "the file system is read-only")
		assert.NotContains(t, err.Error(), "could not be removed")
		assert.Equal(t, "old", content(t, path))
	})
}

// small mounts a file system that is soon full.
func small(t *testing.T, dir, size string) {
	t.Helper()
	if err := mount(dir, size); err != nil {
		needs.Part(t, "no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, unmount(dir)) })
}

func TestTheOwnerIsKept(t *testing.T) {
	if os.Getuid() != 0 {
		needs.Part(t, "only root can give files away")
	}
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		path := put(t, dir, "f", "old")
		require.NoError(t, os.Chown(path, 12345, 23456))
		_, err := h.Write(t.Context(), path, []byte("new"), files.WriteOptions{})
		require.NoError(t, err)
		st, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, "12345 23456", fmt.Sprint(st.Sys().(*syscall.Stat_t).Uid, " ", st.Sys().(*syscall.Stat_t).Gid))
	})
}

func TestWhatIsCanceledChangesNothing(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		path := put(t, dir, "f", "old")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		_, err := h.Write(ctx, path, []byte("new"), files.WriteOptions{})
		assert.Equal(t, files.CodeCanceled, code(t, err), "%v", err)
		_, err = h.Read(ctx, path, 0, -1, 0, io.Discard)
		assert.Equal(t, files.CodeCanceled, code(t, err), "%v", err)
		assert.Equal(t, "old", content(t, path))
		assert.Equal(t, []string{"f"}, names(t, dir))
		_, err = h.Write(t.Context(), path, []byte("new"), files.WriteOptions{})
		require.NoError(t, err, "and the host can be used on")
	})
}

func TestHomeIsTheAccounts(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		home, err := h.Home(t.Context())
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(home, "/"), home)
	})
}
