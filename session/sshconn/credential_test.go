package sshconn_test

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// operators is an account that has a key of every kind: one in the agent, one where ssh looks by itself, and those that
// ssh_config names.
func operators(t *testing.T) (a *account, keys []ssh.PublicKey) {
	t.Helper()
	a = newAccount(t)
	private, signer := freshKey(t)
	a.agent = newAgent(t, agent.AddedKey{PrivateKey: private})
	keys = []ssh.PublicKey{signer.PublicKey(), a.key("id_ed25519", ""), a.key("named", "")}
	a.config("IdentityFile " + a.path("named"))
	return a, keys
}

func TestOpenSSHIsOfferedNothingButTheKeysOfACredential(t *testing.T) {
	a, theirs := operators(t)
	a.key("bot", "")
	sshd := sessiontest.OpenSSHD(t)
	known, err := knownHostsOf(sshd)
	require.NoError(t, err)
	a.write("known_hosts", known)
	h := sshd.Host(t, "web1")
	h.Identity = []string{a.path("bot")}
	authorize := func(keys ...ssh.PublicKey) {
		var text []byte
		for _, k := range keys {
			text = append(text, ssh.MarshalAuthorizedKey(k)...)
		}
		require.NoError(t, os.WriteFile(sshd.Authorized, text, 0o600))
	}

	authorize(theirs...)
	assert.NotEmpty(t, dial(t, a.dialer(), h).Peer().Key, "a key that is named goes before others")
	h.IdentityOnly = true
	_, err = a.dialer().Dial(t.Context(), h)
	var refused *sshconn.AuthError
	require.ErrorAs(t, err, &refused)
	require.Len(t, refused.Offered, 1)
	assert.Equal(t, a.path("bot"), refused.Offered[0].From)

	bot := a.key("bot", "")
	authorize(append(theirs, bot)...)
	assert.Equal(t, ssh.FingerprintSHA256(bot), dial(t, a.dialer(), h).Peer().Key)
}

func TestTheAgentSignsForACredentialOnlyWithTheKeyThatItNames(t *testing.T) {
	a := newAccount(t)
	mine, mySigner := freshKey(t)
	bots, botSigner := freshKey(t)
	a.agent = newAgent(t, agent.AddedKey{PrivateKey: mine}, agent.AddedKey{PrivateKey: bots})
	a.write("bot.pub", string(ssh.MarshalAuthorizedKey(botSigner.PublicKey())))
	server := accepting(t, mySigner.PublicKey(), botSigner.PublicKey())
	a.knows(server)
	h := sessiontest.Host(t, "web1", server.Addr())
	h.Identity, h.IdentityOnly = []string{a.path("bot")}, true
	assert.Equal(t, ssh.FingerprintSHA256(botSigner.PublicKey()), dial(t, a.dialer(), h).Peer().Key)
}

func TestWhoeverMustNotLogInConnectsToNothing(t *testing.T) {
	a := newAccount(t)
	gate, target := accepting(t, a.key("id_ed25519", "")), accepting(t)
	a.knows(gate, target)
	var dialed atomic.Int32
	network := sshconn.Network{
		Outside: func(h hosts.Host) hosts.Host {
			h.NoLogin = "it is not in the inventory"
			return h
		},
		Lookup: func(name string) (hosts.Host, bool) {
			h := sessiontest.Host(t, name, gate.Addr())
			h.Source = hosts.Pos{File: "inventory.yaml", Line: 3}
			switch name {
			case "closed":
				h.NoLogin = "agent/mcp has no key for it"
				return h, true
			case "gate":
				return h, true
			}
			return hosts.Host{}, false
		},
	}
	a.write("config", "Host jumps\n\tProxyJump elsewhere\n")
	known := hosts.Host{Name: "web1", Addr: "127.0.0.1", Port: 1, Source: hosts.Pos{File: "inventory.yaml", Line: 2}}
	for name, tt := range map[string]struct {
		change func(*hosts.Host)
		want   string
	}{
		"the host":                 {func(h *hosts.Host) { h.NoLogin = "agent/mcp has no key" }, "sshconn: web1: agent/mcp has no key"},
		"a jump host":              {func(h *hosts.Host) { h.Via = []string{"gate", "closed"} }, "sshconn: web1: through closed: agent/mcp has no key for it"},
		"one that nobody knows":    {func(h *hosts.Host) { h.Via = []string{"other"} }, "sshconn: web1: through other: it is not in the inventory"},
		"one with a user of its":   {func(h *hosts.Host) { h.Via = []string{"root@other"} }, "sshconn: web1: through other: it is not in the inventory"},
		"one of ssh_config":        {func(h *hosts.Host) { h.Name = "jumps" }, "sshconn: jumps: through elsewhere: it is not in the inventory"},
		"a host outside":           {func(h *hosts.Host) { h.Source = hosts.Pos{} }, "sshconn: web1: it is not in the inventory"},
		"a host outside, by a hop": {func(h *hosts.Host) { h.Source, h.Via = hosts.Pos{}, []string{"gate"} }, "sshconn: web1: it is not in the inventory"},
	} {
		t.Run(name, func(t *testing.T) {
			h := known
			tt.change(&h)
			_, err := a.dialerOn(network, &dialed).Dial(t.Context(), h)
			require.EqualError(t, err, tt.want)
			assert.ErrorIs(t, err, session.ErrAuth)
			var no *session.NoLoginError
			assert.ErrorAs(t, err, &no)
			assert.Zero(t, dialed.Load(), "nothing is connected")
		})
	}
	assert.Zero(t, gate.Accepted())
	h := known
	h.Via = []string{"gate"}
	_, err := a.dialerOn(network, &dialed).Dial(t.Context(), h)
	require.Error(t, err, "nothing listens at the end")
	assert.EqualValues(t, 1, dialed.Load(), "a jump host of the inventory is gone through")
}

func TestAJumpHostIsSharedOnlyByThoseWhoLogInWithTheSameKeys(t *testing.T) {
	a := newAccount(t)
	one, two := a.key("id_ed25519", ""), a.key("bot", "")
	gate, target := accepting(t, one, two), accepting(t, one, two)
	a.knows(gate, target)
	var only bool
	d := a.dialerOn(sshconn.Network{Lookup: func(name string) (hosts.Host, bool) {
		h := sessiontest.Host(t, name, gate.Addr())
		h.Identity, h.IdentityOnly = []string{a.path("bot")}, only
		return h, true
	}}, nil)
	h := sessiontest.Host(t, "web1", target.Addr())
	h.Via = []string{"gate"}
	dial(t, d, h)
	dial(t, d, h)
	assert.Equal(t, 1, gate.Accepted())
	only = true
	dial(t, d, h)
	assert.Equal(t, 2, gate.Accepted())
}

// dialerOn is dialer with a network, whose connections are counted where count is not nil.
func (a *account) dialerOn(n sshconn.Network, count *atomic.Int32) *sshconn.Dialer {
	a.t.Helper()
	if count != nil {
		n.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			count.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
	}
	cfg := a.defaults()
	cfg.Network = n
	d, err := sshconn.Default(cfg)
	require.NoError(a.t, err)
	return d
}
