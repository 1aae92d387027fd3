package hosts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// reread loads what render wrote, which must be an inventory without a mistake.
func reread(t *testing.T, inv *hosts.Inventory) *hosts.Inventory {
	t.Helper()
	text, _, _ := render(inv, []string{"x"})
	back, _, err := inventory.Parse(text, "x.yaml", inventory.Options{Environ: []string{}})
	require.NoError(t, err, "%s", text)
	return back
}

func TestWhatIsRenderedIsReadAsTheSame(t *testing.T) {
	inv, _, err := inventory.Parse([]byte(`version: 1
groups:
  - {name: web, hosts: ["web[01-03]"], children: [canary]}
  - {name: canary, hosts: [web02]}
  - {name: "on"}
hosts:
  - {name: "web[01-03]", port: 22, user: "no", labels: ["k=c: d # e", "x=", "q=\"'\\"]}
  - {name: gw, addr: "2001:db8::1"}
  - {name: db, via: [gw], tier: prod, identity: [~/.ssh/id, "/a b"], ssh_config: none, connect_timeout: 90s, shell: zsh, login: true, env: ["A=ä\u2028\n", "B=~"]}
  - {name: box, transport: command, command: [docker, exec, -i, box, sh], ready: [{match: a, check: "b 'c'", start: d, wait: 3s}]}
  - {name: here, transport: local}
  - {name: "1e3"}
`), "in.yaml", inventory.Options{Environ: []string{}})
	require.NoError(t, err)
	back := reread(t, inv)
	require.Equal(t, inv.Len(), back.Len())
	for h := range inv.All() {
		got, err := back.Lookup(h.Name)
		require.NoError(t, err)
		got.Source, h.Source = hosts.Pos{}, hosts.Pos{}
		assert.Equal(t, h, got)
	}
	for g := range inv.Groups() {
		for other := range back.Groups() {
			if g.Name == other.Name {
				assert.Equal(t, g.Hosts, other.Hosts, g.Name)
				assert.Equal(t, g.Children, other.Children, g.Name)
			}
		}
	}
	text, _, _ := render(inv, []string{"x"})
	assert.Contains(t, string(text), "  - name: \"web[01-03]\"\n", "entries fold")
}

func TestRefusingHostsAreCommentsAndJumpHostsAreHosts(t *testing.T) {
	inv, err := hosts.NewInventory([]hosts.Host{
		{Name: "gw"},
		{Name: "bad", Groups: []string{"g"}, NoLogin: "f:1: a template\nb"},
		{Name: "a", Groups: []string{"g"}, Via: []string{"me@gw:22", "other", "bad", "gw"}},
		{Name: "b", Groups: []string{"g"}, Via: []string{"me@gw:22"}},
	}, nil)
	require.NoError(t, err)
	text, added, left := render(inv, []string{"hosts\x1b.ini"})
	assert.Equal(t, []string{"jump1", "other", "jump2"}, added)
	assert.Equal(t, 1, left)
	assert.NotContains(t, string(text), "\x1b")
	assert.Contains(t, string(text), "  # - name: bad # left out: f:1: a template")
	back := reread(t, inv)
	_, err = back.Lookup("bad")
	assert.Error(t, err)
	a, err := back.Lookup("a")
	require.NoError(t, err)
	assert.Equal(t, []string{"jump1", "other", "jump2", "gw"}, a.Via)
	gw, err := back.Lookup("jump1")
	require.NoError(t, err)
	assert.Equal(t, "me gw 22", fmt.Sprint(gw.User, " ", gw.Addr, " ", gw.Port))
}

// Whatever texts there are, they come back as they were.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"a", "null", "0x10", "a: b", "~", "", " a", "a\n", "\u0085\u2028", "---", "{", "1.0", "2020-01-01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if hosts.CheckLabel("k", s) != nil {
			return
		}
		inv, err := hosts.NewInventory([]hosts.Host{{Name: "h", Labels: map[string]string{"k": s}, Identity: []string{"x", s + "y"}}}, nil)
		require.NoError(t, err)
		h, err := reread(t, inv).Lookup("h")
		require.NoError(t, err)
		assert.Equal(t, s, h.Labels["k"])
		assert.Equal(t, s+"y", h.Identity[1])
	})
}

func TestRenderingManyHostsIsQuick(t *testing.T) {
	var all []hosts.Host
	for i := range 10_000 {
		all = append(all, hosts.Host{Name: fmt.Sprintf("n%d-%s", 10_000-i, strings.Repeat("x", i%7)), User: "u"})
	}
	inv, err := hosts.NewInventory(all, nil)
	require.NoError(t, err)
	assert.Equal(t, 10_000, reread(t, inv).Len())
}
