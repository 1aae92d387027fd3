package hosts_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestInventoryKeepsFileOrder(t *testing.T) {
	inv := fleet(t)
	assert.Equal(t, 6, inv.Len())
	assert.Equal(t, "web01 web02 web03 db1 db2 Gate.example.com", names(slices.Collect(inv.All())))
}

func TestInventoryListsGroupsWithTheirMembers(t *testing.T) {
	groups := slices.Collect(fleet(t).Groups())
	assert.Equal(t, []hosts.Group{
		{Name: "web", Children: []string{"canary"}, Hosts: []string{"web01", "web02", "web03"}},
		{Name: "canary", Hosts: []string{"web01"}},
		{Name: "db", Hosts: []string{"db1", "db2"}},
		{Name: "empty"},
	}, groups)
}

func TestInventoryIsACopy(t *testing.T) {
	mine := []hosts.Host{{
		Name: "a", Via: []string{"b"}, Groups: []string{"g"}, Labels: map[string]string{"k": "v"}, Identity: []string{"i"},
		Env: []string{"E=1"}, Command: []string{"c"}, Ready: []hosts.Ready{{Match: "m"}},
	}}
	inv, err := hosts.NewInventory(mine, nil)
	require.NoError(t, err)
	want := hosts.Host{
		Name: "a", Via: []string{"b"}, Groups: []string{"g"}, Labels: map[string]string{"k": "v"}, Identity: []string{"i"},
		Env: []string{"E=1"}, Command: []string{"c"}, Ready: []hosts.Ready{{Match: "m"}},
	}
	mine[0].Via[0], mine[0].Groups[0], mine[0].Labels["k"], mine[0].Identity[0] = "x", "x", "x", "x"
	mine[0].Env[0], mine[0].Command[0], mine[0].Ready[0].Match = "x", "x", "x"
	got, err := inv.Lookup("a")
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestLookupOffersNearMisses(t *testing.T) {
	inv := fleet(t)
	h, err := inv.Lookup("db2")
	require.NoError(t, err)
	assert.Equal(t, "dev", h.Tier)

	_, err = inv.Lookup("bd2")
	require.EqualError(t, err, "hosts: no host named bd2 (did you mean db2?)")
	require.ErrorIs(t, err, hosts.ErrNotFound)
	var miss *hosts.NoMatchError
	require.ErrorAs(t, err, &miss)
	assert.Equal(t, []string{"db2"}, miss.Near)
}

func TestNewInventoryReportsEverything(t *testing.T) {
	_, err := hosts.NewInventory(
		[]hosts.Host{{Name: "a"}, {Name: "a", Source: hosts.Pos{File: "f", Line: 3}}, {Name: "-x"}, {Name: "all"}, {Name: ""}},
		[]hosts.Group{{Name: "g"}, {Name: "g"}, {Name: "a b"}},
	)
	assert.EqualError(t, err, `hosts: group "g" is there twice
hosts: group name "a b" must not contain ' '
hosts: f:3: host "a" is there twice
hosts: host name "-x" must not begin with '-'
hosts: host name "all" is a word of selectors: "all" means every host
hosts: host name "" is empty`)
}

func TestZeroInventoryIsEmpty(t *testing.T) {
	var inv hosts.Inventory
	assert.Zero(t, inv.Len())
	_, err := inv.Lookup("a")
	assert.ErrorIs(t, err, hosts.ErrNotFound)
	all, err := hosts.ParseSelector("all")
	require.NoError(t, err)
	_, err = inv.Select(all)
	assert.EqualError(t, err, "hosts: selector all matches no host")
}

func TestUnknownTierCountsAsProd(t *testing.T) {
	assert.Equal(t, "prod", hosts.Host{}.TierName())
	assert.Equal(t, "dev", hosts.Host{Tier: "dev"}.TierName())
}

func TestCheckLabel(t *testing.T) {
	require.NoError(t, hosts.CheckLabel("app.kubernetes.io/name", "two words, = and more"))
	require.NoError(t, hosts.CheckLabel("note", ""))
	for name, tt := range map[string]struct{ key, value, want string }{
		"the tier":         {"tier", "prod", "is a field of its own: write tier: instead of a label"},
		"no key":           {"", "x", "is empty"},
		"a key with space": {"a b", "x", "must not contain ' '"},
		"two lines":        {"a", "x\ny", "has a value with the unprintable character U+000A"},
		"no text":          {"a", "\xff", "has a value that is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.EqualError(t, hosts.CheckLabel(tt.key, tt.value), tt.want)
		})
	}
}

func TestPosNamesFileAndLine(t *testing.T) {
	assert.Equal(t, "f:3", hosts.Pos{File: "f", Line: 3}.String())
	assert.Equal(t, "f", hosts.Pos{File: "f"}.String())
}
