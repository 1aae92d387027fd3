package hostfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ways runs f with each way to the files of this machine, and an empty directory.
func ways(t *testing.T, f func(t *testing.T, h hostfs.FS, dir string)) {
	t.Helper()
	run := func(name string, open func(t *testing.T) (session.Transport, hosts.Host)) {
		t.Run(name, func(t *testing.T) {
			tr, host := open(t)
			h, err := hostfs.Open(t.Context(), tr, host, 0)
			require.NoError(t, err)
			t.Cleanup(func() { h.Close() })
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			f(t, h, dir)
		})
	}
	run("local", func(t *testing.T) (session.Transport, hosts.Host) {
		return pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local}
	})
	run("sftp", func(t *testing.T) (session.Transport, hosts.Host) { return sshd(t) })
	run("a shell over ssh", func(t *testing.T) (session.Transport, hosts.Host) { return sshd(t, "Subsystem other /bin/false") })
	for _, shell := range []string{"bash", "dash", "zsh", "mksh", "busybox"} {
		run(shell, func(t *testing.T) (session.Transport, hosts.Host) { return shellHost(t, shell) })
	}
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

// shellHost is a host whose sh is this shell; busybox is all of its programs.
func shellHost(t *testing.T, shell string) (session.Transport, hosts.Host) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		needs.Part(t, "%s is not installed", shell)
	}
	bin := t.TempDir()
	names := []string{"sh"}
	if shell == "busybox" {
		names = append(names, "ls", "stat", "printf", "cat", "head", "tail", "readlink", "mkdir", "mv", "rm", "rmdir", "chmod", "chown", "touch", "sync", "tar", "wc")
	}
	for _, name := range names {
		require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	argv := []string{"env", "PATH=" + bin + ":" + os.Getenv("PATH"), "sh"}
	return pty(t, localpty.Config{Command: argv}), hosts.Host{Name: "box", Transport: hosts.Command, Command: argv}
}

func put(t *testing.T, content string, mode fs.FileMode, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

// code is the code of what Sort makes of an error.
func code(err error) string {
	c, _ := hostfs.Sort(err)
	return c
}

// odd is a name that shells and parsers have stumbled over.
const odd = " -n 'a\n*\"$(id) \\"

func TestWhatStandsThereIsSeen(t *testing.T) {
	ways(t, func(t *testing.T, h hostfs.FS, dir string) {
		ctx := t.Context()
		file := put(t, "12345", 0o751|fs.ModeSetuid, dir, odd)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o750))
		require.NoError(t, os.Symlink("../l2", filepath.Join(dir, "d", "l1")))
		require.NoError(t, os.Symlink(odd, filepath.Join(dir, "l2")))
		require.NoError(t, os.Symlink("d/..", filepath.Join(dir, "l3")))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))

		m, err := h.Lstat(ctx, file)
		require.NoError(t, err)
		assert.Equal(t, odd, m.Name)
		assert.EqualValues(t, 5, m.Size)
		assert.Equal(t, 0o751|fs.ModeSetuid, m.Mode)
		assert.Equal(t, []int{os.Getuid(), os.Getgid()}, []int{m.UID, m.GID})
		assert.NotEmpty(t, m.Stamp)
		m, err = h.Lstat(ctx, dir+"/d/l1")
		require.NoError(t, err)
		assert.Equal(t, fs.ModeSymlink, m.Mode.Type())
		m, err = h.Stat(ctx, dir+"/d/l1")
		require.NoError(t, err)
		assert.True(t, m.Mode.IsRegular())
		m, err = h.Lstat(ctx, dir+"/pipe")
		require.NoError(t, err)
		assert.False(t, m.Mode.IsRegular() || m.Mode.IsDir() || m.Mode&fs.ModeSymlink != 0, "%v", m.Mode)
		_, err = h.Lstat(ctx, dir+"/none")
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = h.Stat(ctx, dir+"/none")
		require.ErrorIs(t, err, fs.ErrNotExist)

		to, err := h.Readlink(ctx, dir+"/l2")
		require.NoError(t, err)
		assert.Equal(t, odd, to)
		to, err = h.Real(ctx, dir+"/d/l1")
		require.NoError(t, err)
		assert.Equal(t, file, to)
		to, err = h.RealDir(ctx, dir+"/l3")
		require.NoError(t, err)
		assert.Equal(t, dir, to)
		_, err = h.RealDir(ctx, file)
		assert.Equal(t, hostfs.NotFound, code(err), "%v", err)
		_, err = h.RealDir(ctx, dir+"/none")
		assert.Equal(t, hostfs.NotFound, code(err), "%v", err)
		home, err := h.Home(ctx)
		require.NoError(t, err)
		assert.True(t, filepath.IsAbs(home), home)

		got := map[string]fs.FileMode{}
		require.NoError(t, h.List(ctx, dir, func(m hostfs.Meta) error {
			got[m.Name] = m.Mode.Type()
			return nil
		}))
		assert.Len(t, got, 5)
		assert.Equal(t, fs.ModeDir, got["d"])
		assert.Equal(t, fs.ModeSymlink, got["l2"])
		assert.Equal(t, fs.FileMode(0), got[odd])
		enough := errors.New("enough")
		require.ErrorIs(t, h.List(ctx, dir, func(hostfs.Meta) error { return enough }), enough)
		assert.Equal(t, hostfs.NotFound, code(h.List(ctx, dir+"/none", func(hostfs.Meta) error { return nil })))
	})
}

