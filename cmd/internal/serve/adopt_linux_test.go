package serve_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// knock tries the keeper's socket in all ways that an owner has, and writes down the status of each.
const knock = `#!/bin/sh
exec >"$2.part" 2>&1
try() { curl -s -o /dev/null -w "%{http_code} $*\n" --unix-socket "$1" -X "$2" -H 'Content-Type: application/json' -d "$4" "http://x$3"; }
try "$1" POST /v1/tokens '{"principal":"operator/evil","role":"approver"}'
try "$1" POST /v1/runs '{"id":"r_0123456789abc","hosts":["here","sshd"],"command":"true","confirm":true}'
try "$1" POST /agent/terminal/sandboxes '{"host":"here","path":"/srv","owner_principal_id":"agent/evil"}'
try "$1" POST /v1/web '{}'
try "$1" GET /v1/hosts ''
try "$1" POST /v1/approvals/x/approve '{"digest":"x"}'
try "$1" POST /v1/keeper/stop '{}'
mv "$2.part" "$2"
`

func TestWhatASessionStartsOnThisMachineIsNeverTheOwner(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		require.Empty(t, os.Getenv("CI"), "curl is needed")
		t.Skip("curl is not installed")
	}
	hows := map[string]string{
		"a-child":      "sh %",
		"a-background": "sh % & wait",
		"a-daemon":     "setsid -f sh % </dev/null >/dev/null 2>&1",
		"a-fork":       "(setsid sh -c 'sh % &' </dev/null >/dev/null 2>&1 &)",
		"a-clean-one":  "env -i PATH=\"$PATH\" sh %",
	}
	for _, host := range []string{"here", "sshd"} {
		t.Run(host, func(t *testing.T) {
			p := newPlace(t)
			if host == "sshd" {
				p.loop(t)
			} else {
				hows["a-clean-daemon"] = "env -i PATH=\"$PATH\" setsid -f sh % </dev/null >/dev/null 2>&1"
				defer delete(hows, "a-clean-daemon") // over SSH nothing is left that tells where it comes from
			}
			c, err := p.dial(t.Context())
			require.NoError(t, err)
			defer c.Close()
			script := filepath.Join(p.home, "knock.sh")
			require.NoError(t, os.WriteFile(script, []byte(knock), 0o700))
			s, err := c.Open(t.Context(), wire.Open{Host: host})
			require.NoError(t, err)
			for name, how := range hows {
				t.Run(name, func(t *testing.T) {
					out := filepath.Join(p.home, name)
					words := strings.Join([]string{script, p.places.Socket, out}, " ")
					_, err := c.Run(t.Context(), s.ID, wire.Run{Command: strings.ReplaceAll(how, "%", words)}, "")
					require.NoError(t, err)
					require.Eventually(t, func() bool { _, err := os.Stat(out); return err == nil }, time.Minute, 10*time.Millisecond)
					text, err := os.ReadFile(out)
					require.NoError(t, err)
					lines := strings.Split(strings.TrimSpace(string(text)), "\n")
					require.Len(t, lines, 7, "%s", text)
					for _, line := range lines {
						assert.True(t, strings.HasPrefix(line, "403 "), line)
					}
				})
			}
			h, err := c.Health(t.Context())
			require.NoError(t, err, "this process comes from no session")
			require.Eventually(t, func() bool {
				out, _ := exec.Command("ps", "-o", "stat=", "--ppid", strconv.Itoa(h.PID)).Output()
				return !strings.Contains(string(out), "Z")
			}, time.Minute, 20*time.Millisecond, "adopted children are buried")
		})
	}
}

// loop adds a host to the inventory that is this machine, over OpenSSH's server.
func (p place) loop(t *testing.T) {
	t.Helper()
	sshd := sessiontest.OpenSSHD(t)
	require.NoError(t, os.WriteFile(filepath.Join(p.home, ".config", "fairlead", "inventory.yaml"),
		fmt.Appendf(nil, "version: 1\nhosts:\n  - {name: sshd, tier: dev, ssh_config: %s}\n", sshd.Config), 0o600))
}
