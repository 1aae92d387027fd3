package fleet_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// A job on thirty hosts outlives the machine that has started it: the keeper is killed, all connections are cut, and another
// controller with nothing but the inventory and the job's name collects all of it.
func TestAJobOnThirtyHostsIsCollectedByAnotherController(t *testing.T) {
	fairleadtest.TooLongForTheDetector(t)
	t.Parallel()
	const fleet = 30
	state := t.TempDir() // of the jobs on all hosts
	gate := filepath.Join(t.TempDir(), "go")
	// A login shell of bash reads no start files at this SHLVL: thirty at once would wait for the lock of a version manager.
	sshd := sessiontest.OpenSSHD(t, "ListenAddress 0.0.0.0", "SetEnv XDG_STATE_HOME="+state+" SHLVL=3")
	links := cutLinks(t, sshd.Addr)
	inventory := writeFleet(t, sshd, links.port, fleet)
	first, second := newController(t, inventory), newController(t, inventory)

	killed := first.serve(t)
	// Standard output is 200 lines of each host's own, and every third host succeeds.
	name := strings.TrimSpace(first.run(t, 0, "jobs", "start", "all", "--",
		`echo begun; until [ -e `+gate+` ]; do sleep 0.2; done; i=0; while [ $i -lt 200 ]; do i=$((i+1)); printf '%s %s\n' {host} $i; done; echo late >&2; exit $(({n} % 3))`))
	require.Regexp(t, `^node\[001-030\]/j_[a-z2-7]{13}$`, name)
	running := first.run(t, 0, "jobs", "list", "node001")
	assert.Equal(t, fleet, strings.Count(running, "\trunning\t"), running)
	assert.Contains(t, running, "\techo begun; until ")

	links.cut()
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait()
	require.NoError(t, os.WriteFile(gate, nil, 0o600))

	second.keeper = "off"
	second.run(t, 1, "jobs", "wait", name)
	second.keeper = "require"
	second.serve(t)
	out := filepath.Join(t.TempDir(), "out")
	second.run(t, 1, "jobs", "collect", "--out-dir", out, name)
	for n := 1; n <= fleet; n++ {
		host := fmt.Sprintf("node%03d", n)
		var want strings.Builder
		want.WriteString("begun\n")
		for i := 1; i <= 200; i++ {
			fmt.Fprintf(&want, "%s %d\n", host, i)
		}
		got, err := os.ReadFile(filepath.Join(out, host, "stdout"))
		require.NoError(t, err)
		assert.Equal(t, want.String(), string(got), host)
		got, err = os.ReadFile(filepath.Join(out, host, "stderr"))
		require.NoError(t, err)
		assert.Equal(t, "late\n", string(got), host)
		var r struct {
			ExitCode *int `json:"exit_code"`
		}
		text, err := os.ReadFile(filepath.Join(out, host, "result.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &r))
		require.NotNil(t, r.ExitCode, host)
		assert.Equal(t, n%3, *r.ExitCode, host)
	}
	left, err := os.ReadDir(state)
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is left on the hosts")
}

// controller is a home directory from which fairlead is used.
type controller struct {
	home, inventory, keeper string
}

func newController(t *testing.T, inventory string) *controller {
	home, _ := fairleadtest.KeeperHome(t)
	return &controller{home, inventory, "require"}
}

func (c *controller) command(args ...string) *exec.Cmd {
	cmd := exec.Command("fairlead", append([]string{"-i", c.inventory}, args...)...)
	cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "XDG_RUNTIME_DIR=" + c.home, "TERM=dumb", "FAIRLEAD_KEEPER=" + c.keeper}
	return cmd
}

// run runs a command, which must end with a code, and returns its standard output.
func (c *controller) run(t *testing.T, code int, args ...string) string {
	t.Helper()
	cmd := c.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	require.Equal(t, code, cmd.ProcessState.ExitCode(), "%v: %s%s", err, out.String(), errOut.String())
	return out.String()
}

// serve runs the keeper in a process of the test.
func (c *controller) serve(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := c.command("serve")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	socket := filepath.Join(c.home, "fairlead", "keeper.sock")
	require.Eventually(t, func() bool {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, fairleadtest.AwaitAtMost, 20*time.Millisecond)
	return cmd
}

// writeFleet returns an inventory of so many addresses of a server, reached through port.
func writeFleet(t *testing.T, sshd *sessiontest.SSHD, port string, fleet int) string {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
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
	return write("inventory.yaml", fmt.Sprintf("version: 1\nhosts:\n  - {name: \"node[001-%03d]\", ssh_config: %s, tier: dev}\n", fleet, config))
}

// linked passes connections on to the same address of a server, and can cut all of them.
type linked struct {
	port string

	mu    sync.Mutex // guards conns
	conns []net.Conn
}

func cutLinks(t *testing.T, server string) *linked {
	_, to, err := net.SplitHostPort(server)
	require.NoError(t, err)
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	require.NoError(t, err)
	x := &linked{port: strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			host, _, _ := net.SplitHostPort(c.LocalAddr().String())
			s, err := net.Dial("tcp4", net.JoinHostPort(host, to))
			if err != nil {
				c.Close()
				continue
			}
			x.mu.Lock()
			x.conns = append(x.conns, c, s)
			x.mu.Unlock()
			pass := func(a, b net.Conn) {
				_, _ = io.Copy(a, b)
				a.Close()
				b.Close()
			}
			wg.Go(func() { pass(c, s) })
			wg.Go(func() { pass(s, c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		x.cut()
		wg.Wait()
	})
	return x
}

// cut ends all connections that there are.
func (x *linked) cut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.conns {
		c.Close()
	}
}
