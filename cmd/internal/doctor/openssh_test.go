package doctor_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/doctor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// look runs the doctor on a real server, and returns what it printed and the record of it.
func look(t *testing.T, decide policy.Decider, names []string, config ...string) (out, record string, code int) {
	t.Helper()
	sshd := sessiontest.OpenSSHD(t, config...)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "audit")
	sink, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	defer sink.Close()
	var hs []hosts.Host
	for _, name := range names {
		h := sshd.Host(t, name)
		h.Source, h.SSHConfig = hosts.Pos{File: "test.yaml", Line: 1}, "none"
		hs = append(hs, h)
	}
	ios, _, stdout, _ := iostreams.Test()
	f := &cmdutil.Factory{
		IO: ios, Getenv: func(string) string { return "" },
		Inventory: func() (*hosts.Inventory, error) { return hosts.NewInventory(hs, nil) },
		Pool: func(o cmdutil.PoolOptions) (*session.Pool, error) {
			pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, MaxConnsPerHost: 1, IdleTimeout: time.Millisecond, Session: session.Config{
				Principal: "agent/tester", Policy: decide, Audit: sink, Trace: o.Trace,
			}})
			if err == nil {
				t.Cleanup(func() { pool.Close() })
			}
			return pool, err
		},
	}
	cmd := doctor.NewCmd(f, nil)
	cmd.SetArgs([]string{"all"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		var exit *cmdutil.ExitError
		require.ErrorAs(t, err, &exit)
		code = exit.Code
	}
	text, err := os.ReadFile(filepath.Join(dir, "000001.jsonl"))
	require.NoError(t, err)
	return stdout.String(), string(text), code
}

var one = []string{"web1"}

func TestWhatIsFoundAboutAHostIsPrintedTogether(t *testing.T) {
	out, _, code := look(t, rules.New(rules.Config{}), []string{"web1", "web2", "web3"})
	assert.Zero(t, code, out)
	var order []string
	for line := range strings.Lines(out) {
		host := strings.Split(line, "\t")[1]
		if len(order) == 0 || order[len(order)-1] != host {
			order = append(order, host)
		}
	}
	assert.ElementsMatch(t, []string{"web1", "web2", "web3"}, order)
	assert.NotContains(t, out, "\tvalue\t", "of several hosts nobody reads all the values")
}

func TestARealServerIsLookedAt(t *testing.T) {
	out, record, code := look(t, rules.New(rules.Config{}), one)
	assert.Zero(t, code, out)
	for _, want := range []string{
		"ok\tweb1\tconnect\t127.0.0.1:", "ok\tweb1\thost key\tSHA256:", "ok\tweb1\tlogin\tas ", "\tweb1\tshell\t", "ok\tweb1\tclock\twithin ",
		"ok\tweb1\tbubblewrap\t", "\tweb1\ttemp space\t", "ok\tweb1\tsftp\tthe server has it\t-\n", "ok\tweb1\tvalue\ttier prod (default: ",
	} {
		assert.Contains(t, out, want)
	}
	assert.Equal(t, 2, strings.Count(record, "\n"), "one command, and nothing beside it: even an agent may look on prod")
	assert.Contains(t, record, `"reason":"doctor"`)
}

func TestWhatLookingAroundMayNotDoIsNotDone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`version: 1
rules:
  - {name: nobody, hosts: all, principals: ["*"], classes: [read-only], verdict: deny, reason: "closed today"}
`), 0o600))
	user, err := rules.ReadFile(file)
	require.NoError(t, err)
	out, record, code := look(t, rules.New(rules.Config{User: user}), one)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "fail\tweb1\tgate\tlooking around is denied: ")
	assert.NotContains(t, out, "sftp")
	assert.Contains(t, record, `"verdict":"deny"`)
}

func TestAServerWithoutSFTPIsToldSo(t *testing.T) {
	out, _, code := look(t, rules.New(rules.Config{}), one, "Subsystem nothing /bin/false")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "warn\tweb1\tsftp\tthe server has none: files go through the shell\t")
}

func TestAServerThatGivesNoTerminalIsToldSo(t *testing.T) {
	out, _, code := look(t, rules.New(rules.Config{}), one, "PermitTTY no")
	assert.Zero(t, code, "single commands run there")
	assert.Contains(t, out, "ok\tweb1\tlogin\t")
	assert.Regexp(t, `(?m)^warn\tweb1\tshell\t.*gives no terminal`, out)
}

