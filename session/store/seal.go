package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	keyBytes  = 32
	keyIDSize = 8
	sealedV1  = 1 // first byte of a sealed value; then the key's id, the nonce, the sealed bytes
)

// sealer seals values with one key.
type sealer struct {
	aead cipher.AEAD
	id   [keyIDSize]byte
}

// newSealer returns the sealer of a key.
func newSealer(key []byte) (*sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("store: sealing key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("store: sealing key: %w", err)
	}
	s := &sealer{aead: aead}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("fairlead store key id"))
	copy(s.id[:], mac.Sum(nil))
	return s, nil
}

// openSealer reads the key from a file, which is made where it is missing.
func openSealer(path string) (*sealer, error) {
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, fmt.Errorf("store: make the sealing key %s: %w", path, err)
		}
		key, err = readKey(path)
	}
	if err != nil {
		return nil, err
	}
	return newSealer(key)
}

// readKey reads a key that nobody else can read.
func readKey(path string) ([]byte, error) {
	if err := private(path, false); err != nil {
		return nil, err
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("store: sealing key: %w", err)
	}
	if len(key) != keyBytes {
		return nil, fmt.Errorf("store: %s is not a valid sealing key: it has %d bytes, not %d; move it away, and Fairlead makes a new one (pending approvals are lost then)",
			path, len(key), keyBytes)
	}
	return key, nil
}

// makeKey makes a key file, whole or not at all. Of several that do so at once one wins.
func makeKey(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keyBytes)
	rand.Read(key)
	_, err = f.Write(key)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // what is sealed must not outlive the key's name
		dir.Close()
	}
	return nil
}

// close seals plain for the row that label names.
func (s *sealer) close(label string, plain []byte) []byte {
	out := append([]byte{sealedV1}, s.id[:]...)
	return s.aead.Seal(out, nil, plain, []byte(label))
}

// open is the inverse of close.
func (s *sealer) open(label string, sealed []byte) ([]byte, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: this keeper was given none", ErrSealKey)
	}
	if len(sealed) < 1+keyIDSize || sealed[0] != sealedV1 {
		return nil, fmt.Errorf("%w: a sealed value in it is invalid", ErrDamaged)
	}
	if [keyIDSize]byte(sealed[1:1+keyIDSize]) != s.id {
		return nil, fmt.Errorf("%w: key %x sealed it, this keeper has %x: give all keepers the same key file", ErrSealKey, sealed[1:1+keyIDSize], s.id)
	}
	plain, err := s.aead.Open([]byte{}, nil, sealed[1+keyIDSize:], []byte(label))
	if err != nil {
		return nil, fmt.Errorf("%w: a sealed value in it was changed", ErrDamaged)
	}
	return plain, nil
}
