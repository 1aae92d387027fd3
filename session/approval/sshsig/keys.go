package sshsig

import (
	"crypto/rsa"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// MinRSABits is the size of the smallest RSA key that may sign.
const MinRSABits = 2048

// keyError says why a key may not sign. It is an ErrFormat.
type keyError string

func (e keyError) Error() string { return string(e) }

func (e keyError) Is(target error) bool { return target == ErrFormat }

// Usable refuses, with an ErrFormat, keys that ssh-keygen would not verify with either, and those that are too weak for a
// proof. Its text stands by itself, for people.
func Usable(key ssh.PublicKey) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
		ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return nil
	case ssh.KeyAlgoRSA:
		if bits := bitsOf(key); bits < MinRSABits {
			return keyError(fmt.Sprintf("the RSA key has %d bits and needs at least %d: make another with ssh-keygen -t ed25519", bits, MinRSABits))
		}
		return nil
	}
	return keyError(fmt.Sprintf("keys of type %.60q are not accepted; ed25519, ecdsa, rsa and security keys are", key.Type()))
}

// bitsOf is the size of an RSA key; 0 for others.
func bitsOf(key ssh.PublicKey) int {
	if c, ok := key.(ssh.CryptoPublicKey); ok {
		if k, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok {
			return k.N.BitLen()
		}
	}
	return 0
}

// formatFits refuses the signature of one algorithm as that of another, and SHA-1.
func formatFits(key ssh.PublicKey, format string) error {
	if t := key.Type(); format == t && t != ssh.KeyAlgoRSA || t == ssh.KeyAlgoRSA && (format == ssh.KeyAlgoRSASHA256 || format == ssh.KeyAlgoRSASHA512) {
		return nil
	}
	return fmt.Errorf("%w: a key of type %s does not sign with %.60q", ErrFormat, key.Type(), format)
}

// Hardware reports whether a key is one of a security key.
func Hardware(key ssh.PublicKey) bool {
	return key.Type() == ssh.KeyAlgoSKED25519 || key.Type() == ssh.KeyAlgoSKECDSA256
}

// presence reads what a security key says beside its signature: a byte of flags and a counter. Other keys say nothing.
func presence(key ssh.PublicKey, sig *ssh.Signature) (Presence, error) {
	switch {
	case !Hardware(key) && len(sig.Rest) > 0:
		return Presence{}, fmt.Errorf("%w: %d bytes follow it", ErrFormat, len(sig.Rest))
	case !Hardware(key):
		return Presence{}, nil
	case len(sig.Rest) != 5:
		return Presence{}, fmt.Errorf("%w: what the security key says beside it has %d bytes, not 5", ErrFormat, len(sig.Rest))
	}
	flags := sig.Rest[0]
	return Presence{
		Hardware: true, Touched: flags&flagPresent != 0, Verified: flags&flagVerified != 0, Counter: binary.BigEndian.Uint32(sig.Rest[1:]),
	}, nil
}
