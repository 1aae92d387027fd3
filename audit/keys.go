package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"path/filepath"
	"runtime"
)

const (
	keyName = "key"
	keyLen  = 2*sha256.Size + 1
)

// keys holds the derived HMACs, ready to be reset, and scratch space so that signing allocates nothing. Not safe for
// concurrent use.
type keys struct {
	record, head, exact, anchor hash.Hash
	chain                       string // the name of the chain
	sum                         [sha256.Size]byte
	out                         []byte
}

func newKeys(secret []byte) *keys {
	derive := func(label string) hash.Hash {
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(label))
		return hmac.New(sha256.New, m.Sum(nil))
	}
	return &keys{
		record: derive("fairlead audit record 1"),
		head:   derive("fairlead audit head 1"),
		exact:  derive("fairlead audit exact 1"),
		anchor: derive("fairlead audit anchor 1"),
		chain:  chainID(secret),
	}
}

// appendMAC appends the HMAC of msg to b, in hexadecimal.
func (k *keys) appendMAC(b []byte, m hash.Hash, msg []byte) []byte {
	m.Reset()
	m.Write(msg)
	k.out = m.Sum(k.out[:0])
	return hex.AppendEncode(b, k.out)
}

// parseKey is strict, so that no two files mean the same key.
func parseKey(text []byte) ([]byte, error) {
	if len(text) == keyLen {
		secret, err := hex.DecodeString(string(text[:keyLen-1]))
		if err == nil && bytes.Equal(formatKey(secret), text) {
			return secret, nil
		}
	}
	return nil, errors.New("not 64 lower-case hexadecimal digits and a newline")
}

func formatKey(secret []byte) []byte { return append(hex.AppendEncode(nil, secret), '\n') }

// loadKey reads dir's key. A missing one is fs.ErrNotExist.
func loadKey(dir string) (*keys, error) {
	path := filepath.Join(dir, keyName)
	fi, err := os.Stat(path)
	if err != nil {
		return nil, unavailable("read", path, err, "")
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return nil, unavailable("use", path, errors.New("other accounts may read it"), doAccess)
	}
	text, err := readRegular(path)
	if err != nil {
		return nil, unavailable("read", path, err, doAccess)
	}
	secret, err := parseKey(text)
	if err != nil {
		return nil, damaged(path, err.Error())
	}
	return newKeys(secret), nil
}

// createKey makes a new key, over whatever an interrupted creation left.
func createKey(dir string) error {
	secret := make([]byte, sha256.Size)
	rand.Read(secret) // never fails: it ends the process rather than give weak bytes
	path := filepath.Join(dir, keyName)
	f, err := openRegular(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return unavailable("create", path, err, doAccess)
	}
	_, err = f.Write(formatKey(secret))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return unavailable("write", path, err, doSpace)
	}
	return nil
}

// CommandHMAC returns what command_hmac is for a command of exactly these bytes in the chain of dir, to answer "was it
// this?" about a record whose text is redacted.
func CommandHMAC(dir string, exact []byte) (string, error) {
	k, err := loadKey(dir)
	if err != nil {
		return "", err
	}
	return string(k.appendMAC(nil, k.exact, exact)), nil
}
