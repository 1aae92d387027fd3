package restart_test

import (
	"crypto/ed25519"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// countingAgent is one that counts what it has signed.
type countingAgent struct {
	agent.ExtendedAgent
	n *atomic.Int32
}

func (s countingAgent) SignWithFlags(key ssh.PublicKey, data []byte, flags agent.SignatureFlags) (*ssh.Signature, error) {
	s.n.Add(1)
	return s.ExtendedAgent.SignWithFlags(key, data, flags)
}

// agent serves one with one key at a socket.
func agentOf(w *keepertest.World) (key ssh.PublicKey, socket string, signed *atomic.Int32) {
	w.T.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(w.T, err)
	key, err = ssh.NewPublicKey(public)
	require.NoError(w.T, err)
	s := countingAgent{agent.NewKeyring().(agent.ExtendedAgent), new(atomic.Int32)}
	require.NoError(w.T, s.Add(agent.AddedKey{PrivateKey: private}))
	socket = filepath.Join(w.T.TempDir(), "agent")
	l, err := net.Listen("unix", socket)
	require.NoError(w.T, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				_ = agent.ServeAgent(s, c)
			})
		}
	})
	w.T.Cleanup(func() { l.Close(); wg.Wait() })
	return key, socket, s.n
}

// Whoever calls with another SSH agent logs in with that one's keys, as they would with ssh, however warm a connection there is.
func TestCallersWithOtherAgentsLogInForThemselves(t *testing.T) {
	l := startLending(t, "")
	first, firstSocket, firstSigned := agentOf(l.World)
	second, secondSocket, secondSigned := agentOf(l.World)
	l.point(sshserver.Config{ClientKeys: []ssh.PublicKey{first, second}})
	require.NoError(t, os.Remove(filepath.Join(l.Dir, "ada")))

	as := func(socket string) *client.Client {
		c := client.New(client.Config{Socket: l.Places.Socket, Inventory: l.Inventory, AuthSock: socket})
		t.Cleanup(c.Close)
		return c
	}
	work, home := as(firstSocket), as(secondSocket)
	for range 2 {
		assert.Equal(t, "ada", l.whoami(work, "prod1"))
		assert.Equal(t, "ada", l.whoami(home, "prod1"))
	}
	assert.EqualValues(t, 1, firstSigned.Load())
	assert.EqualValues(t, 1, secondSigned.Load())
	assert.Equal(t, 2, l.server.Accepted())
}
