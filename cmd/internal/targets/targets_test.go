package targets_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func inventory() (*hosts.Inventory, error) {
	at := hosts.Pos{File: "test.yaml", Line: 1}
	return hosts.NewInventory([]hosts.Host{
		{Name: "web1", Source: at, Groups: []string{"web"}}, {Name: "web2", Source: at, Groups: []string{"web"}},
		{Name: "db1", Source: at},
	}, nil)
}

func TestTargetsAreSelectorsAndHostsOutsideTheInventory(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(list, []byte("web[1-2] # both\n"), 0o600))
	for name, tt := range map[string]struct {
		expr, except, stdin string
		want                string
		wantErr             string
	}{
		"a name":                         {expr: "web1", want: "web1"},
		"everybody but":                  {expr: "all", except: "web*", want: "db1"},
		"a group":                        {expr: "@web", want: "web1 web2"},
		"standard input":                 {expr: "-", stdin: "db1\nweb2\n", want: "web2 db1"},
		"a file":                         {expr: "^" + list, want: "web1 web2"},
		"a file to leave out":            {expr: "all", except: "file:" + list, want: "db1"},
		"outside":                        {expr: "root@new", want: "new"},
		"outside, with a port":           {expr: "root@new:2222", want: "new"},
		"outside, IPv6":                  {expr: "root@[2001:db8::1]:22", want: "2001:db8::1"},
		"both":                           {expr: "web1, root@new", want: "web1 new"},
		"the same twice":                 {expr: "root@new,root@new", want: "new"},
		"two accounts":                   {expr: "root@new,ada@new", want: "root@new ada@new"},
		"two ports":                      {expr: "root@new,root@new:23", want: "root@new root@new:23"},
		"outside, of a known name":       {expr: "web1,root@web1", want: "web1 root@web1"},
		"outside, and left out":          {expr: "root@new,web1", except: "new,web2,web1,db1", wantErr: ""},
		"empty":                          {expr: " ", wantErr: "the selector is empty: name hosts, or write all"},
		"unknown":                        {expr: "wbe1", wantErr: "hosts: no host named wbe1 (did you mean web1?)"},
		"unknown, to leave out":          {expr: "all", except: "wbe1", wantErr: "hosts: no host named wbe1 (did you mean web1?)"},
		"a mistake in what to leave out": {expr: "all", except: "(web1", wantErr: "--except: "},
		"a mistake":                      {expr: "(web1", wantErr: "hosts: selector, column "},
		"a bad port":                     {expr: "root@new:0", wantErr: `hosts: "root@new:0": port "0" is not between 1 and 65535`},
		"no such file":                   {expr: "^/does/not/exist", wantErr: "there is no file /does/not/exist"},
		"outside, in an expression":      {expr: "(web1,root@new)", wantErr: "hosts: selector, column "},
		"an end too many":                {expr: "root@new,", wantErr: "hosts: "},
		"a regular expression with an @": {expr: "~^web1@?", want: "web1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := targets.Resolver{Inventory: inventory, In: strings.NewReader(tt.stdin)}
			hs, err := r.Resolve(tt.expr, tt.except)
			if tt.want == "" {
				require.Error(t, err)
				assert.Contains(t, err.Error(), tt.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, strings.Join(targets.Labels(hs), " "))
		})
	}
}

func TestHostsOutsideNeedNoInventory(t *testing.T) {
	r := targets.Resolver{Inventory: func() (*hosts.Inventory, error) { return nil, errors.New("broken") }}
	hs, err := r.Resolve("root@a,root@b", "b")
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, targets.Labels(hs))
	_, err = r.Resolve("root@a,web1", "")
	assert.EqualError(t, err, "broken")
}

func TestAListIsBounded(t *testing.T) {
	r := targets.Resolver{Inventory: inventory, In: strings.NewReader(strings.Repeat("web1\n", targets.MaxList/5+1))}
	_, err := r.Resolve("-", "")
	assert.ErrorContains(t, err, "more than 8 MiB")
}

