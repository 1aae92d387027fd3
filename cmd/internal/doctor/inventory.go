package doctor

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

const (
	maxTold  = 10   // lines about one file
	maxHosts = 2000 // of which ssh_config is asked
)

// inventory loads it, and then looks at all that its hosts name: ssh_config, known_hosts and key files.
func (o *Options) inventory(context.Context) (all []Check) {
	var hs []hosts.Host
	path, err := o.InventoryPath()
	if err == nil {
		var inv *hosts.Inventory
		var warnings []inventory.Warning
		inv, warnings, err = inventory.Load(path, o.Reading())
		if err == nil {
			for h := range inv.As(o.Caller().Principal).All() {
				hs = append(hs, h)
			}
			all = append(all, ok("inventory", "%s: %s", path, cmdutil.Count(len(hs), "host")))
		}
		for i, w := range warnings {
			if i == maxTold {
				break
			}
			all = append(all, warn("inventory", "", "%s", w))
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && path != "":
		all = append(all, warn("inventory", "write one, or name one with -i or FAIRLEAD_INVENTORY", "no inventory at %s", path))
	case err != nil:
		all = append(all, each(err, func(err error) Check { return fail("inventory", "mend that", "%s", why(err)) })...)
	}
	return append(all, sshFiles(hs, o.Reading().Kept)...)
}

// used are the files that hosts name.
type used struct {
	dialer *sshconn.Dialer
	known  map[string]bool
	keys   map[string]bool // true: somebody named it, so it should be there
	told   map[string]bool // what was said about ssh_config already
	all    []Check
}

func (u *used) tell(c Check) {
	if line := c.Detail; !u.told[line] && len(u.told) < maxTold {
		u.told[line] = true
		u.all = append(u.all, c)
	}
}

// sshFiles looks at what hosts over SSH name. Where there is none it looks at what any host would. For noPrograms see
// hostscmd.LoadSSHConfig.
func sshFiles(hs []hosts.Host, noPrograms bool) []Check {
	hs = slices.DeleteFunc(slices.Clone(hs), func(h hosts.Host) bool { return h.Transport != "" && h.Transport != hosts.SSH })
	if len(hs) == 0 {
		hs = []hosts.Host{{Name: "host.invalid"}}
	}
	dialer, err := sshconn.Default(sshconn.DefaultConfig{AcceptNew: true, NoPrograms: noPrograms})
	if err != nil {
		return []Check{fail("ssh config", "mend that", "%s", why(err))}
	}
	u := &used{dialer: dialer, known: map[string]bool{}, keys: map[string]bool{}, told: map[string]bool{}}
	configs := map[string]*sshconfig.Config{}
	for i, h := range hs {
		if i == maxHosts {
			u.tell(warn("ssh config", "", "only %d hosts were looked at, of %d", maxHosts, len(hs)))
			break
		}
		cfg, tried := configs[h.SSHConfig]
		if !tried {
			var err error
			cfg, err = hostscmd.LoadSSHConfig(h.SSHConfig, noPrograms)
			configs[h.SSHConfig] = cfg
			switch {
			case err != nil:
				for _, c := range each(err, func(err error) Check { return fail("ssh config", "mend that", "%s", why(err)) }) {
					u.tell(c)
				}
			case len(cfg.Files()) > 0:
				u.all = append(u.all, ok("ssh config", "%s", strings.Join(cfg.Files(), ", ")))
			}
		}
		if cfg != nil {
			u.host(cfg, h)
		}
	}
	return append(append(u.all, knownHosts(u.known)...), keys(u.keys)...)
}

// host notes what one host names.
func (u *used) host(cfg *sshconfig.Config, h hosts.Host) {
	s, err := cfg.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions})
	if err != nil {
		u.tell(fail("ssh config", "mend that", "%s: %s", h.Name, why(err)))
		return
	}
	h.NoLogin = "" // that is no mistake
	if err := u.dialer.Check(h); err != nil {
		u.tell(fail("ssh config", "mend that", "%s: %s", h.Name, why(err)))
	}
	for _, f := range append(s.UserKnownHostsFiles, s.GlobalKnownHostsFiles...) {
		u.known[f.V] = true
	}
	for _, f := range h.Identity {
		if rest, home := strings.CutPrefix(f, "~/"); home {
			if dir, err := os.UserHomeDir(); err == nil {
				f = filepath.Join(dir, rest)
			}
		}
		u.keys[f] = true
	}
	for _, f := range s.IdentityFiles {
		if named := f.From.File != ""; named || len(h.Identity) == 0 {
			u.keys[f.V] = u.keys[f.V] || named
		}
	}
}

func knownHosts(files map[string]bool) (all []Check) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		st, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		db, oerr := knownhosts.Open(file)
		switch {
		case oerr != nil:
			all = append(all, fail("known hosts", "make it readable: no host is trusted until then", "%s", why(oerr)))
			continue
		case err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o022 != 0:
			all = append(all, fail("known hosts", "chmod go-w "+file+", and see that its keys are right", "%s: other accounts may write it (mode %04o)", file, st.Mode().Perm()))
			continue
		}
		all = append(all, ok("known hosts", "%s", file))
		for i, w := range db.Warnings() {
			if i == maxTold {
				break
			}
			all = append(all, warn("known hosts", "mend or remove the line", "%s", why(errors.New(w.String()))))
		}
	}
	if len(all) == 0 && len(files) > 0 {
		all = append(all, warn("known hosts", "add the keys of hosts, once compared", "there is no known_hosts file: no host over SSH is trusted yet"))
	}
	return all
}

// keys looks at files of private keys as connecting does. Of a key nothing is shown but what kind it is.
func keys(files map[string]bool) (all []Check) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		k := sshconn.LookAtKey(file)
		kind := "a key"
		if k.Public != nil {
			kind = k.Public.Type()
		}
		switch {
		case k.Missing && files[file]:
			all = append(all, warn("key", "make it, or name another", "%s: there is no such file", file))
			continue
		case k.Missing:
			continue
		case k.Problem != "":
			all = append(all, fail("key", "see to that, or name another", "%s: %s", file, k.Problem))
		case k.Encrypted:
			all = append(all, ok("key", "%s: %s, with a passphrase", file, kind))
		default:
			all = append(all, ok("key", "%s: %s", file, kind))
		}
		if k.Unfit != "" {
			all = append(all, warn("key", "have it renewed", "%s-cert.pub: %s", file, k.Unfit))
		}
	}
	return all
}
