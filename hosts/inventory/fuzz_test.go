package inventory_test

import (
	"errors"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// Whatever the bytes, there is an inventory or an error, and every error has a place in the file.
func FuzzLoad(f *testing.F) {
	for name, text := range everything {
		f.Add(name, []byte(text))
	}
	f.Add("x.yaml", []byte("version: 1\ngroups: [{name: g, hosts: [a], children: [g]}]\nrules: [{match: all, set: {via: [a]}}]"))
	f.Add("x.yaml", []byte("version: 1\nhosts: &h [{name: 'a[1-3]', env: *h}]"))
	f.Add("x.toml", []byte("version = 1\n[[hosts]]\nname='a'\n[hosts.x]\nuser='u'\n[[hosts.ready]]\nmatch='m'"))
	f.Add("x.json", []byte(`{"version":1,"hosts":[{"name":"a","via":["b"]},{"name":"b","labels":["a=\u0000"]}]}`))
	for name, text := range lent {
		f.Add(name, []byte(text))
	}
	f.Add("x.yaml", []byte("version: 1\nhosts: [{name: 'a[1-3]'}]\ncredentials: [{principals: ['*', role=agent], hosts: 'a[1-2]', user: b}, {principals: ['*'], hosts: all, identity: [/k]}]"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if name != "x.yaml" && name != "x.json" && name != "x.toml" {
			name = "x.yaml"
		}
		inv, _, err := inventory.Parse(data, name, quiet)
		if (inv == nil) == (err == nil) {
			t.Fatalf("inventory %v, error %v", inv, err)
		}
		if err == nil {
			for h := range inv.As("agent/x").All() {
				// Whatever the file says, an agent has keys of its own or none where nothing may break.
				free := h.IdentityOnly || h.NoLogin != "" || h.TierName() == hosts.Dev || h.Transport != "" && h.Transport != hosts.SSH
				if inv != inv.As("agent/x") && !free {
					t.Fatalf("%s is logged in to with the operator's keys", h.Name)
				}
			}
			return
		}
		list := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			list = joined.Unwrap()
		}
		for _, e := range list {
			var pe *hosts.ParseError
			if !errors.As(e, &pe) || pe.Pos.File != name || pe.Pos.Line < 1 {
				t.Fatalf("no place: %v", e)
			}
		}
	})
}
