package knownhosts_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// dial does a whole handshake with a server that has the given keys, over a unix socket, whose addresses are no
// host:port.
func dial(t *testing.T, db *knownhosts.DB, q knownhosts.Query, hostKeys ...ssh.Signer) error {
	t.Helper()
	dir, err := os.MkdirTemp("", "kh") // short: socket paths are limited
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		server, err := l.Accept()
		if err != nil {
			return
		}
		defer server.Close()
		cfg := &ssh.ServerConfig{NoClientAuth: true}
		for _, k := range hostKeys {
			cfg.AddHostKey(k)
		}
		conn, chans, reqs, err := ssh.NewServerConn(server, cfg)
		if err != nil {
			return
		}
		defer conn.Close()
		go ssh.DiscardRequests(reqs)
		for c := range chans {
			_ = c.Reject(ssh.Prohibited, "")
		}
	}()
	client, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, client.SetDeadline(time.Now().Add(30*time.Second)))
	conn, _, _, err := ssh.NewClientConn(client, "socket", &ssh.ClientConfig{
		User: "x", HostKeyAlgorithms: db.Algorithms(q), HostKeyCallback: db.Callback(q)})
	if err == nil {
		conn.Close()
	}
	client.Close()
	l.Close()
	<-done
	return err
}

// Negotiation decides which key a host shows, so these need a server with several: ed25519, ECDSA with a certificate of
// an ed25519 authority, and RSA.
func TestHandshakesWithAServerThatHasSeveralKeys(t *testing.T) {
	k := testKeys()
	ecCert, err := ssh.NewCertSigner(certificate(t, k.ec, k.ca, nil, "localhost"), k.ec)
	require.NoError(t, err)
	every := []ssh.Signer{k.ed, k.ec, ecCert, k.rsa}
	host, high := knownhosts.Query{Host: "localhost"}, knownhosts.Query{Host: "localhost", Port: 42222}
	for _, c := range []struct {
		name   string
		lines  []string
		q      knownhosts.Query
		server []ssh.Signer
		want   string
		shows  string // plain type of the key an unknown host shows
	}{
		{"only the ed25519 key is known", []string{"localhost " + line(k.ed.PublicKey())}, host, every, good, ""},
		{"only the RSA key is known", []string{"localhost " + line(k.rsa.PublicKey())}, host, every, good, ""},
		{"only the ECDSA key is known, and it is also certified", []string{"localhost " + line(k.ec.PublicKey())}, host, every, good, ""},
		{"nothing is known", nil, host, every, unknown, ssh.KeyAlgoECDSA256},
		{"an ed25519 authority for an ECDSA host", []string{"@cert-authority localhost " + line(k.ca.PublicKey())}, host, every, good, ""},
		{"an authority for everything, on another port", []string{"@cert-authority * " + line(k.ca.PublicKey())}, high, every, good, ""},
		{"a key for the bare name, on another port", []string{"localhost " + line(k.ed.PublicKey())}, high, every, good, ""},
		{"a wrong key", []string{"localhost " + line(k.ed2.PublicKey())}, host, every, changed, ""},
		{"the known type vanished", []string{"localhost " + line(k.ed2.PublicKey())}, host, []ssh.Signer{k.rsa}, changed, ""},
		{"junk and upper case", []string{"junk", "x ssh-future AAAA", "LocalHost " + line(k.ed.PublicKey())}, host, every, good, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := dial(t, open(t, c.lines...), c.q, c.server...)
			assert.Equal(t, c.want, verdict(err), "%v", err)
			var u *knownhosts.UnknownError
			if c.shows != "" && assert.ErrorAs(t, err, &u) {
				assert.Equal(t, c.shows, u.Type)
			}
		})
	}
}