func TestBytesAreReadAsTheyAre(t *testing.T) {
	ways(t, func(t *testing.T, h hostfs.FS, dir string) {
		ctx, text := t.Context(), "a\x00b\r\n\xff"+strings.Repeat("x", 100_000)+"end"
		file := put(t, text, 0o600, dir, odd)
		for _, part := range []struct {
			hostfs.Part
			want string
		}{
			{hostfs.Whole(int64(len(text))), text}, {hostfs.Whole(0), text}, {hostfs.Part{Offset: 2, Limit: 3}, text[2:5]}, {hostfs.Part{Offset: 100_006, Limit: -1}, "end"},
			{hostfs.Part{Offset: 0, Limit: 3}, text[:3]}, {hostfs.Part{Limit: 0}, ""}, {hostfs.Part{Offset: 1 << 30, Limit: -1}, ""}, {hostfs.Part{Offset: 100_006, Limit: 9}, "end"},
		} {
			var got bytes.Buffer
			require.NoError(t, h.Read(ctx, file, part.Part, &got), "%+v", part.Part)
			assert.Equal(t, part.want, got.String(), "%+v", part.Part)
		}
		assert.Equal(t, hostfs.NotFound, code(h.Read(ctx, dir+"/none", hostfs.Whole(0), io.Discard)))
		assert.Equal(t, hostfs.NotFound, code(h.Read(ctx, dir+"/none", hostfs.Part{Offset: 1, Limit: 1}, io.Discard)))
		require.ErrorIs(t, h.Read(ctx, file, hostfs.Whole(0), refuses{}), errRefused)

		small := put(t, "small", 0o600, dir, "small")
		got, err := h.ReadSmall(ctx, small, 5)
		require.NoError(t, err)
		assert.Equal(t, "small", string(got))
		got, err = h.ReadSmall(ctx, "/proc/self/cmdline", 0)
		require.NoError(t, err, "what the kernel makes up has no size")
		assert.NotEmpty(t, got)
	})
}

var errRefused = errors.New("refused")

type refuses struct{}

func (refuses) Write([]byte) (int, error) { return 0, errRefused }

// stuck gives some, and then an error.
type stuck struct{ text *strings.Reader }

func (s stuck) Read(p []byte) (int, error) {
	if n, err := s.text.Read(p); err == nil {
		return n, nil
	}
	return 0, errRefused
}

