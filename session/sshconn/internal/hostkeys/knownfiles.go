package hostkeys

import (
	"fmt"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// Files keeps what was read of known_hosts files. The zero value is ready.
type Files struct {
	mu    sync.Mutex // guards known; held while files are read, so that a fleet reads them once
	known map[string]*knownhosts.DB
}

// open returns what the files say now.
func (f *Files) open(paths []string) (*knownhosts.DB, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := strings.Join(paths, "\x00")
	var err error
	db := f.known[name]
	if db == nil {
		db, err = knownhosts.Open(paths...)
	} else {
		db, err = db.Reload()
	}
	if err != nil {
		return nil, fmt.Errorf("host keys cannot be checked: %w", err)
	}
	if f.known == nil {
		f.known = map[string]*knownhosts.DB{}
	}
	f.known[name] = db
	return db, nil
}

// Live asks known_hosts files as they are now.
type Live struct {
	Files *Files
	Paths []string
}

func (k *Live) Check(q knownhosts.Query, key ssh.PublicKey) error {
	db, err := k.Files.open(k.Paths)
	if err != nil {
		return err
	}
	return db.Check(q, key)
}

func (k *Live) Algorithms(q knownhosts.Query) []string {
	db, err := k.Files.open(k.Paths)
	if err != nil {
		return knownhosts.DefaultAlgorithms() // Check will say the error
	}
	return db.Algorithms(q)
}

// Version is what the files say.
func (k *Live) Version() any {
	db, err := k.Files.open(k.Paths)
	if err != nil {
		return nil // Check will say the error
	}
	return db
}
