package fleet_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// kill -9 of the program in the middle of a copy, at ten points (four in a sample): under the file's name there is what was there before, or all of
// the new content. --resume completes it, and leaves nothing beside it.
func TestACopyThatIsKilledLeavesNoPartOfAFileAndIsContinued(t *testing.T) {
	fairleadtest.TooLongForTheDetector(t)
	t.Parallel()
	points := 10
	if needs.Sample {
		points = 4
	}
	sshd := sessiontest.OpenSSHD(t)
	home, _ := fairleadtest.KeeperHome(t)
	inventory := filepath.Join(home, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, fmt.Appendf(nil, "version: 1\nhosts:\n  - {name: sshd, ssh_config: %s, tier: dev}\n", sshd.Config), 0o600))
	sizes := map[string]int64{"up": 40 << 20, "down": 8 << 20} // of a smaller one nothing is kept
	sums := map[string][sha256.Size]byte{}
	for way, size := range sizes {
		content := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{9}).Read(content)
		sums[way] = sha256.Sum256(content)
		require.NoError(t, os.WriteFile(filepath.Join(home, way), content, 0o600))
	}

	cp := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "fairlead", append([]string{"-i", inventory, "--keeper", "off", "cp"}, args...)...)
		cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=dumb"}
		return cmd
	}
	// killed runs cmd until a temporary file in dir has so many bytes, or it has ended.
	killed := func(cmd *exec.Cmd, dir string, at int64) {
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		require.NoError(t, cmd.Start())
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(ended)
		}()
		look := time.NewTicker(time.Millisecond)
		defer look.Stop()
		for {
			select {
			case <-ended:
				return
			case <-look.C:
			}
			for _, name := range leftBy(t, dir) {
				if st, err := os.Stat(name); err == nil && st.Size() >= at {
					_ = cmd.Process.Signal(syscall.SIGKILL)
					<-ended
					return
				}
			}
		}
	}
	is := func(name, way string) string {
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		switch {
		case string(got) == "old":
			return "old"
		case sha256.Sum256(got) == sums[way]:
			return "new"
		}
		return fmt.Sprintf("a part: %d bytes", len(got))
	}
	early := map[string]int{}
	for i := range points {
		for way, size := range sizes {
			at := size * int64(i) / int64(points)
			src, dir := filepath.Join(home, way), filepath.Join(home, fmt.Sprint(way, i))
			to := filepath.Join(dir, "to")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.WriteFile(to, []byte("old"), 0o600))
			args := []string{"--resume", src, "sshd:" + to}
			if way == "down" {
				args = []string{"sshd:" + src, to}
			}
			killed(cp(args...), dir, at)
			after := is(to, way)
			assert.Contains(t, []string{"old", "new"}, after, "%s at %d bytes", way, at)
			if after == "old" {
				early[way]++
			}
			out, err := cp(args...).CombinedOutput()
			require.NoError(t, err, "%s at %d bytes: %s", way, at, out)
			assert.Equal(t, "new", is(to, way))
			if way == "up" {
				assert.Empty(t, leftBy(t, dir), "at %d bytes", at)
			}
			require.NoError(t, os.RemoveAll(dir))
		}
	}
	t.Logf("of %d kills in the middle: %d of uploads and %d of downloads before the new content had its name", points, early["up"], early["down"])
	assert.Greater(t, early["up"], points/2, "the test kills too late")
	assert.Greater(t, early["down"], points/2, "the test kills too late")
}

// leftBy are the temporary files of copies in a directory.
func leftBy(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".fairlead-") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}
