package sshconn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

type hostKey = ssh.PublicKey

// maxAge is how long a configuration is believed without looking for files that a new one might include.
const maxAge = 10 * time.Second

// files keeps what was read from disk, for all hosts of a Dialer.
type files struct {
	cfg DefaultConfig

	mu      sync.Mutex // guards the maps; held while a file is read, so that a fleet reads it once
	configs map[string]*keptConfig
	known   map[string]*knownhosts.DB
	keys    map[string]*keyFile
}

// stamp tells versions of a file apart. The zero stamp is a file that is not there.
type stamp struct {
	changed time.Time
	size    int64
	mode    os.FileMode
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}

type keptConfig struct {
	conf   *sshconfig.Config
	read   time.Time
	stamps map[string]stamp
}

func (k *keptConfig) fresh() bool {
	if time.Since(k.read) > maxAge {
		return false
	}
	for path, was := range k.stamps {
		if stampOf(path) != was {
			return false
		}
	}
	return true
}

// config returns the configuration that path stands for: "" for the usual files, "none", or a file.
func (f *files) config(path string) (*sshconfig.Config, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if k := f.configs[path]; k != nil && k.fresh() {
		return k.conf, nil
	}
	// Stamped before reading: a change in between is noticed the next time.
	k := &keptConfig{read: time.Now(), stamps: map[string]stamp{}}
	var err error
	switch path {
	case "":
		for _, p := range f.usual() {
			k.stamps[p] = stampOf(p)
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
		return nil, err
	}
	for _, p := range k.conf.Files() {
		if _, ok := k.stamps[p]; !ok {
			k.stamps[p] = stampOf(p)
		}
	}
	if f.configs == nil {
		f.configs = map[string]*keptConfig{}
	}
	f.configs[path] = k
	return k.conf, nil
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

// knownHosts returns what the files say now.
func (f *files) knownHosts(paths []string) (*knownhosts.DB, error) {
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
