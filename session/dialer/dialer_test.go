package dialer_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/dialer"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func newDialer(t *testing.T, inv func() (*hosts.Inventory, error)) *dialer.Dialer {
	t.Helper()
	d, err := dialer.New(dialer.Config{Inventory: inv})
	require.NoError(t, err)
	return d
}

func TestTheWayToAHostIsOnlyToldWhereTheHostDoesNotSayItAll(t *testing.T) {
	d := newDialer(t, nil)
	for _, h := range []hosts.Host{{Name: "demo1", Transport: hosts.Demo}, {Name: "here", Transport: hosts.Local}} {
		way, err := d.Way(h)
		require.NoError(t, err)
		assert.Empty(t, way)
	}
	one, err := d.Way(hosts.Host{Name: "web1", Addr: "192.0.2.1"})
	require.NoError(t, err)
	other, err := d.Way(hosts.Host{Name: "web1", Addr: "192.0.2.2"})
	require.NoError(t, err)
	assert.NotEqual(t, one, other)
}

func TestDemoHostsShareAServerThatGoesWithTheDialer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	d := newDialer(t, nil)
	var addrs []string
	var open []session.Transport
	for _, name := range []string{"demo1", "demo2"} {
		conn, err := d.Dial(t.Context(), hosts.Host{Name: name, Transport: hosts.Demo})
		require.NoError(t, err)
		open = append(open, conn)
		p := conn.Peer()
		addrs = append(addrs, p.Addr)
		assert.True(t, strings.HasPrefix(p.Addr, "127.0.0.1:"), p.Addr)
		assert.True(t, strings.HasPrefix(p.HostKey, "SHA256:"), "the key was looked at")
	}
	assert.Equal(t, addrs[0], addrs[1])
	for _, conn := range open {
		require.NoError(t, conn.Close())
	}
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "twice")
	_, err := d.Dial(t.Context(), hosts.Host{Name: "demo1", Transport: hosts.Demo})
	require.ErrorIs(t, err, session.ErrClosed, "nothing would end another server")
}

func TestOfNeedsAnInventory(t *testing.T) {
	_, err := dialer.Of(nil)
	assert.EqualError(t, err, "dialer: Of needs an inventory; New does without")
}

func TestADialerThatServedNoDemoClosesToo(t *testing.T) {
	require.NoError(t, newDialer(t, nil).Close())
}

func TestLocalAndCommandHostsAreReachedOnThisMachine(t *testing.T) {
	d := newDialer(t, nil)
	for _, h := range []hosts.Host{
		{Name: "here", Transport: hosts.Local},
		{Name: "box", Transport: hosts.Command, Command: []string{"sh"}},
	} {
		conn, err := d.Dial(t.Context(), h)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	_, err := d.Dial(t.Context(), hosts.Host{Name: "x", Transport: "carrier-pigeon"})
	assert.EqualError(t, err, `x has the transport "carrier-pigeon", which is not supported: use ssh, local, command or demo`)
	var unknown *dialer.UnknownError
	assert.ErrorAs(t, err, &unknown)
}

func TestJumpHostsAreFoundInTheInventory(t *testing.T) {
	inv, err := hosts.NewInventory([]hosts.Host{{Name: "bastion", Addr: "10.0.0.1"}}, nil)
	require.NoError(t, err)
	cfg := dialer.Config{Inventory: func() (*hosts.Inventory, error) { return inv, nil }}
	h, ok := cfg.Lookup("bastion")
	assert.True(t, ok)
	assert.Equal(t, "10.0.0.1", h.Addr)
	_, ok = cfg.Lookup("bastoin")
	assert.False(t, ok)
	_, ok = dialer.Config{}.Lookup("bastion")
	assert.False(t, ok)
	_, ok = dialer.Config{Inventory: func() (*hosts.Inventory, error) { return nil, errors.New("broken") }}.Lookup("bastion")
	assert.False(t, ok)
}

func TestAnInventoryThatCannotBeReadMayHaveCredentials(t *testing.T) {
	host := hosts.Host{Name: "elsewhere"}
	for name, tt := range map[string]struct {
		principal string
		err       error
		closed    bool
	}{
		"for an agent":             {"agent/x", errors.New("inventory.yaml:3: unknown key"), true},
		"for an operator":          {"operator/ada", errors.New("inventory.yaml:3: unknown key"), false},
		"where there is none":      {"agent/x", fmt.Errorf("inventory: %w", fs.ErrNotExist), false},
		"where all is as it ought": {"agent/x", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			outside := dialer.Config{Principal: tt.principal, Inventory: func() (*hosts.Inventory, error) {
				if tt.err != nil {
					return nil, tt.err
				}
				return hosts.NewInventory(nil, nil)
			}}.Outside()
			h := host
			if outside != nil {
				h = outside(host)
			}
			assert.Equal(t, tt.closed, h.NoLogin != "", h.NoLogin)
		})
	}
}