// A real server is the jump host of the other two.
func TestTheWayIsLookedAtHopByHop(t *testing.T) {
	gate, sshd := sessiontest.OpenSSHD(t), sessiontest.OpenSSHD(t)
	dir := t.TempDir()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	block := func(name, addr, user, key, known, jump string) string {
		host, port, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		return "Host " + name + "\nHostName " + host + "\nPort " + port + "\nUser " + user + "\nIdentityFile " + key + "\nIdentitiesOnly yes\nUserKnownHostsFile " + known +
			"\nGlobalKnownHostsFile none\nProxyJump " + jump + "\n"
	}
	config := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(config, []byte(
		block("gate", gate.Addr, gate.User, gate.KeyFile, gate.KnownHosts, "none")+
			block("web1", sshd.Addr, sshd.User, sshd.KeyFile, sshd.KnownHosts, "gate")+
			block("web2", sshd.Addr, sshd.User, sshd.KeyFile, filepath.Join(dir, "nothing"), "gate")+
			block("web3", sshd.Addr, sshd.User, sshd.KeyFile, sshd.KnownHosts, "dead")+
			block("web4", sshd.Addr, sshd.User, sshd.KeyFile, sshd.KnownHosts, "strange")+
			block("strange", gate.Addr, gate.User, gate.KeyFile, filepath.Join(dir, "nothing"), "none")+
			block("dead", closed.Addr().String(), gate.User, gate.KeyFile, gate.KnownHosts, "none")), 0o600))
	var hs []hosts.Host
	for i := range 4 {
		hs = append(hs, hosts.Host{Name: fmt.Sprintf("web%d", i+1), SSHConfig: config, Tier: "dev", Source: hosts.Pos{File: "test.yaml", Line: i + 1}})
	}
	ios, _, stdout, _ := iostreams.Test()
	f := &cmdutil.Factory{
		IO: ios, Getenv: func(string) string { return "" },
		Inventory: func() (*hosts.Inventory, error) { return hosts.NewInventory(hs, nil) },
		Pool: func(o cmdutil.PoolOptions) (*session.Pool, error) {
			d, err := sshconn.Default(sshconn.DefaultConfig{Loader: sshconfig.Loader{Home: dir, User: "me"}})
			if err != nil {
				return nil, err
			}
			pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, MaxConnsPerHost: 1, Session: session.Config{
				Principal: "operator/tester", Policy: rules.New(rules.Config{}), Audit: audit.Discard{}, Trace: o.Trace,
			}})
			if err == nil {
				t.Cleanup(func() { pool.Close() })
			}
			return pool, err
		},
	}
	run := func(name string) string {
		stdout.Reset()
		cmd := doctor.NewCmd(f, nil)
		cmd.SetArgs([]string{name})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		_ = cmd.ExecuteContext(t.Context())
		return stdout.String()
	}
	passed := "ok\tweb%d\thop gate\t" + gate.Addr + ": its host key ssh-ed25519 SHA256:"
	out := run("web1")
	assert.Contains(t, out, fmt.Sprintf(passed, 1))
	assert.Contains(t, out, "is known; logged in as "+gate.User+" with SHA256:")
	assert.Contains(t, out, "ok\tweb1\tconnect\t"+sshd.Addr+", through gate; ")
	out = run("web2")
	assert.Contains(t, out, fmt.Sprintf(passed, 2))
	assert.Contains(t, out, "ok\tweb2\tkey exchange\t"+sshd.Addr+": ")
	assert.Regexp(t, `(?m)^fail\tweb2\thost key\t.*\tcompare the fingerprint .*: fairlead hosts trust web2$`, out)
	out = run("web3")
	assert.Contains(t, out, "ok\tweb3\tresolve\t"+closed.Addr().String()+": the name has an address (of the jump host dead)")
	assert.Regexp(t, `(?m)^fail\tweb3\ttcp\t.*\tcompare address and port \(fairlead hosts show dead\)`, out)
	out = run("web4")
	assert.Regexp(t, `(?m)^fail\tweb4\thost key\t.*fairlead hosts trust strange$`, out)
}
