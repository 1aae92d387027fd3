package sshconn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/hostkeys"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/stamp"
)

// maxAge is how long a configuration is believed without looking for files that a new one might include.
const maxAge = 10 * time.Second

// files keeps what was read from disk, for all hosts of a Dialer.
type files struct {
	cfg DefaultConfig

	keys    keyring.Files
	known   hostkeys.Files
	mu      sync.Mutex // guards the maps; held while a file is read, so that a fleet reads it once
	configs map[string]*keptConfig
}

type keptConfig struct {
	conf   *sshconfig.Config
	read   time.Time
	stamps map[string]stamp.Stamp
}

func (k *keptConfig) fresh() bool {
	if time.Since(k.read) > maxAge {
		return false
	}
	return unchanged(k.stamps)
}

// config returns the configuration that path stands for: "" for the usual files, "none", or a file. stamps are those of its files,
// and stay as they are.
func (f *files) config(path string) (conf *sshconfig.Config, stamps map[string]stamp.Stamp, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if k := f.configs[path]; k != nil && k.fresh() {
		return k.conf, k.stamps, nil
	}
	// Stamped before reading: a change in between is noticed the next time.
	k := &keptConfig{read: time.Now(), stamps: map[string]stamp.Stamp{}}
	switch path {
	case "":
		for _, p := range f.usual() {
			k.stamps[p] = stamp.Of(p)
		}
		k.conf, err = f.cfg.Loader.Load()
	case sshconfig.None:
		k.conf, err = f.cfg.Loader.Open(sshconfig.None)
	default:
		loader := f.cfg.Loader
		loader.NoExec = loader.NoExec || f.cfg.NoPrograms
		k.conf, err = loader.Open(f.expand(path))
	}
	if err != nil {
		return nil, nil, err
	}
	for _, p := range k.conf.Files() {
		if _, ok := k.stamps[p]; !ok {
			k.stamps[p] = stamp.Of(p)
		}
	}
	if f.configs == nil {
		f.configs = map[string]*keptConfig{}
	}
	f.configs[path] = k
	return k.conf, k.stamps, nil
}

// usual returns the files that a configuration is read from when none is named, there or not.
func (f *files) usual() []string {
	system := f.cfg.Loader.SystemDir
	if system == "" {
		system = "/etc/ssh"
	}
	return []string{f.expand("~/.ssh/config"), filepath.Join(system, "ssh_config")}
}

// expand replaces a leading "~/".
func (f *files) expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home := f.cfg.Loader.Home
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return path
		}
	}
	return filepath.Join(home, rest)
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
	k := keyring.Read(path)
	out := KeyFile{Public: k.Public, Encrypted: k.Encrypted, Missing: k.Missing, Problem: k.Problem}
	if k.Cert != nil {
		out.Unfit = keyring.Unfit(k.Cert, time.Now())
	}
	return out
}

// passphrase returns what asks for one; nil where no person may be asked.
func (f *files) passphrase(host, user string, silent bool) func(ctx context.Context, keyfile string) ([]byte, error) {
	switch {
	case silent:
		return nil
	case f.cfg.Passphrase != nil:
		return f.cfg.Passphrase
	case f.cfg.Ask == nil:
		return nil
	}
	try := 0
	return func(ctx context.Context, keyfile string) ([]byte, error) {
		try++
		a, err := f.cfg.Ask(ctx, Question{Kind: AskPassphrase, Host: host, User: user, KeyFile: keyfile, Try: try})
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
