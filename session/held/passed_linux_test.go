package held_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// What a service passes on over its open socket can be used for what it was opened for: the package comment says that it is not held. It
// leads no further: nothing is made in a directory that was passed, and no socket reaches another service.
func TestWhatAServicePassesOnLeadsNoFurther(t *testing.T) {
	has(t, "bash")
	python := python(t)
	for who, as := range accounts() {
		for _, supervisor := range supervisors {
			for _, version := range []int{0, newest} {
				if needs.Sample && version == newest { // what runs is no code of Go
					continue
				}
				t.Run(fmt.Sprint(who, "/", supervisor, "/", version), func(t *testing.T) {
					holdBy(t, supervisor, "bash", version).close() // skips where that cannot be
					dir := socketDir(t)
					require.NoError(t, os.Chmod(dir, 0o777))
					file := filepath.Join(dir, "file")
					require.NoError(t, os.WriteFile(file, []byte("kept"), 0o666))
					other := serve(t, filepath.Join(dir, "other"))
					datagrams, err := net.ListenPacket("unixgram", filepath.Join(dir, "datagrams"))
					require.NoError(t, err)
					t.Cleanup(func() { datagrams.Close() })
					passing(t, filepath.Join(dir, "open"), file, dir)
					script, err := os.ReadFile("testdata/passed.py")
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(filepath.Join(dir, "passed.py"), script, 0o644))
					sh := shellWith(framing.Shell{Name: "bash"}, held.ProgramFor(version, true, filepath.Join(dir, "open")))
					s, err := startWith(t, by(t, supervisor, sh), as, nil)
					require.NoError(t, err)
					o := s.run(fmt.Sprintf("%s %s/passed.py %[2]s", python, dir))
					assert.Equal(t, outcome{stdout: "IN its file\n9 ways\n"}, o)
					assert.Zero(t, other.heard.Load())
					text, err := os.ReadFile(file)
					require.NoError(t, err)
					assert.Equal(t, "mine", string(text))
					names, err := filepath.Glob(dir + "/*")
					require.NoError(t, err)
					assert.Len(t, names, 5, names)
				})
			}
		}
	}
}

// passing listens at a path, and passes to whoever connects a file that can be written, a directory, a stream and a datagram socket.
func passing(t *testing.T, path, file, dir string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	require.NoError(t, os.Chmod(path, 0o777))
	go func() {
		c, err := l.AcceptUnix()
		if err != nil {
			return
		}
		defer c.Close()
		var fds []int
		defer func() {
			for _, fd := range fds {
				syscall.Close(fd)
			}
		}()
		for _, open := range []func() (int, error){
			func() (int, error) { return syscall.Open(file, syscall.O_RDWR|syscall.O_CLOEXEC, 0) },
			func() (int, error) { return syscall.Open(dir, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) },
			func() (int, error) {
				return syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			},
			func() (int, error) {
				return syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
			},
		} {
			fd, err := open()
			if err != nil {
				return
			}
			fds = append(fds, fd)
		}
		c.WriteMsgUnix([]byte("x"), syscall.UnixRights(fds...), nil)
		c.Read(make([]byte, 1))
	}()
}