func TestHostsOfSSHConfigAreReachedByTheirNames(t *testing.T) {
	at := hosts.Pos{File: "config", Line: 1}
	named := func(name string) (hosts.Host, bool, error) {
		switch name {
		case "desk", "web1":
			return hosts.Host{Name: name, Source: at}, true, nil
		case "broken":
			return hosts.Host{}, false, errors.New("config:3: broken")
		}
		return hosts.Host{}, false, nil
	}
	for expr, want := range map[string]string{
		"desk":               "desk",
		"web1":               "web1",
		" desk , web1":       "web1 desk",
		"desk,desk":          "desk",
		"desk,root@new,@web": "web1 web2 desk new",
		"all":                "web1 web2 db1",
		"des*":               "",
		"desk,laptop":        "",
		"desk&all":           "",
		"broken":             "",
	} {
		t.Run(expr, func(t *testing.T) {
			r := targets.Resolver{Inventory: inventory, In: strings.NewReader(""), Reach: targets.Reach{Named: named}}
			hs, err := r.Resolve(expr, "")
			if want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want, strings.Join(targets.Labels(hs), " "))
			for _, h := range hs {
				if h.Name == "web1" {
					assert.Equal(t, "test.yaml", h.Source.File, "the inventory goes first")
				}
			}
		})
	}
	r := targets.Resolver{Inventory: inventory, Reach: targets.Reach{Named: named}}
	_, err := r.Resolve("wbe1", "")
	assert.EqualError(t, err, "hosts: no host named wbe1 (did you mean web1?)")
	assert.ErrorIs(t, err, hosts.ErrNotFound)
	_, err = r.Resolve("laptop", "")
	assert.EqualError(t, err, "hosts: no host named laptop; for a host that is listed nowhere, write user@laptop")
	assert.ErrorIs(t, err, hosts.ErrNotFound)
	hs, err := r.Resolve("desk,db1", "desk")
	require.Error(t, err, "what is left out must exist: %v", hs)
	_, err = r.Resolve("broken", "")
	assert.EqualError(t, err, "config:3: broken")
}

func TestHostsAreReachedAsTheCallSays(t *testing.T) {
	r := targets.Resolver{Inventory: inventory, Reach: targets.Reach{Change: func(h hosts.Host) (hosts.Host, error) {
		if h.Name == "db1" {
			return h, errors.New("not this one")
		}
		h.Port = 99
		return h, nil
	}}}
	hs, err := r.Resolve("@web,root@new", "")
	require.NoError(t, err)
	for _, h := range hs {
		assert.Equal(t, uint16(99), h.Port, h.Name)
	}
	_, err = r.Resolve("db1", "")
	assert.EqualError(t, err, "not this one")
}

func TestAUserBeforeASelectorIsForAllThatItPicks(t *testing.T) {
	for expr, want := range map[string]struct{ hosts, as string }{
		"root@web1":          {"web1", "root"},
		"root@web[1-2]":      {"web1 web2", "root"},
		" root@@web ":        {"web1 web2", "root"},
		"root@(web1,db1)":    {"web1 db1", "root"},
		"root@all&!web1":     {"web2 db1", "root"},
		"root@web*":          {"web1 web2", "root"},
		"root@new":           {"new", ""},
		"root@web1:22":       {"web1", ""},
		"root@new,web1":      {"web1 new", ""},
		"web1,root@web1":     {"web1 root@web1", ""},
		"root@web1,ada@web1": {"root@web1 ada@web1", ""},
		"root@[2001:db8::1]": {"2001:db8::1", ""},
		"~^web1@?":           {"web1", ""},
		"root@web9":          {"web9", ""},
		"root@web[8-9]":      {"", "root"},
		"root@@nogroup":      {"", "root"},
		"-root@web1":         {"", ""},
	} {
		t.Run(expr, func(t *testing.T) {
			as := ""
			r := targets.Resolver{Inventory: inventory, Reach: targets.Reach{As: func(user string) error { as = user; return nil }}}
			hs, err := r.Resolve(expr, "")
			if want.hosts == "" {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
				assert.Equal(t, want.hosts, strings.Join(targets.Labels(hs), " "))
			}
			assert.Equal(t, want.as, as)
		})
	}
	r := targets.Resolver{Inventory: inventory, Reach: targets.Reach{As: func(string) error { return errors.New("as ada already") }}}
	_, err := r.Resolve("root@web1", "")
	assert.EqualError(t, err, "as ada already")
}
