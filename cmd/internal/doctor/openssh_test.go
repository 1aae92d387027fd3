package doctor_test

import (
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