func TestAFileIsMadeWholeOrNot(t *testing.T) {
	ways(t, func(t *testing.T, h hostfs.FS, dir string) {
		ctx, temp, text := t.Context(), filepath.Join(dir, odd), "a\x00b\r\n\xff"+strings.Repeat("x", 70_000)
		content := func(more string) hostfs.Content {
			return hostfs.Content{Data: []byte(more), Size: int64(len(more)), Mode: 0o640, Fsync: true, Verify: true}
		}
		require.NoError(t, h.Create(ctx, temp, content(text)))
		got, err := os.ReadFile(temp)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
		st, err := os.Stat(temp)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o640), st.Mode())
		require.Error(t, h.Create(ctx, temp, content("other")), "what is there stays")
		require.NoError(t, h.Create(ctx, dir+"/empty", content("")))
		assert.Equal(t, hostfs.NotFound, code(h.Create(ctx, dir+"/none/f", content("x"))))

		require.NoError(t, h.Create(ctx, temp, hostfs.Content{R: strings.NewReader("more"), Offset: int64(len(text)), Size: int64(len(text)) + 4, Mode: 0o600}))
		got, err = os.ReadFile(temp)
		require.NoError(t, err)
		assert.Equal(t, text+"more", string(got))
		require.ErrorIs(t, h.Create(ctx, dir+"/stuck", hostfs.Content{R: stuck{strings.NewReader("some")}, Size: 10, Mode: 0o600}), errRefused)

		require.NoError(t, h.Sync(ctx, dir, []string{temp}))
		to := put(t, "old", 0o600, dir, "to")
		require.NoError(t, h.Rename(ctx, temp, to))
		got, err = os.ReadFile(to)
		require.NoError(t, err)
		assert.Equal(t, text+"more", string(got))
		require.NoError(t, os.Mkdir(dir+"/d", 0o700))
		err = h.Rename(ctx, to, dir+"/d")
		require.Error(t, err)
		assert.False(t, hostfs.Unanswered(err) && !errors.Is(err, session.ErrClosed), "the host has said no: %v", err)
		require.FileExists(t, to)
		require.ErrorIs(t, h.Rename(ctx, dir+"/none", to), fs.ErrNotExist)

		require.NoError(t, h.Remove(ctx, to, false))
		require.NoError(t, h.Remove(ctx, to, false), "what is not there counts as removed")
		require.NoError(t, h.Remove(ctx, dir+"/d", true))
		require.NoError(t, h.Remove(ctx, dir+"/d", true))
		assert.NoDirExists(t, dir+"/d")
	})
}

func TestModesOwnersAndTimesAreSet(t *testing.T) {
	ways(t, func(t *testing.T, h hostfs.FS, dir string) {
		ctx, file := t.Context(), put(t, "x", 0o600, dir, odd)
		uid, gid := os.Getuid(), os.Getgid()
		for _, c := range []hostfs.Clothes{{Mode: 0o640, UID: -1, GID: -1}, {Mode: 0o755, UID: uid, GID: gid}, {Mode: 0o755 | fs.ModeSetuid, UID: uid, GID: gid}} {
			require.NoError(t, h.Dress(ctx, file, c))
			m, err := h.Lstat(ctx, file)
			require.NoError(t, err)
			assert.Equal(t, c.Mode, m.Mode)
		}
		switch err := h.Dress(ctx, file, hostfs.Clothes{Mode: 0o600, UID: 12345, GID: 54321}); {
		case uid == 0:
			require.NoError(t, err)
			m, err := h.Lstat(ctx, file)
			require.NoError(t, err)
			assert.Equal(t, []int{12345, 54321}, []int{m.UID, m.GID})
		default:
			assert.Equal(t, hostfs.Permission, code(err))
			assert.ErrorContains(t, err, "this account cannot give a new file to")
		}
		when := time.Unix(1_000_000_000, 0)
		require.NoError(t, h.Stamp(ctx, file, when))
		st, err := os.Stat(file)
		require.NoError(t, err)
		assert.True(t, when.Equal(st.ModTime()), st.ModTime())
		if timer, ok := h.(hostfs.Timer); ok {
			times, err := timer.Times(ctx, dir, []string{odd, "none"})
			require.NoError(t, err)
			assert.Equal(t, []bool{true, true}, []bool{times[0].Equal(when), times[1].IsZero()})
		}
		require.NoError(t, h.Mkdir(ctx, dir+"/new"))
		st, err = os.Stat(dir + "/new")
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o700), st.Mode().Perm())
		require.Error(t, h.Mkdir(ctx, dir+"/new"))
	})
}

