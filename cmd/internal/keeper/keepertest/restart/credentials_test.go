package restart_test

import (
	"cmp"
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// lender is a keeper whose hosts are one SSH server. That lets in ada, who is what ssh_config names, and bot.
type lender struct {
	*keepertest.World
	server *sshserver.Server
}

// startLending runs one with hosts prod1, prod2, staging1, dev1 and here, and with credentials as given, indented.
func startLending(t *testing.T, credentials string) *lender {
	w := keepertest.Start(t)
	ada, bot := key(w, "ada"), key(w, "bot")
	l := &lender{World: w}
	l.point(sshserver.Config{ClientKeys: []ssh.PublicKey{ada, bot}})
	l.lend(credentials)
	return l
}

// point makes ssh_config name a new server.
func (l *lender) point(cfg sshserver.Config) {
	l.T.Helper()
	l.server = sessiontest.Server(l.T, cfg)
	addr, err := net.ResolveTCPAddr("tcp", l.server.Addr())
	require.NoError(l.T, err)
	known := knownhosts.Name(addr.IP.String(), uint16(addr.Port)) + " " + string(ssh.MarshalAuthorizedKey(l.server.HostKey()))
	require.NoError(l.T, os.WriteFile(filepath.Join(l.Dir, "known"), []byte(known), 0o600))
	require.NoError(l.T, os.WriteFile(filepath.Join(l.Dir, "config"), fmt.Appendf(nil, `Host *
	HostName %s
	Port %d
	User ada
	IdentityFile %s
	UserKnownHostsFile %s
	GlobalKnownHostsFile none
`, addr.IP, addr.Port, filepath.Join(l.Dir, "ada"), filepath.Join(l.Dir, "known")), 0o600))
}

// lend writes the inventory.
func (l *lender) lend(credentials string) {
	l.T.Helper()
	require.NoError(l.T, os.WriteFile(l.Inventory, []byte(strings.ReplaceAll(`version: 1
defaults: {ssh_config: DIR/config, shell: sh}
hosts:
  - {name: "prod[1-2]", tier: prod}
  - {name: staging1, tier: staging}
  - {name: dev1, tier: dev}
  - {name: here, transport: local, tier: prod}
`+credentials, "DIR", l.Dir)), 0o600))
}

// key writes a private key.
func key(w *keepertest.World, name string) ssh.PublicKey {
	w.T.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(w.T, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(w.T, err)
	require.NoError(w.T, os.WriteFile(filepath.Join(w.Dir, name), pem.EncodeToMemory(block), 0o600))
	key, err := ssh.NewPublicKey(public)
	require.NoError(w.T, err)
	return key
}

// whoami opens a session, and returns the account that it is in, else the code of why there is none.
func (l *lender) whoami(c *client.Client, host string) string {
	l.T.Helper()
	s, err := c.Open(l.T.Context(), wire.Open{Host: host})
	if err != nil {
		return keepertest.CodeOf(l.T, err)
	}
	r, err := c.Run(l.T.Context(), s.ID, wire.Run{Command: "echo $SSHSERVER_LOGIN"}, "")
	assert.NoError(l.T, c.CloseSession(l.T.Context(), s.ID))
	if err != nil { // the inventory may change in between
		return keepertest.CodeOf(l.T, err)
	}
	return strings.TrimSpace(r.Stdout)
}

const lent = "credentials:\n  - {principals: [agent/claude], hosts: \"prod1\", user: robot, identity: [DIR/bot]}\n"

func TestOutsideDevAnAgentGetsInWithWhatIsLentToIt(t *testing.T) {
	l := startLending(t, lent)
	agent := l.As("agent/claude")
	o := l.Fleet(agent, wire.NewRun{ID: "r_agents_run", Selector: "all", Command: "echo hello"})
	assert.Equal(t, []string{"ok", "auth", "auth", "ok", "ok"}, o.Statuses(), "the others still run")
	assert.Contains(t, o.Results[1].Result.Error.Message, "the inventory's credentials give agent/claude no key for it")
	assert.Contains(t, o.Results[1].Result.Error.Message, "add an entry with principals, hosts and identity under credentials")
	assert.False(t, keepertest.Sent(o.Results[1].Result))
	o = l.Fleet(l.Client, wire.NewRun{ID: "r_adas_run", Selector: "all", Command: "echo hello"})
	assert.Equal(t, []string{"ok", "ok", "ok", "ok", "ok"}, o.Statuses(), "operators are none of its business")

	other := l.As("agent/other")
	for host, want := range map[string][3]string{
		"prod1": {"robot", "auth", "ada"}, "prod2": {"auth", "auth", "ada"}, "staging1": {"auth", "auth", "ada"}, "dev1": {"ada", "ada", "ada"},
	} {
		assert.Equal(t, want, [3]string{l.whoami(agent, host), l.whoami(other, host), l.whoami(l.Client, host)}, host)
	}
	_, err := other.Open(t.Context(), wire.Open{Host: "prod2"})
	assert.ErrorContains(t, err, "agent/other")

	users := map[string]string{}
	for _, e := range l.Ended("r_agents_run") {
		users[e.Host] = e.SSHUser
	}
	delete(users, "here") // whoever runs the test
	assert.Equal(t, map[string]string{"prod1": "robot", "prod2": "", "staging1": "", "dev1": "ada"}, users)
}

func TestWithoutCredentialsAgentsLogInAsEver(t *testing.T) {
	l := startLending(t, "")
	assert.Equal(t, "ada", l.whoami(l.As("agent/claude"), "prod1"))
}

func TestPrincipalsShareNoConnectionEvenWithOneCredential(t *testing.T) {
	l := startLending(t, "credentials:\n  - {principals: [\"*\"], hosts: all, user: robot, identity: [DIR/bot]}\n")
	for range 2 {
		for _, c := range []*client.Client{l.Client, l.As("agent/claude"), l.As("agent/other")} {
			assert.Equal(t, "robot", l.whoami(c, "prod1"))
		}
	}
	assert.Equal(t, 3, l.server.Accepted())
}

func TestWhatIsTakenBackIsOfNoUseAnyMoreEvenWhileItsConnectionIsThere(t *testing.T) {
	l := startLending(t, lent)
	agent := l.As("agent/claude")
	require.Equal(t, "robot", l.whoami(agent, "prod1"))
	l.lend("credentials: []\n")
	require.Eventually(t, func() bool { return l.whoami(agent, "prod1") == "auth" }, time.Minute, 20*time.Millisecond)
	l.lend("credentials:\n  - {principals: [\"role=agent\"], hosts: prod1, user: another, identity: [DIR/bot]}\n")
	require.Eventually(t, func() bool { return l.whoami(agent, "prod1") == "another" }, time.Minute, 20*time.Millisecond)
}

// odd makes a sandbox in a directory that bubblewrap cannot be told of, whatever the machine has.
func (l *lender) odd(host, name string) (wire.Sandbox, string) {
	l.T.Helper()
	dir, err := filepath.EvalSymlinks(l.Dir)
	require.NoError(l.T, err)
	dir = filepath.Join(dir, name)
	require.NoError(l.T, os.MkdirAll(dir, 0o700))
	var b wire.Sandbox
	status, p := l.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: host, Label: name, Path: dir}, &b)
	require.Equal(l.T, http.StatusCreated, status, p.Detail)
	return b, dir
}

