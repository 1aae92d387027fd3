package keeper

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type hostsIn struct {
	Selector string `query:"selector" maxLength:"4096" doc:"names, web[01-12], web*, @group, role=web, tier=dev, ~regex, all; joined by , & and !"`
}

func (k *Keeper) addHosts(a *api) {
	add(a, route{method: "GET", path: "/v1/hosts", id: "list-hosts", summary: "Hosts of the inventory", tag: "hosts", need: access.NeedSee},
		func(_ context.Context, c *access.Caller, in *hostsIn) (*body[wire.Hosts], error) {
			r, done, err := k.realm(c)
			if err != nil {
				return nil, err
			}
			defer done()
			hs, err := r.selectHosts(in.Selector)
			if err != nil {
				return nil, err
			}
			out := &wire.Hosts{Items: make([]wire.Host, len(hs))}
			for i, h := range hs {
				out.Items[i] = r.describe(h)
			}
			return &body[wire.Hosts]{out}, nil
		})
}

// reached is how the realm's callers reach a host.
func (r *realm) reached(h hosts.Host) (hosts.Host, error) {
	h, err := r.options.Apply(h)
	if err != nil {
		return h, problem.Invalid("%v", err)
	}
	return h, nil
}

func (r *realm) allReached(hs []hosts.Host) ([]hosts.Host, error) {
	for i, h := range hs {
		var err error
		if hs[i], err = r.reached(h); err != nil {
			return nil, err
		}
	}
	return hs, nil
}

// selectHosts resolves a selector; "" is all. Lists in files are refused: they would read this account's files for
// whoever asks.
func (r *realm) selectHosts(text string) ([]hosts.Host, error) {
	inv, err := r.inventory()
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return r.allReached(slices.Collect(inv.All()))
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

func (r *realm) inventory() (*hosts.Inventory, error) {
	inv, err := r.inv()
	if err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "inventory", "%v", err)
	}
	return inv, nil
}

// host finds one host. Hosts outside the inventory are for operators.
func (r *realm) host(name string) (hosts.Host, error) {
	h, ok, err := targets.ParseUnlisted(name)
	if !ok {
		h, ok, err = hosts.ParseAdHoc(name)
	}
	if ok || err != nil {
		switch {
		case err != nil:
			return h, problem.Invalid("%v", err)
		case !r.operator:
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

// named finds several hosts.
func (r *realm) named(names []string) ([]hosts.Host, error) {
	hs := make([]hosts.Host, len(names))
	for i, name := range names {
		var err error
		if hs[i], err = r.host(name); err != nil {
			return nil, err
		}
	}
	return hs, nil
}

func (r *realm) describe(h hosts.Host) wire.Host {
	o := wire.Host{
		Name: h.Name, Addr: h.Addr, Groups: slices.Clone(h.Groups), Labels: []string{}, Tier: h.TierName(),
		Transport: string(h.Transport), Connection: cmp.Or(r.state.text(h.Name), h.NoLogin),
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
