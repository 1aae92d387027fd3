package keyring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/stamp"
	"github.com/fairlead-ssh/fairlead/session/sshconn/privatekey"
)

// maxAsked is how often a passphrase is asked for before a key is given up, as with OpenSSH.
const maxAsked = 3

// File is one private key file, and the public files next to it.
type File struct {
	path    string
	stamps  [3]stamp.Stamp // of the file, of .pub and of -cert.pub
	Public  ssh.PublicKey
	Cert    *ssh.Certificate // nil means none
	Problem string           // why the private key cannot be used; "" means it can, or that a passphrase is needed
	Missing bool             // there is nothing at all

	turn      chan struct{} // holds one token: whoever has it may ask, and touch what follows
	key       *privatekey.Key
	Encrypted bool // Public is nil where the format hides it until the key is opened
	signer    ssh.Signer
}

// Files keeps what was read of key files. The zero value is ready.
type Files struct {
	mu   sync.Mutex // guards keys; held while a file is read, so that a fleet reads it once
	keys map[string]*File
}

// key returns the key file at path as it is now.
func (f *Files) key(path string) *File {
	stamps := [3]stamp.Stamp{stamp.Of(path), stamp.Of(path + ".pub"), stamp.Of(path + "-cert.pub")}
	f.mu.Lock()
	defer f.mu.Unlock()
	if k := f.keys[path]; k != nil && k.stamps == stamps {
		return k
	}
	k := Read(path)
	k.stamps = stamps
	if f.keys == nil {
		f.keys = map[string]*File{}
	}
	f.keys[path] = k
	return k
}

func Read(path string) *File {
	k := &File{path: path, turn: make(chan struct{}, 1)}
	if cert, ok := readPublic(path + "-cert.pub").(*ssh.Certificate); ok {
		k.Cert = cert
	}
	text, err := trustedfile.Read(path)
	if err != nil {
		k.Public = readPublic(path + ".pub")
		k.Missing = errors.Is(err, os.ErrNotExist) && k.Public == nil && k.Cert == nil
		k.Problem = "it cannot be read"
		if errors.Is(err, os.ErrNotExist) {
			k.Problem = "there is no such file"
		}
		if errors.Is(err, trustedfile.ErrSpecial) {
			k.Problem = "it is " + trustedfile.ErrSpecial.Error()
		}
		return k
	}
	k.key, err = privatekey.Parse(text)
	switch {
	case err == nil:
		k.signer, k.Public, k.Encrypted = k.key.Signer, k.key.Public, k.key.Encrypted()
		if k.Public == nil {
			k.Public = readPublic(path + ".pub")
		}
	case errors.Is(err, privatekey.ErrFormat) && readPublic(path) != nil:
		k.Public, k.Problem = readPublic(path), "it holds only a public key, which the agent does not have"
		return k
	default:
		k.Public, k.Problem = readPublic(path+".pub"), err.Error()
		return k
	}
	if k.Problem == "" {
		k.Problem = tooOpen(path)
	}
	return k
}

// hidden says why an encrypted key is not offered where no person can be asked: nothing tells which it is.
const hidden = "it is encrypted in a format that hides its public key, and there is no .pub file next to it; make one with ssh-keygen -y"

// readPublic returns the public key, or certificate, in a file; nil if there is none.
func readPublic(path string) ssh.PublicKey {
	text, err := trustedfile.Read(path)
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil
	}
	return key
}

// open returns the signer, and asks for the passphrase if that must be. The clock stands still meanwhile.
func (k *File) open(clk *clock.Clock, ask func(context.Context, string) ([]byte, error), forget bool) (ssh.Signer, error) {
	clk.Pause() // also while somebody else is asked for the same key
	defer clk.Resume()
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-clk.Done():
		return nil, context.Cause(clk)
	}
	if k.signer != nil {
		return k.signer, nil
	}
	if ask == nil {
		return nil, errors.New("the key is encrypted; add it to the agent with ssh-add")
	}
	for range maxAsked {
		if clk.Err() != nil {
			return nil, context.Cause(clk)
		}
		secret, err := ask(clk, k.path)
		if err != nil {
			return nil, fmt.Errorf("no passphrase for the key: %w", err)
		}
		signer, err := k.key.Open(secret)
		clear(secret)
		switch {
		case err == nil:
			if !forget {
				k.signer = signer
			}
			return signer, nil
		case !errors.Is(err, privatekey.ErrPassphrase):
			return nil, fmt.Errorf("the key cannot be decrypted: %w", err)
		}
	}
	return nil, privatekey.ErrPassphrase
}
