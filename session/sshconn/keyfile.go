package sshconn

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/crypto/ssh"
)

// maxAsked is how often a passphrase is asked for before a key is given up, as with OpenSSH.
const maxAsked = 3

// keyFile is one private key file, and the public files next to it.
type keyFile struct {
	path    string
	stamps  [3]stamp // of the file, of .pub and of -cert.pub
	public  ssh.PublicKey
	cert    *ssh.Certificate // nil means none
	problem string           // why the private key cannot be used; "" means it can, or that a passphrase is needed
	missing bool             // there is nothing at all

	turn   chan struct{} // holds one token: whoever has it may ask, and touch what follows
	locked []byte        // the encrypted key
	signer ssh.Signer
}

// key returns the key file at path as it is now.
func (f *files) key(path string) *keyFile {
	stamps := [3]stamp{stampOf(path), stampOf(path + ".pub"), stampOf(path + "-cert.pub")}
	f.mu.Lock()
	defer f.mu.Unlock()
	if k := f.keys[path]; k != nil && k.stamps == stamps {
		return k
	}
	k := readKeyFile(path)
	k.stamps = stamps
	if f.keys == nil {
		f.keys = map[string]*keyFile{}
	}
	f.keys[path] = k
	return k
}

// KeyFile is what a Dialer would make of one private key file.
type KeyFile struct {
	Public    ssh.PublicKey // nil where nothing says it
	Encrypted bool          // a passphrase will be asked for
	Missing   bool          // there is no such file, nor a public one or a certificate beside it
	Problem   string        // why the private key cannot be used; "" means that it can
	Unfit     string        // why the certificate beside it is not offered; "" means that it is, or that there is none
}

// LookAtKey reads a private key file as a Dialer does. It asks nobody, and keeps nothing of the key.
func LookAtKey(path string) KeyFile {
	k := readKeyFile(path)
	out := KeyFile{Public: k.public, Encrypted: k.locked != nil, Missing: k.missing, Problem: k.problem}
	if k.cert != nil {
		out.Unfit = unfit(k.cert, time.Now())
	}
	return out
}

func readKeyFile(path string) *keyFile {
	k := &keyFile{path: path, turn: make(chan struct{}, 1)}
	if cert, ok := readPublic(path + "-cert.pub").(*ssh.Certificate); ok {
		k.cert = cert
	}
	text, err := os.ReadFile(path)
	if err != nil {
		k.public = readPublic(path + ".pub")
		k.missing = errors.Is(err, os.ErrNotExist) && k.public == nil && k.cert == nil
		k.problem = "it cannot be read"
		if errors.Is(err, os.ErrNotExist) {
			k.problem = "there is no such file"
		}
		return k
	}
	k.signer, err = ssh.ParsePrivateKey(text)
	if err == nil {
		k.public = k.signer.PublicKey()
	} else if e, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		k.locked = text
		if k.public = e.PublicKey; k.public == nil {
			k.public = readPublic(path + ".pub")
		}
		if k.public == nil {
			k.problem = "it is encrypted in a format that hides its public key, and there is no .pub file next to it"
		}
	} else if k.public = readPublic(path); k.public != nil {
		k.problem = "it holds only a public key, which the agent does not have"
		return k
	} else {
		k.public = readPublic(path + ".pub")
		k.problem = "it holds no private key in a format that is known"
		return k
	}
	if k.problem == "" {
		k.problem = tooOpen(path)
	}
	return k
}

// readPublic returns the public key, or certificate, in a file; nil if there is none.
func readPublic(path string) ssh.PublicKey {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil
	}
	return key
}

// passphrase returns what asks for one; nil where no person may be asked.
func (f *files) passphrase(w wanted) func(ctx context.Context, keyfile string) ([]byte, error) {
	switch {
	case w.silent:
		return nil
	case f.cfg.Passphrase != nil:
		return f.cfg.Passphrase
	case f.cfg.Ask == nil:
		return nil
	}
	try := 0
	return func(ctx context.Context, keyfile string) ([]byte, error) {
		try++
		a, err := f.cfg.Ask(ctx, Question{Kind: AskPassphrase, Host: w.host, User: w.user, KeyFile: keyfile, Try: try})
		if err == nil && len(a.Secrets) != 1 {
			a.wipe()
			err = fmt.Errorf("%d answers for one passphrase", len(a.Secrets))
		}
		if err != nil {
			return nil, err
		}
		return a.Secrets[0], nil
	}
}

// open returns the signer, and asks for the passphrase if that must be. The clock stands still meanwhile.
func (k *keyFile) open(clk *clock, ask func(context.Context, string) ([]byte, error), forget bool) (ssh.Signer, error) {
	clk.pause() // also while somebody else is asked for the same key
	defer clk.resume()
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
		signer, err := ssh.ParsePrivateKeyWithPassphrase(k.locked, secret)
		clear(secret)
		switch {
		case err == nil:
			if !forget {
				k.signer, k.locked = signer, nil
			}
			return signer, nil
		case !errors.Is(err, x509.IncorrectPasswordError):
			return nil, errors.New("the key cannot be decrypted: its format is not known")
		}
	}
	return nil, errors.New("the passphrase is wrong")
}