// What some ways can besides is as good as one file after the other.
func TestManyAtOnceIsLikeOneByOne(t *testing.T) {
	ways(t, func(t *testing.T, h hostfs.FS, dir string) {
		ctx := t.Context()
		if p, ok := h.(hostfs.Programs); ok {
			word, ok := p.Word(dir)
			require.True(t, ok)
			said, err := p.Program(ctx, hostfs.Program{What: "cat", Line: "cd " + word + " && cat", In: strings.NewReader("some\ntext\n"), Most: 100})
			require.NoError(t, err)
			assert.Equal(t, "some\ntext\n", said)
			_, err = p.Program(ctx, hostfs.Program{What: "false", Line: "false"})
			var failed *hostfs.ProgramError
			require.ErrorAs(t, err, &failed)
		}
		if m, ok := h.(hostfs.ManyAtOnce); ok {
			var dirs []string
			n, last := 20, 15
			if strings.HasSuffix(t.Name(), "/dash") {
				n, last = 410, 405 // more than one script
			}
			for i := range n {
				dirs = append(dirs, filepath.Join(dir, strconv.Itoa(i)+odd))
			}
			require.NoError(t, os.Mkdir(dirs[7], 0o700))
			missing := m.MakeAll(ctx, dirs)
			require.Len(t, missing, len(dirs))
			for i, was := range missing {
				assert.Equal(t, i != 7, was, i)
			}
			require.NoError(t, m.DressAll(ctx, dirs, hostfs.Clothes{Mode: 0o711, UID: -1}))
			var moves []hostfs.Move
			for i, d := range dirs {
				st, err := os.Stat(d)
				require.NoError(t, err)
				assert.Equal(t, fs.FileMode(0o711), st.Mode().Perm())
				moves = append(moves, hostfs.Move{From: put(t, strconv.Itoa(i), 0o600, d, odd), To: filepath.Join(d, "to")})
			}
			require.NoError(t, os.Remove(moves[last].From))
			done, err := m.RenameAll(ctx, moves)
			require.ErrorIs(t, err, fs.ErrNotExist)
			assert.Equal(t, last, done)
			got, err := os.ReadFile(moves[last-1].To)
			require.NoError(t, err)
			assert.Equal(t, strconv.Itoa(last-1), string(got))
		}
		if g, ok := h.(hostfs.Gatherer); ok {
			files := []hostfs.Small{{Path: put(t, "one", 0o600, dir, "1"), Size: 3}, {Path: put(t, "two", 0o600, dir, odd), Size: 3}}
			all, err := g.Gather(ctx, files)
			require.NoError(t, err)
			assert.Equal(t, [][]byte{[]byte("one"), []byte("two")}, all)
			_, err = g.Gather(ctx, append(files, hostfs.Small{Path: dir + "/none"}))
			require.Error(t, err)
		}
	})
}

// A file that becomes shorter while it is read is neither the old one nor the new one.
func TestAFileThatShrinksIsNotRead(t *testing.T) {
	ways(t, func(t *testing.T, h hostfs.FS, dir string) {
		if _, shell := h.(*hostfs.Shell); shell {
			t.Skip("cat does not say that a file has become shorter")
		}
		const size = 8 << 20
		file := put(t, strings.Repeat("x", size), 0o600, dir, "f")
		err := h.Read(t.Context(), file, hostfs.Whole(size), &shrinking{t: t, file: file})
		require.ErrorIs(t, err, hostfs.ErrChanged)
	})
}

// shrinking makes the file shorter that it gets.
type shrinking struct {
	t    *testing.T
	file string
}

func (s *shrinking) Write(p []byte) (int, error) {
	require.NoError(s.t, os.Truncate(s.file, 10))
	return len(p), nil
}

func TestNothingIsDoneForACallerWhoIsGone(t *testing.T) {
	ways(t, func(t *testing.T, h hostfs.FS, dir string) {
		if _, sftp := h.(*hostfs.SFTP); sftp {
			t.Skip("sftp knows no contexts: its caller closes it")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		file := put(t, "x", 0o600, dir, "f")
		require.ErrorIs(t, h.Rename(ctx, file, dir+"/to"), context.Canceled)
		require.ErrorIs(t, h.Read(ctx, file, hostfs.Whole(1), io.Discard), context.Canceled)
		require.FileExists(t, file)
	})
}