func TestAnOperatorSaysThatAnAccountCanDoNoMoreThanItsSandboxes(t *testing.T) {
	t.Parallel()
	const entry = "credentials:\n  - {principals: [agent/claude], hosts: all, user: robot, identity: [DIR/bot], sandboxed: %t}\n"
	for _, tt := range []struct {
		said       bool
		level      string
		there      string // what becomes of a look at what nobody can tell where it is
		anyProgram string // and without a session
	}{
		{true, "account", "ok", "executed"},
		{false, "checked", "awaiting_approval", "pending"},
	} {
		t.Run(tt.level, func(t *testing.T) {
			l := startLending(t, fmt.Sprintf(entry, tt.said))
			agent := l.As("agent/claude")
			b, dir := l.odd("prod1", "bo x")
			s, err := agent.Open(t.Context(), wire.Open{Host: "prod1", Sandbox: b.ID})
			require.NoError(t, err)
			assert.Equal(t, tt.level, s.Sandbox)
			assert.Equal(t, dir, s.CWD)
			assert.Equal(t, "ok", l.RunIn(agent, s.ID, "ls").Status)
			assert.Equal(t, "denied", l.RunIn(agent, s.ID, "cat /etc/hostname").Status, "a path that surely leads outside")
			assert.Equal(t, "denied", l.RunIn(agent, s.ID, "cd /").Status, "where it stands is looked at all the same")
			r, err := agent.Start(t.Context(), s.ID, wire.Run{Command: "ls ~"}, "")
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				r, err = agent.Look(t.Context(), r.Exec)
				return err == nil && cmp.Or(r.Status, r.State) == tt.there
			}, keepertest.TerminalTime, 10*time.Millisecond, "%+v", r)

			_, c := l.Post(wire.NewCommand{Sandbox: b.ID, Command: "cat /etc/hostname"})
			assert.Equal(t, "rejected", c.Status)
			_, c = l.Post(wire.NewCommand{Sandbox: b.ID, Command: "ls ~"})
			assert.Equal(t, tt.anyProgram, c.Status)

			// The kernel before the account, where it can be had.
			plain, _ := l.odd("prod1", "plain")
			s, err = agent.Open(t.Context(), wire.Open{Host: "prod1", Sandbox: plain.ID})
			require.NoError(t, err)
			assert.Contains(t, []string{"kernel", tt.level}, s.Sandbox)

			// Of a shell on this machine nobody has said anything: its account is the keeper's own.
			local, _ := l.odd("here", "he re")
			s, err = agent.Open(t.Context(), wire.Open{Host: "here", Sandbox: local.ID})
			require.NoError(t, err)
			assert.NotEqual(t, "account", s.Sandbox)
		})
	}
}

