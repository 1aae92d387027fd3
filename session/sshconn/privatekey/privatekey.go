// Package privatekey reads the private keys that ssh(1) reads: OpenSSH's own format, PEM (RFC 1421) and PKCS#8, each also
// encrypted, with every cipher that ssh-keygen -Z and openssl offer. Parse reads a key, and Key.Open decrypts one.
package privatekey

import (
	"encoding/pem"
	"errors"
	"strings"

	"golang.org/x/crypto/ssh"
)

// ErrPassphrase is returned by Open where the passphrase is wrong.
var ErrPassphrase = errors.New("the passphrase is wrong")

// ErrFormat is returned by Parse for what is no private key.
var ErrFormat = errors.New("it holds no private key in a format that is known")

// Key is a private key, which may be encrypted.
type Key struct {
	Signer ssh.Signer    // nil means that Open has to decrypt it
	Public ssh.PublicKey // nil means that the format hides it until the key is decrypted
	open   func(passphrase []byte) (ssh.Signer, error)
}

// Parse reads a private key. The error of a key that is encrypted in a way that is not supported names that, and is not ErrFormat.
func Parse(text []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, ErrFormat
	}
	switch block.Type {
	case openSSHType:
		locked, err := readOpenSSH(block.Bytes)
		if err != nil {
			return nil, err
		}
		if locked != nil {
			return &Key{Public: locked.public, open: locked.open}, nil
		}
	case pkcs8Type:
		locked, err := readPKCS8(block.Bytes)
		if err != nil {
			return nil, err
		}
		return &Key{open: locked.open}, nil
	}
	signer, err := ssh.ParsePrivateKey(text)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		return &Key{open: func(passphrase []byte) (ssh.Signer, error) { return openPEM(text, passphrase) }}, nil
	}
	if err != nil {
		return nil, ErrFormat
	}
	return &Key{Signer: signer, Public: signer.PublicKey()}, nil
}

// Encrypted reports whether a passphrase is needed.
func (k *Key) Encrypted() bool { return k.Signer == nil }

// Open returns the key, which it decrypts with passphrase if it is encrypted. The passphrase is not kept.
func (k *Key) Open(passphrase []byte) (ssh.Signer, error) {
	if k.Signer != nil {
		return k.Signer, nil
	}
	return k.open(passphrase)
}

// openPEM decrypts a key in PEM's own way, whose ciphers do not always notice a wrong passphrase: what they yield is then no key.
func openPEM(text, passphrase []byte) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKeyWithPassphrase(text, passphrase)
	if err != nil && strings.Contains(err.Error(), "cannot decode") {
		return nil, errors.New("it is encrypted in a way that is not known")
	}
	if err != nil {
		return nil, ErrPassphrase
	}
	return signer, nil
}