// A whole inventory as an embedder has it: every transport, and a host behind a jump host that only the inventory knows.
func TestAWholeInventoryIsReached(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // after the servers
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".ssh"), 0o700))
	file := func(name string) string { return filepath.Join(home, ".ssh", name) }
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file("id_ed25519"), pem.EncodeToMemory(block), 0o600))
	mine, err := ssh.NewPublicKey(public)
	require.NoError(t, err)

	var at []hosts.Host // of the two servers
	for range 2 {
		server := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{mine}})
		h := sessiontest.Host(t, "", server.Addr())
		require.NoError(t, knownhosts.Append(file("known_hosts"), knownhosts.Name(h.Addr, h.Port), server.HostKey(), knownhosts.AppendOptions{}))
		at = append(at, h)
	}
	inv, _, err := inventory.Parse(fmt.Appendf(nil, `version: 1
defaults: {tier: dev}
hosts:
  - {name: here, transport: local}
  - {name: "demo[1-2]", transport: demo}
  - {name: box, transport: command, command: [sh]}
  - {name: bastion, addr: %s, port: %d, user: tester}
  - {name: inner, addr: %s, port: %d, user: tester, via: [bastion]}
`, at[0].Addr, at[0].Port, at[1].Addr, at[1].Port), "inventory.yaml", inventory.Options{})
	require.NoError(t, err)

	d, err := dialer.New(dialer.Config{
		Inventory: func() (*hosts.Inventory, error) { return inv, nil },
		SSH: sshconn.DefaultConfig{Loader: sshconfig.Loader{
			Home: home, User: "tester", UID: "1000", Hostname: "controller", SystemDir: file("none"),
			LookupEnv: func(string) (string, bool) { return "", false },
		}},
	})
	require.NoError(t, err)
	defer d.Close()
	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}})
	require.NoError(t, err)
	defer pool.Close()
	everything, err := hosts.ParseSelector("all")
	require.NoError(t, err)
	all, err := inv.Select(everything)
	require.NoError(t, err)
	var names []string
	for h, r := range pool.Each(t.Context(), all, session.Command{Script: "echo $((40+2))"}) {
		require.NoError(t, r.ExitErr(), h.Name)
		assert.Equal(t, "42\n", string(r.Stdout))
		names = append(names, h.Name)
	}
	assert.ElementsMatch(t, []string{"here", "demo1", "demo2", "box", "bastion", "inner"}, names)
}

func TestOfKnowsTheHostsOfAnInventory(t *testing.T) {
	inv, err := hosts.NewInventory([]hosts.Host{{Name: "here", Transport: hosts.Local}}, nil)
	require.NoError(t, err)
	d, err := dialer.Of(inv)
	require.NoError(t, err)
	h, err := inv.Lookup("here")
	require.NoError(t, err)
	conn, err := d.Dial(t.Context(), h)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.NoError(t, d.Close())
}
