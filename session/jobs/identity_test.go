package jobs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// macOS and the BSDs have no /proc: there ps and sysctl say when a process, and the machine, began, as dates in the caller's time
// zone and language. A job that a session with another TZ has started is the same job.
func TestTheIdentityOfAJobDoesNotDependOnTheTimeZone(t *testing.T) {
	if _, err := exec.LookPath("ps"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ps is not installed")
		}
		t.Skip("ps is not installed")
	}
	for kind, boottime := range map[string]string{
		"macOS":   `echo "{ sec = 1700000000, usec = 42 } $(date -d @1700000000)"`,
		"OpenBSD": `date -d @1700000000`,
	} {
		t.Run(kind, func(t *testing.T) {
			bin := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(bin, "sysctl"), []byte("#!/bin/sh\n"+boottime+"\n"), 0o700))
			bsd := strings.NewReplacer("/proc/self/stat", "/nowhere", "/proc/sys/kernel/random/boot_id", "/nowhere").Replace(hostcode.Shell(commonSource) + "\n")
			of := func(env ...string) string {
				cmd := exec.Command("sh", "-c", bsd+`printf '%s %s\n' "$(h $PPID)" "$(b)"; printf '%s|%s' "${TZ-none}" "${LC_ALL-none}"`)
				cmd.Env = append([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=/"}, env...)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				identity, kept, _ := strings.Cut(string(out), "\n")
				want := []string{"none", "none"}
				for _, kv := range env {
					name, value, _ := strings.Cut(kv, "=")
					if name == "TZ" {
						want[0] = value
					} else {
						want[1] = value
					}
				}
				assert.Equal(t, strings.Join(want, "|"), kept, "the job's own environment is left alone")
				return identity
			}
			plain := of()
			require.Len(t, strings.Fields(plain), 2, plain)
			if kind == "macOS" {
				assert.True(t, strings.HasSuffix(plain, " 1700000000"), plain)
			}
			for _, env := range [][]string{{"TZ=UTC"}, {"TZ=Asia/Tokyo"}, {"TZ=America/New_York", "LC_ALL=C.UTF-8"}, {"LC_ALL=de_DE.UTF-8"}} {
				assert.Equal(t, plain, of(env...), env)
			}
		})
	}
}
