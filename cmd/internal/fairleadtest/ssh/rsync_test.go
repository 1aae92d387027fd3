package ssh_test

import (
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

var compareRsync = flag.Bool("rsync.compare", false, "time rsync of 200 MB and of 5000 files by ssh and by Fairlead, and print both")

// TestRsyncByFairleadAgainstSSH prints what rsync takes with each, the median of three turns: ssh connects anew each time, as it does
// without a master. Without -rsync.compare it only shows that both carry the same.
func TestRsyncByFairleadAgainstSSH(t *testing.T) {
	large, many, turns := int64(200_000), 50, 1
	if *compareRsync {
		large, many, turns = 200_000_000, 5000, 3
	} else {
		t.Parallel()
	}
	inPlaceOfSSH(t, func(a *asSSH) {
		client, err := exec.LookPath("ssh")
		if err != nil {
			needs.Part(t, "ssh is not installed")
		}
		one, files := filepath.Join(a.dir, "one"), filepath.Join(a.dir, "files")
		require.NoError(t, os.MkdirAll(one, 0o700))
		data := make([]byte, large)
		_, _ = rand.Read(data)
		require.NoError(t, os.WriteFile(filepath.Join(one, "large"), data, 0o600))
		for i := range many {
			dir := filepath.Join(files, fmt.Sprint(i%50))
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data[i:i+1000], 0o600))
		}
		a.ok(a.ssh, "sshd", "true") // a connection for those that keep one
		for what, from := range map[string]string{fmt.Sprintf("%d MB", large/1e6): one, fmt.Sprintf("%d files", many): files} {
			for _, down := range []bool{false, true} {
				took := map[string][]time.Duration{}
				for turn := range turns {
					for _, by := range []string{client + " -F " + a.sshd.Config, "fairlead ssh"} {
						to := filepath.Join(a.dir, fmt.Sprintf("to-%d-%d", turn, len(by)))
						args := []string{"-a", "-e", by, from + "/", "sshd:" + to}
						if down {
							args = []string{"-a", "-e", by, "sshd:" + from + "/", to}
						}
						began := time.Now()
						a.ok("rsync", args...)
						took[by[:4]] = append(took[by[:4]], time.Since(began))
						a.ok("diff", "-r", from, to)
						require.NoError(t, os.RemoveAll(to))
					}
				}
				var median []time.Duration
				for _, by := range []string{client[:4], "fair"} {
					slices.Sort(took[by])
					median = append(median, took[by][turns/2])
				}
				t.Logf("%s, down %v: ssh %v, fairlead ssh %v, ratio %.2f", what, down, median[0].Round(time.Millisecond), median[1].Round(time.Millisecond),
					float64(median[1])/float64(median[0]))
			}
		}
	})
}
