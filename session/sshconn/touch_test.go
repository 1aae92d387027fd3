package sshconn_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// securityKey is an agent with a security key in software, which signs once it is touched.
type securityKey struct {
	agent.Agent
	private ed25519.PrivateKey
	touched chan struct{}
}

const (
	skType = "sk-ssh-ed25519@openssh.com"
	skApp  = "ssh:"
)

func (k *securityKey) blob() []byte {
	return ssh.Marshal(struct {
		Type   string
		Public []byte
		App    string
	}{skType, k.private.Public().(ed25519.PublicKey), skApp})
}

func (k *securityKey) List() ([]*agent.Key, error) {
	return []*agent.Key{{Format: skType, Blob: k.blob(), Comment: "in software"}}, nil
}

func (k *securityKey) SignWithFlags(_ ssh.PublicKey, data []byte, _ agent.SignatureFlags) (*ssh.Signature, error) {
	<-k.touched
	app, message := sha256.Sum256([]byte(skApp)), sha256.Sum256(data)
	state := []byte{1, 0, 0, 0, 7} // touched, and how often it has signed
	signed := append(append(append([]byte(nil), app[:]...), state...), message[:]...)
	return &ssh.Signature{Format: skType, Blob: ed25519.Sign(k.private, signed), Rest: state}, nil
}

func (k *securityKey) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	return k.SignWithFlags(key, data, 0)
}

func (k *securityKey) Extension(string, []byte) ([]byte, error) {
	return nil, agent.ErrExtensionUnsupported
}

// A person hears which key to touch and for which host, one at a time; OpenSSH's server takes the signature.
func TestAPersonIsToldToTouchASecurityKey(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key := &securityKey{Agent: agent.NewKeyring(), private: private, touched: make(chan struct{})}
	public, err := ssh.ParsePublicKey(key.blob())
	require.NoError(t, err)
	sshd := sessiontest.OpenSSHD(t)
	a := newAccount(t)
	a.write("sk.pub", string(ssh.MarshalAuthorizedKey(public)))
	authorize(t, sshd, a.path("sk.pub"))
	known, err := knownHostsOf(sshd)
	require.NoError(t, err)
	a.write("known_hosts", known)
	socket := filepath.Join(t.TempDir(), "agent")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(key, conn) }()
		}
	}()
	a.write("config", "Host *\nIdentityAgent "+socket+"\n")
	var mu sync.Mutex
	var told []string
	waiting := 0
	cfg := a.defaults()
	cfg.Ask = func(ctx context.Context, q sshconn.Question) (sshconn.Answer, error) {
		if q.Kind != sshconn.AskTouch {
			return sshconn.Answer{}, errors.New("only a touch was expected")
		}
		mu.Lock()
		told = append(told, q.Host)
		waiting++
		assert.Equal(t, 1, waiting, "one at a time")
		mu.Unlock()
		assert.Equal(t, ssh.FingerprintSHA256(public), q.KeyFile)
		key.touched <- struct{}{}
		<-ctx.Done()
		mu.Lock()
		waiting--
		mu.Unlock()
		return sshconn.Answer{}, nil
	}
	d, err := sshconn.Default(cfg)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for _, name := range []string{"web1", "web2", "web3"} {
		wg.Go(func() {
			h := sshd.Host(t, name)
			h.Identity = nil
			h.SSHConfig = ""
			c, err := d.Dial(t.Context(), h)
			if assert.NoError(t, err) {
				assert.NoError(t, c.Close())
			}
		})
	}
	wg.Wait()
	assert.ElementsMatch(t, []string{"web1", "web2", "web3"}, told)
}
