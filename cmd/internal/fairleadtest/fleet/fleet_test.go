package fleet_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// The first command that people try, on a hundred addresses of one real sshd.
func TestTheMainCommandOnAHundredAddressesOfARealServer(t *testing.T) {
	t.Parallel()
	const fleet = 100
	sshd := sessiontest.OpenSSHD(t, "ListenAddress 0.0.0.0")
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	home, err := os.MkdirTemp("", "fl") // not t.TempDir: a socket's name has 103 bytes at most
	require.NoError(t, err)
	t.Cleanup(func() {
		cmd := exec.Command("fairlead", "serve", "--stop") // the last run has left one
		cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home}
		_ = cmd.Run()
		os.RemoveAll(home)
	})
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	known := write("known_hosts", fmt.Sprintf("[127.0.0.*]:%s %s", port, ssh.MarshalAuthorizedKey(sshd.HostKey)))
	var b strings.Builder
	for i := range fleet {
		fmt.Fprintf(&b, "Host node%03d\n\tHostName 127.0.0.%d\n", i+1, i+1)
	}
	fmt.Fprintf(&b, "Host *\n\tPort %s\n\tUser %s\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n",
		port, sshd.User, sshd.KeyFile, known)
	config := write("ssh_config", b.String())
	inventory := write("inventory.yaml", fmt.Sprintf("version: 1\nhosts:\n  - {name: \"node[001-%03d]\", ssh_config: %s, tier: dev}\n", fleet, config))

	for _, way := range []string{"off", "require"} {
		t.Run("keeper "+way, func(t *testing.T) { mainCommand(t, home, inventory, way, fleet) })
		t.Run("held, keeper "+way, func(t *testing.T) { dryRun(t, home, inventory, way, fleet) })
	}
}

// dryRun runs a script held on all addresses: it reports what the script would have written, once for all of them, with its exit code, and
// nothing has changed.
func dryRun(t *testing.T, home, inventory, way string, fleet int) {
	tree := filepath.Join(t.TempDir(), "tree")
	require.NoError(t, os.MkdirAll(filepath.Join(tree, "etc"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "etc/app.conf"), []byte("port = 80\n"), 0o644))
	script := filepath.Join(t.TempDir(), "tune.sh")
	require.NoError(t, os.WriteFile(script, []byte("cd \"$1\" || exit 1\necho more >>etc/app.conf\nrm -f etc/app.conf\nmkdir new\nwc -l <etc/app.conf\nexit 7\n"), 0o644))
	sums := func() string {
		out, err := exec.Command("sh", "-c", `cd "$1" && find . -exec stat -c '%n %a %s %Y %Z %i' {} + | sort; find . -type f -exec sha256sum {} + | sort`, "sh", tree).CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	before := sums()
	cmd := exec.CommandContext(t.Context(), "fairlead", "-i", inventory, "run", "all", "--held", "--fold", "--script", script, "--", tree)
	cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=dumb", "FAIRLEAD_KEEPER=" + way}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Run()
	if strings.Contains(errOut.String(), "not_held") || strings.Contains(errOut.String(), "cannot be held") {
		needs.Part(t, "this machine holds no shell: %.300s", errOut.String())
	}
	assert.Equal(t, 1, cmd.ProcessState.ExitCode(), errOut.String())
	all := fmt.Sprintf("node[001-%03d]", fleet)
	assert.Contains(t, out.String(), fmt.Sprintf("== %s (%d hosts): exit 7\n", all, fleet))
	for _, want := range []string{"open for writing " + tree + "/etc/app.conf", "remove " + tree + "/etc/app.conf", "make the directory " + tree + "/new"} {
		assert.Contains(t, errOut.String(), "  "+all+": "+want+"\n")
	}
	assert.Equal(t, before, sums())
}

func mainCommand(t *testing.T, home, inventory, way string, fleet int) {
	fairlead := func(args ...string) (out, errOut bytes.Buffer) {
		cmd := exec.CommandContext(t.Context(), "fairlead", args...)
		cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=dumb", "FAIRLEAD_KEEPER=" + way}
		cmd.Stdout, cmd.Stderr = &out, &errOut
		require.NoError(t, cmd.Run(), errOut.String())
		return out, errOut
	}
	const command = "uname -a; echo warn >&2; cd /tmp"
	out, errOut := fairlead("-i", inventory, "run", "all", "--", command)
	assert.Equal(t, fleet, strings.Count(out.String(), " | Linux "), out.String())
	assert.Equal(t, fleet, strings.Count(errOut.String(), " | warn\n"), errOut.String())

	out, _ = fairlead("-i", inventory, "run", "all", "--json", "--", command)
	hosts := map[string]bool{}
	var last string
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		last = lines.Text()
		var r struct {
			Host, Status, Cwd, Stdout, Stderr string
			ExitCode                          *int `json:"exit_code"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		if r.Host == "" {
			continue
		}
		hosts[r.Host] = true
		assert.Equal(t, "ok", r.Status, last)
		assert.Equal(t, "/tmp", r.Cwd, last)
		assert.Equal(t, "warn\n", r.Stderr, last)
		assert.Contains(t, r.Stdout, "Linux ", last)
		assert.Equal(t, new(int), r.ExitCode, last)
	}
	assert.Len(t, hosts, fleet)
	assert.Contains(t, last, `"counts":{"ok":100}`)
	if way == "require" {
		fairlead("serve", "--stop")
	}
	out, _ = fairlead("audit", "verify")
	assert.NotContains(t, out.String(), "without a result")
}
