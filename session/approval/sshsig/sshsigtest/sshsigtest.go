// Package sshsigtest provides a security key in software, for tests of what security keys sign.
package sshsigtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math/big"
	"testing"

	"golang.org/x/crypto/ssh"
)

// application is what OpenSSH enrolls security keys for (PROTOCOL.u2f).
const application = "ssh:"

// SecurityKey is a signer like a security key (PROTOCOL.u2f): it says whatever a test wants. It is for one goroutine.
type SecurityKey struct {
	Flags   byte              // what it says: bit 0 is a touch, bit 2 a PIN; set to a touch at first
	Counter uint32            // of the last signature; the next one has one more
	Forge   func(rest []byte) // if not nil, changes what it says after that was signed
	key     crypto.Signer
	public  ssh.PublicKey
}

// New returns a new security key of a type: ssh.KeyAlgoSKED25519 or ssh.KeyAlgoSKECDSA256. It ends the test where that
// fails.
func New(t testing.TB, kind string) *SecurityKey {
	t.Helper()
	k, err := Make(kind)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Make is New without a test.
func Make(kind string) (*SecurityKey, error) {
	k := &SecurityKey{Flags: 1}
	var wire []byte
	if kind == ssh.KeyAlgoSKED25519 {
		public, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		k.key = key
		wire = ssh.Marshal(struct {
			Type   string
			Public []byte
			App    string
		}{kind, public, application})
	} else {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		point, err := key.PublicKey.Bytes()
		if err != nil {
			return nil, err
		}
		k.key = key
		wire = ssh.Marshal(struct {
			Type, Curve string
			Public      []byte
			App         string
		}{kind, "nistp256", point, application})
	}
	public, err := ssh.ParsePublicKey(wire)
	if err != nil {
		return nil, err
	}
	k.public = public
	return k, nil
}

// PublicKey returns the public key.
func (k *SecurityKey) PublicKey() ssh.PublicKey { return k.public }

// Sign signs as the hardware does: the hash of the application, flags, counter, and the hash of the data.
func (k *SecurityKey) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	k.Counter++
	app, sum := sha256.Sum256([]byte(application)), sha256.Sum256(data)
	rest := binary.BigEndian.AppendUint32([]byte{k.Flags}, k.Counter)
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
	if k.Forge != nil {
		k.Forge(sig.Rest)
	}
	return sig, nil
}
