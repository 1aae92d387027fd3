package sshsig

import (
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/ssh"
)

// The hashes of messages (PROTOCOL.sshsig knows no others).
const (
	SHA256 = "sha256"
	SHA512 = "sha512"
)

// magic and version open every signature, and magic what is signed.
const (
	magic   = "SSHSIG"
	version = 1
)

// Errors that a caller may branch on. Others say more, and wrap them.
var (
	ErrFormat    = errors.New("sshsig: this is not a signature as ssh-keygen -Y sign writes it")
	ErrSignature = errors.New("sshsig: the signature does not verify")
	ErrPresence  = errors.New("sshsig: the security key was not touched")
)

// Signature is one, with the key that made it, which is Usable. It is made by [Sign] and [Parse] only, and does not change.
type Signature struct {
	namespace string
	hash      string
	key       ssh.PublicKey
	sig       *ssh.Signature
}

// Key is the public key that made it.
func (s *Signature) Key() ssh.PublicKey { return s.key }

// Presence is what a security key says beside its signature. The zero Presence is that of other keys.
type Presence struct {
	Hardware bool   // a security key made it
	Touched  bool   // somebody touched it
	Verified bool   // and gave a PIN or a fingerprint
	Counter  uint32 // of the key's signatures; some always say 0
}

// The bits of a security key's flags (PROTOCOL.u2f; WebAuthn, authenticator data).
const (
	flagPresent  = 0x01
	flagVerified = 0x04
)

// Sign signs a message, hashed with SHA-512, for a namespace. Keys of RSA sign with SHA-512 too.
func Sign(rand io.Reader, signer ssh.Signer, namespace string, message []byte) (*Signature, error) {
	if namespace == "" {
		return nil, errors.New("sshsig: a signature needs a namespace")
	}
	s := &Signature{namespace: namespace, hash: SHA512, key: signer.PublicKey()}
	if err := Usable(s.key); err != nil {
		return nil, err
	}
	data := s.signed(message)
	var err error
	if a, ok := signer.(ssh.AlgorithmSigner); ok && s.key.Type() == ssh.KeyAlgoRSA {
		s.sig, err = a.SignWithAlgorithm(rand, data, ssh.KeyAlgoRSASHA512)
	} else {
		s.sig, err = signer.Sign(rand, data)
	}
	if err != nil {
		return nil, fmt.Errorf("sshsig: the key does not sign: %w", err)
	}
	// What a signer makes is not trusted: an agent may be anybody's program.
	if _, err := s.Verify(namespace, message); err != nil {
		return nil, fmt.Errorf("sshsig: the key's own signature is of no use: %w", err)
	}
	return s, nil
}

// Verify tells whether the signature is one of message, for namespace. It returns an ErrSignature where it is not, and an
// ErrPresence where a security key was not touched for it.
func (s *Signature) Verify(namespace string, message []byte) (Presence, error) {
	if s.namespace != namespace {
		return Presence{}, fmt.Errorf("%w: it is for %q, not for %q", ErrSignature, s.namespace, namespace)
	}
	if err := formatFits(s.key, s.sig.Format); err != nil {
		return Presence{}, err
	}
	p, err := presence(s.key, s.sig)
	if err != nil {
		return Presence{}, err
	}
	if p.Hardware && !p.Touched {
		return Presence{}, ErrPresence
	}
	if err := s.key.Verify(s.signed(message), s.sig); err != nil {
		return Presence{}, ErrSignature
	}
	return p, nil
}

// signed returns the bytes that the key signs. There is no third hash: Parse refuses others.
func (s *Signature) signed(message []byte) []byte {
	var sum []byte
	if s.hash == SHA256 {
		h := sha256.Sum256(message)
		sum = h[:]
	} else {
		h := sha512.Sum512(message)
		sum = h[:]
	}
	return append([]byte(magic), ssh.Marshal(struct{ Namespace, Reserved, Hash, Sum string }{s.namespace, "", s.hash, string(sum)})...)
}
