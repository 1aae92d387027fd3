// Package sshhosts makes hosts of the names in OpenSSH's client configuration, for operators who have no inventory, or who
// name a host that theirs does not list.
package sshhosts

import (
	"os"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// Book knows the hosts of configurations, and reads one again once it has changed. The zero Book is that of the account of
// this process. It may be used concurrently.
type Book struct {
	Loader sshconfig.Loader

	mu   sync.Mutex // held while reading
	kept map[string]*kept
}

// kept is a configuration as it was read.
type kept struct {
	inv    *hosts.Inventory
	read   time.Time
	stamps map[string]stamp
}

// maxAge is how long one is believed without a look for files that a new one might include.
const maxAge = 10 * time.Second

// maxKept bounds how many are kept.
const maxKept = 16

// Inventory returns the hosts that a configuration names: "" is the usual files, "none" no host, anything else a file. A host
// has its name, where it comes from and, of a file of its own, that file; the rest is for ssh_config to say. Names that
// cannot be the name of a host in Fairlead are left out. Errors are those of the configuration.
func (b *Book) Inventory(file string) (*hosts.Inventory, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.kept[file]; k != nil && k.fresh() {
		return k.inv, nil
	}
	k := &kept{read: time.Now(), stamps: map[string]stamp{}}
	var conf *sshconfig.Config
	var err error
	if file == "" {
		conf, err = b.Loader.Load()
	} else {
		conf, err = b.Loader.Open(file)
	}
	if err != nil {
		return nil, err
	}
	for _, path := range conf.Files() {
		k.stamps[path] = stampOf(path)
	}
	var all []hosts.Host
	for _, name := range conf.Names() {
		if hosts.CheckName(name.V) == nil {
			all = append(all, hosts.Host{Name: name.V, SSHConfig: file, Source: name.From})
		}
	}
	if k.inv, err = hosts.NewInventory(all, nil); err != nil {
		return nil, err
	}
	if b.kept == nil || len(b.kept) >= maxKept {
		b.kept = map[string]*kept{}
	}
	b.kept[file] = k
	return k.inv, nil
}

func (k *kept) fresh() bool {
	if time.Since(k.read) > maxAge || len(k.stamps) == 0 {
		return false
	}
	for path, was := range k.stamps {
		if stampOf(path) != was {
			return false
		}
	}
	return true
}

// stamp tells versions of a file apart. The zero stamp is a file that is not there.
type stamp struct {
	changed time.Time
	size    int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}
