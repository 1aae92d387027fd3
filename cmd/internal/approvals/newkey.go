package approvals

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// enrollNew makes a key with a passphrase beside the file of approvers, and enrolls it.
func (o *EnrollOptions) enrollNew(ctx context.Context, file string) error {
	key := filepath.Join(filepath.Dir(file), "approver-"+o.Name)
	for _, name := range []string{key, key + ".pub"} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return cmdutil.Usagef("%s is there already: enroll it with --key %s, or give another --name", line(name), line(key+".pub"))
		}
	}
	phrase, err := o.newPhrase(ctx)
	if err != nil {
		return err
	}
	defer clear(phrase)
	public, err := makeKey(key, o.Name, phrase)
	if err != nil {
		return fmt.Errorf("cannot make a key: %w", err)
	}
	err = o.enroll(file, approval.Approver{Name: o.Name, Key: public, Proof: approval.Passphrase, File: key})
	if err != nil {
		os.Remove(key)
		os.Remove(key + ".pub")
	}
	return err
}

// newPhrase asks for a passphrase twice.
func (o *EnrollOptions) newPhrase(ctx context.Context) ([]byte, error) {
	for range 3 {
		first, err := o.secret(ctx, fmt.Sprintf("A passphrase for the key of %s: ", o.Name))
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(first)) == 0 {
			return nil, o.refuse("a key without a passphrase proves nothing: no key was enrolled")
		}
		second, err := o.secret(ctx, "The same again: ")
		if err != nil {
			clear(first)
			return nil, err
		}
		same := bytes.Equal(first, second)
		clear(second)
		if same {
			return first, nil
		}
		clear(first)
		fmt.Fprintln(o.IO.Err, "fairlead: these two are not the same")
	}
	return nil, o.refuse("no key was enrolled")
}

// makeKey writes a new key and its public half, for this account alone.
func makeKey(file, name string, phrase []byte) (ssh.PublicKey, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	defer clear(private)
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		return nil, err
	}
	comment := name + ", for fairlead approvals"
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, comment, phrase)
	if err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(ssh.MarshalAuthorizedKey(public), []byte("\n"))
	if err := writeNew(file, pem.EncodeToMemory(block)); err != nil {
		return nil, err
	}
	if err := writeNew(file+".pub", append(text, " "+comment+"\n"...)); err != nil {
		os.Remove(file)
		return nil, err
	}
	return public, nil
}

// writeNew writes a file that was not there.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(name)
	}
	return err
}
