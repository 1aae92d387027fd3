package realm

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// reached is how the realm's callers reach a host.
func (r *Realm) reached(h hosts.Host) (hosts.Host, error) {
	h, err := r.options.Apply(h)
	if err != nil {
		return h, problem.Invalid("%v", err)
	}
	return h, nil
}

func (r *Realm) allReached(hs []hosts.Host) ([]hosts.Host, error) {
	for i, h := range hs {
		var err error
		if hs[i], err = r.reached(h); err != nil {
			return nil, err
		}
	}
	return hs, nil
}

// Select resolves a selector. Lists in files are refused: they would read this account's files for
// whoever asks.
func (r *Realm) Select(text string) ([]hosts.Host, error) {
	inv, err := r.inventory()
	if err != nil {
		return nil, err
	}
	sel, err := hosts.ParseSelector(text)
	if err != nil {
		return nil, problem.Invalid("%v", err)
	}
	hs, err := inv.Select(sel)
	if err != nil {
		return nil, problem.New(http.StatusNotFound, registry.CodeNotFound, "%v", err)
	}
	return r.allReached(hs)
}

// All are the hosts of the inventory.
func (r *Realm) All() ([]hosts.Host, error) {
	inv, err := r.inventory()
	if err != nil {
		return nil, err
	}
	return r.allReached(slices.Collect(inv.All()))
}

func (r *Realm) inventory() (*hosts.Inventory, error) {
	inv, err := r.Inv()
	if err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "inventory", "%v", err)
	}
	return inv, nil
}

// Host finds one host. Hosts outside the inventory are for operators.
func (r *Realm) Host(name string) (hosts.Host, error) {
	h, ok, err := targets.ParseUnlisted(name)
	if !ok {
		h, ok, err = hosts.ParseAdHoc(name)
	}
	if ok || err != nil {
		switch {
		case err != nil:
			return h, problem.Invalid("%v", err)
		case !r.Operator:
			return h, problem.New(http.StatusForbidden, "denied", "%s is not in the inventory, and an agent may use no other hosts: see /v1/hosts", h.Name)
		}
		return r.reached(h)
	}
	inv, err := r.inventory()
	if err != nil {
		return hosts.Host{}, err
	}
	if h, err = inv.Lookup(name); err != nil {
		ssh, serr := r.ssh()
		if serr != nil {
			return h, problem.New(http.StatusUnprocessableEntity, "inventory", "%v; the hosts of ssh_config cannot be read: %v", err, serr)
		}
		if h, err := ssh.Lookup(name); err == nil {
			return r.reached(h)
		}
		return h, problem.New(http.StatusNotFound, registry.CodeNotFound, "%v", err)
	}
	return r.reached(h)
}

// listed is what the inventory, or ssh_config, says of the host of a name, without what the realm's callers say of reaching it.
func (r *Realm) listed(name string) (hosts.Host, error) {
	inv, err := r.Inv()
	if err != nil {
		return hosts.Host{}, err
	}
	h, err := inv.Lookup(name)
	if err == nil {
		return h, nil
	}
	ssh, serr := r.ssh()
	if serr != nil {
		return h, serr
	}
	if of, serr := ssh.Lookup(name); serr == nil {
		return of, nil
	}
	return h, err
}

// Named finds several hosts.
func (r *Realm) Named(names []string) ([]hosts.Host, error) {
	hs := make([]hosts.Host, len(names))
	for i, name := range names {
		var err error
		if hs[i], err = r.Host(name); err != nil {
			return nil, err
		}
	}
	return hs, nil
}

// Describe tells of a host.
func (r *Realm) Describe(h hosts.Host) wire.Host {
	o := wire.Host{
		Name: h.Name, Addr: h.Addr, Groups: slices.Clone(h.Groups), Labels: []string{}, Tier: h.TierName(),
		Transport: string(h.Transport), Connection: cmp.Or(r.State(h.Name), h.NoLogin),
	}
	if o.Groups == nil {
		o.Groups = []string{}
	}
	if o.Transport == "" {
		o.Transport = string(hosts.SSH)
	}
	for name, value := range h.Labels {
		o.Labels = append(o.Labels, name+"="+value)
	}
	slices.Sort(o.Labels)
	return o
}

// HostAs finds the host that a caller means, which knows it by its sum if that is not "". A timeout of 0 is the host's own.
func (r *Realm) HostAs(name, sum string, timeout time.Duration) (h hosts.Host, err error) {
	err = r.Freshly(sum != "", func() (err error) {
		if h, err = r.Host(name); err != nil {
			return err
		}
		if timeout > 0 {
			h.ConnectTimeout = timeout
		}
		if sum != "" && wire.Sum(h) != sum {
			return Stale(h)
		}
		return nil
	})
	return h, err
}

// codeStale says that caller and keeper do not have the same inventory: one that has just been written, or a program that
// says something new.
const codeStale = "stale"

// Stale says that a host is not what its caller takes it for.
func Stale(h hosts.Host) error {
	return problem.New(http.StatusConflict, codeStale, "%s is not what it was when the inventory was read: try again", h.Name)
}

// Freshly finds hosts. Where they are not what the caller takes them for, if it says what that is, the file is read again
// first: it may have been written a moment ago.
func (r *Realm) Freshly(says bool, find func() error) error {
	err := find()
	if err != nil && says && r.book.cfg.Inventories.Reload(r.book.source(r.Key)) == nil {
		err = find()
	}
	return err
}
