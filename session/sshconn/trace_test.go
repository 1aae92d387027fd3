package sshconn_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// traced runs "true" on h and returns what a Trace heard of host keys and tries to log in.
func traced(t *testing.T, d *sshconn.Dialer, h hosts.Host) (keys []session.HostKey, tries []session.AuthTry, r session.Result) {
	t.Helper()
	var mu sync.Mutex
	p, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{
		Policy: policy.AllowAll, Audit: audit.Discard{},
		Trace: &session.Trace{
			HostKey: func(_ context.Context, at hosts.Host, k session.HostKey) {
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, h.Name, at.Name)
				keys = append(keys, k)
			},
			AuthTried: func(_ context.Context, at hosts.Host, a session.AuthTry) {
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, h.Name, at.Name)
				tries = append(tries, a)
			},
		},
	}})
	require.NoError(t, err)
	r, _ = p.Run(t.Context(), h, session.Command{Script: "true"})
	require.NoError(t, p.Close())
	return keys, tries, r
}

func TestTraceHearsOfHostKeysAndTriesOfEachHop(t *testing.T) {
	f := farm(t, 2)
	d := trusting(t, sshconn.Network{Lookup: lookup(sessiontest.Host(t, "bastion", f[0].Addr()))}, f...)
	h := sessiontest.Host(t, "web1", f[1].Addr())
	h.Via = []string{"bastion"}
	keys, tries, r := traced(t, d, h)
	require.Equal(t, session.StatusOK, r.Status, r.Err)
	require.Len(t, keys, 2)
	require.Len(t, tries, 2)
	for i, hop := range []string{"bastion", ""} {
		assert.Equal(t, session.HostKey{Hop: hop, Addr: f[i].Addr(), Type: "ssh-ed25519", Fingerprint: ssh.FingerprintSHA256(f[i].HostKey())}, keys[i])
		assert.Equal(t, session.AuthTry{
			Hop: hop, Addr: f[i].Addr(), User: "tester", Method: "publickey", From: "given",
			Fingerprint: ssh.FingerprintSHA256(f[0].ClientKey().PublicKey()), Accepted: true,
		}, tries[i])
	}
}

func TestTraceHearsOfEachKeyThatIsRefused(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	others := []ssh.Signer{newKey(t), newKey(t), server.ClientKey()}
	d, err := sshconn.Static(others, sessiontest.HostKeys(t, server.Addr(), server.HostKey()))
	require.NoError(t, err)
	_, tries, r := traced(t, d, sessiontest.Host(t, "web1", server.Addr()))
	require.Equal(t, session.StatusOK, r.Status, r.Err)
	require.Len(t, tries, 3)
	for i, a := range tries {
		assert.Equal(t, ssh.FingerprintSHA256(others[i].PublicKey()), a.Fingerprint)
		assert.Equal(t, i == 2, a.Accepted)
	}

	server.SetFaults(sshserver.Faults{RefuseAuth: true})
	_, tries, r = traced(t, d, sessiontest.Host(t, "web1", server.Addr()))
	require.Equal(t, session.StatusAuth, r.Status)
	require.Len(t, tries, 3)
	for _, a := range tries {
		assert.False(t, a.Accepted)
	}
}

func TestTraceHearsOfAHostKeyThatIsNotTrusted(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, sessiontest.HostKeys(t, server.Addr(), newKey(t).PublicKey()))
	require.NoError(t, err)
	keys, tries, r := traced(t, d, sessiontest.Host(t, "web1", server.Addr()))
	require.Equal(t, session.StatusHostKey, r.Status)
	require.Len(t, keys, 1)
	var changed *knownhosts.ChangedError
	assert.ErrorAs(t, keys[0].Err, &changed)
	assert.Empty(t, tries)
}
