package framing_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// feeder starts a feeder on a terminal of its own and waits until it is ready. dir is its directory for temporary files.
func feeder(t *testing.T, shell []string, dir string) (tty *os.File, cmd *exec.Cmd, f framing.Feeder) {
	t.Helper()
	nonce := framing.NewToken()
	cmd = exec.Command(shell[0], append(shell[1:len(shell):len(shell)], "-c", framing.Loader(nonce))...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	tty, err := pty.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(func() { tty.Close() })
	up := framing.NewStartup(nonce)
	var said []byte
	for loaded, buf := false, make([]byte, 4096); ; {
		n, err := tty.Read(buf)
		require.NoErrorf(t, err, "%q", said)
		if loaded {
			said = append(said, buf[:n]...)
			f, ready, failed := framing.Feeding(said, nonce)
			require.False(t, failed)
			if ready {
				return tty, cmd, f
			}
			continue
		}
		loaded, _, _, err = up.Feed(buf[:n])
		require.NoError(t, err)
		if loaded {
			_, err = tty.Write(framing.FeedScript(nonce, false))
			require.NoError(t, err)
		}
	}
}

// A terminal that goes away says so more than once: whoever closes it, then the kernel, then the kernel again when the
// session's leader ends. What removes the pipe must not be ended by that.
func TestAFeederThatIsHungUpAgainAndAgainLeavesNoPipe(t *testing.T) {
	for name, when := range map[string]func(tty *os.File, f framing.Feeder) error{
		"before the command": func(*os.File, framing.Feeder) error { return nil },
		"as the command opens it": func(tty *os.File, f framing.Feeder) error {
			_, err := tty.WriteString(framing.Go)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for range 50 {
				tty, cmd, f := feeder(t, []string{"/bin/sh"}, dir)
				require.NoError(t, when(tty, f))
				closing := time.AfterFunc(0, func() { tty.Close() })
				defer closing.Stop()
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				for over := false; !over; {
					if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP); errors.Is(err, syscall.ESRCH) {
						<-ended
						break
					}
					select {
					case <-ended:
						over = true
					default:
					}
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, ".fairlead-*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// A host whose disks are full or only read has memory for a pipe's name, as containers do.
func TestAFeederGoesWhereAPipeCanBeMade(t *testing.T) {
	needs.Root(t, "mount in a namespace of its own")
	for mount, want := range map[string]string{
		"mount --bind /tmp /tmp; mount -o remount,ro,bind /tmp":           "/dev/shm/",
		"mount -t tmpfs -o nr_inodes=2 none /tmp; touch /tmp/full":        "/dev/shm/",
		"for d in /tmp /dev/shm; do mount -t tmpfs -o ro none $d; done":   "/var/tmp/",
		"for d in /tmp /dev/shm /var/tmp; do mount -t proc none $d; done": "/root/",
		"mount -t tmpfs -o nr_inodes=3 none /tmp":                         "/tmp/",
	} {
		in := []string{"unshare", "-m", "sh", "-c", "mount --make-rprivate /; HOME=/root; " + mount + `; exec /bin/sh "$@"`, "sh"}
		tty, cmd, f := feeder(t, in, filepath.Join(t.TempDir(), "none"))
		assert.True(t, strings.HasPrefix(f.Path, want+".fairlead-"), "%s: %s", mount, f.Path)
		tty.Close()
		_ = cmd.Wait()
		assert.NoFileExists(t, f.Path)
		assert.NoDirExists(t, filepath.Dir(f.Path))
	}
}

// A shell reads lines, which are neither long, nor one for each byte.
func TestAPieceOfInputIsWrittenInLinesOf200Bytes(t *testing.T) {
	for n, want := range map[int][]int{1: {1}, 199: {199}, 200: {200}, 201: {200, 1}, 400: {200, 200}, 450: {200, 200, 50}} {
		var got []int
		for line := range strings.Lines(string(framing.Feeder{}.AppendPiece(nil, bytes.Repeat([]byte{'a'}, n)))) {
			require.True(t, strings.HasSuffix(line, "\n"))
			require.Equal(t, strings.Repeat(`\141`, (len(line)-1)/4)+"\n", line)
			got = append(got, (len(line)-1)/4)
		}
		assert.Equal(t, want, got, "%d bytes", n)
	}
}