func TestACommandInASandboxWhoseHostIsClosedToItsAgentSaysSo(t *testing.T) {
	l := startLending(t, lent)
	b, _ := l.odd("prod2", "box")
	_, c := l.Post(wire.NewCommand{Sandbox: b.ID, Command: "ls"})
	assert.Equal(t, "failed", c.Status)
	assert.Equal(t, "auth", c.Outcome)
	assert.Contains(t, c.Reason, "the inventory's credentials give agent/claude no key for it")
}

func TestNobodyIsAskedAboutHostsThatAreClosed(t *testing.T) {
	l := startLending(t, lent)
	agent := l.As("agent/claude")
	var asked wire.Document
	run := func(selector string) *keepertest.Told {
		o := &keepertest.Told{}
		f := o.Fleet()
		f.Waiting = func() { o.Waits++; asked = l.AnswerAll(t, true) }
		_, err := agent.RunFleet(t.Context(), wire.NewRun{Selector: selector, Command: "touch /tmp"}, f)
		require.NoError(t, err)
		return o
	}
	o := run("prod*,dev1")
	assert.Equal(t, []string{"ok", "auth", "ok"}, o.Statuses())
	assert.Equal(t, 1, o.Waits)
	assert.Contains(t, string(asked.Document), "prod1")
	assert.NotContains(t, string(asked.Document), "prod2")
	for selector, want := range map[string][]string{"prod2": {"auth"}, "prod2,staging1": {"auth", "auth"}} {
		o = run(selector)
		assert.Equal(t, want, o.Statuses(), selector)
		assert.Zero(t, o.Waits, selector)
		assert.Contains(t, o.Results[0].Result.Error.Message, "give agent/claude no key for it")
	}
	list, err := agent.Hosts(t.Context(), "prod*")
	require.NoError(t, err)
	for _, h := range list {
		assert.Equal(t, h.Name == "prod2", strings.Contains(h.Connection, "no key for it"), h.Name)
	}
}

func TestALoginThatChangesWhileItWaitsIsNotUsed(t *testing.T) {
	l := startLending(t, lent)
	o := &keepertest.Told{}
	f := o.Fleet()
	f.Waiting = func() {
		l.lend(strings.ReplaceAll(lent, "robot", "another"))
		_, err := l.RunFleet(t.Context(), wire.NewRun{Hosts: []string{"prod1"}, Sums: []string{"0"}}, (&keepertest.Told{}).Fleet())
		require.Error(t, err, "the file has been read again")
		l.AnswerAll(t, true)
	}
	_, err := l.As("agent/claude").RunFleet(t.Context(), wire.NewRun{Selector: "prod1,dev1", Command: "touch /tmp"}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"denied", "ok"}, o.Statuses())
	assert.Contains(t, o.Results[0].Result.Error.Message, "not the host any more that was approved")
}
