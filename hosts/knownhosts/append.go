package knownhosts

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

// AppendOptions holds how Append writes. The zero value writes names in the clear.
type AppendOptions struct {
	Hash bool // hide the host name behind a salted hash, as HashKnownHosts does
}

// Append records a key for a host at the end of file, which is created with mode 0600 (its directory with 0700) where
// it does not exist. name is what [Name] returns, or an alias; of a certificate the plain key is recorded. A key that is
// recorded for the name already is not written again. Append takes an exclusive lock on the file, so that any number of
// processes may append at once, and one write puts the whole line there.
//
// It does not ask whether another key is known for the name: decide that with [DB.Check] first.
func Append(file, name string, key ssh.PublicKey, o AppendOptions) error {
	name = lower(name)
	if err := checkName(name); err != nil {
		return err
	}
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("knownhosts: %s cannot be written: %w", file, reason(err))
	}
	f, err := openLocked(file)
	if err != nil {
		return fmt.Errorf("knownhosts: %s cannot be written: %w", file, reason(err))
	}
	defer f.Close() // drops the lock
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return fmt.Errorf("knownhosts: %s cannot be read: %w", file, reason(err))
	}
	if len(data) > maxFileSize {
		return fmt.Errorf("knownhosts: %s is larger than %d MiB", file, maxFileSize>>20)
	}
	db := &DB{}
	db.parse(file, data)
	db.index()
	if find(db.lookup(name), plain, string(key.Marshal())) != nil {
		return nil
	}
	if o.Hash {
		name = hashName(name)
	}
	line := name + " " + key.Type() + " " + base64.StdEncoding.EncodeToString(key.Marshal()) + "\n"
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		line = "\n" + line
	}
	if _, err := f.WriteString(line); err != nil {
		return fmt.Errorf("knownhosts: %s cannot be written: %w", file, reason(err))
	}
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil // /dev/null, which keeps nothing
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("knownhosts: %s cannot be written: %w", file, reason(err))
	}
	return nil
}

const maxReopen = 100

// openLocked opens file for appending and locks it. Editors and ssh-keygen replace the file, so a lock may be had on one
// that is no longer there; it is then opened again.
func openLocked(file string) (*os.File, error) {
	for range maxReopen {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err = lock(f); err == nil && leadsTo(file, f) {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("it is replaced again and again by another program")
}

// leadsTo reports whether a name is that of f. What cannot be looked at is not.
func leadsTo(name string, f *os.File) bool {
	ours, _ := f.Stat()
	there, _ := os.Stat(name)
	return os.SameFile(ours, there)
}
