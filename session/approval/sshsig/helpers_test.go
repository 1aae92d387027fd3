package sshsig_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math/big"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

const namespace = "approve@fairlead"

// signer returns a new key of a kind.
func signer(t testing.TB, kind string) ssh.Signer {
	var key crypto.Signer
	var err error
	switch kind {
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ecdsa-p256":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ecdsa-p384":
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "sk-ed25519":
		return newToken(t, ssh.KeyAlgoSKED25519)
	case "sk-ecdsa":
		return newToken(t, ssh.KeyAlgoSKECDSA256)
	default:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	require.NoError(t, err)
	s, err := ssh.NewSignerFromSigner(key)
	require.NoError(t, err)
	return s
}

var kinds = []string{"ed25519", "rsa", "ecdsa-p256", "ecdsa-p384", "sk-ed25519", "sk-ecdsa"}

// token is a security key in software (PROTOCOL.u2f): it says whatever flags a test wants.
type token struct {
	key     crypto.Signer
	public  ssh.PublicKey
	flags   byte
	counter uint32
}

const application = "ssh:"

func newToken(t testing.TB, kind string) *token {
	tok := &token{flags: 1, counter: 41}
	var wire []byte
	if kind == ssh.KeyAlgoSKED25519 {
		public, key, err := ed25519.GenerateKey(rand.Reader)
		require.NoError(t, err)
		tok.key = key
		wire = ssh.Marshal(struct {
			Type   string
			Public []byte
			App    string
		}{kind, public, application})
	} else {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		tok.key = key
		point, err := key.PublicKey.Bytes()
		require.NoError(t, err)
		wire = ssh.Marshal(struct {
			Type, Curve string
			Public      []byte
			App         string
		}{kind, "nistp256", point, application})
	}
	var err error
	tok.public, err = ssh.ParsePublicKey(wire)
	require.NoError(t, err)
	return tok
}

func (k *token) PublicKey() ssh.PublicKey { return k.public }

func (k *token) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	k.counter++
	app, sum := sha256.Sum256([]byte(application)), sha256.Sum256(data)
	rest := binary.BigEndian.AppendUint32([]byte{k.flags}, k.counter)
	said := append(append(app[:], rest...), sum[:]...)
	sig := &ssh.Signature{Format: k.public.Type(), Rest: rest}
	switch key := k.key.(type) {
	case ed25519.PrivateKey:
		sig.Blob = ed25519.Sign(key, said)
	case *ecdsa.PrivateKey:
		h := sha256.Sum256(said)
		r, s, err := ecdsa.Sign(rand.Reader, key, h[:])
		if err != nil {
			return nil, err
		}
		sig.Blob = ssh.Marshal(struct{ R, S *big.Int }{r, s})
	}
	return sig, nil
}

// keygen returns the path of the real program.
func keygen(t *testing.T) string {
	path, err := exec.LookPath("ssh-keygen")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ssh-keygen is needed: ", err)
		}
		t.Skip("no ssh-keygen")
	}
	return path
}
