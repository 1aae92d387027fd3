package sshconn_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// fleetOf returns an account whose key some servers accept.
func fleetOf(t *testing.T, accepted ...bool) (*account, []*sshserver.Server) {
	t.Helper()
	a := newAccount(t)
	key, other := a.key("id_ed25519", ""), newKey(t).PublicKey()
	var servers []*sshserver.Server
	for _, ok := range accepted {
		servers = append(servers, accepting(t, map[bool]ssh.PublicKey{true: key, false: other}[ok]))
	}
	a.knows(servers...)
	a.config("", servers...)
	return a, servers
}

func TestALoginThatThreeHostsRefuseIsNotTriedAgainInTheRun(t *testing.T) {
	a, servers := fleetOf(t, false, false, false, true)
	d := a.dialer()
	ctx := sshconn.OneRun(t.Context())
	for _, name := range []string{"web1", "web2", "web3"} {
		_, err := d.Dial(ctx, hosts.Host{Name: name})
		require.ErrorIs(t, err, session.ErrAuth)
		assert.NotContains(t, err.Error(), "not tried: 3 hosts")
	}
	_, err := d.Dial(ctx, hosts.Host{Name: "web4"})
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "not tried: 3 hosts of this run have refused tester with the same keys")
	assert.Zero(t, servers[3].Accepted())

	c, err := d.Dial(ctx, hosts.Host{Name: "web4", User: "other"})
	require.NoError(t, err, "of another user nothing is known")
	c.Close()
}

func TestALoginThatWorksSomewhereIsTriedEverywhere(t *testing.T) {
	a, _ := fleetOf(t, true, false, false, false, true)
	d := a.dialer()
	ctx := sshconn.OneRun(t.Context())
	c, err := d.Dial(ctx, hosts.Host{Name: "web1"})
	require.NoError(t, err)
	c.Close()
	for _, name := range []string{"web2", "web3", "web4"} {
		_, err := d.Dial(ctx, hosts.Host{Name: name})
		require.ErrorIs(t, err, session.ErrAuth)
	}
	c, err = d.Dial(ctx, hosts.Host{Name: "web5"})
	require.NoError(t, err)
	c.Close()
	for range 4 { // outside of a run nothing is counted
		_, err := d.Dial(t.Context(), hosts.Host{Name: "web2"})
		assert.NotContains(t, err.Error(), "not tried: 3 hosts")
	}
}
