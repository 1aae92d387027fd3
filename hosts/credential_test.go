package hosts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
)

func sel(t *testing.T, text string) hosts.Selector {
	t.Helper()
	s, err := hosts.ParseSelector(text)
	require.NoError(t, err)
	return s
}

// estate has a host of each tier and transport that matters.
func estate(t *testing.T, creds ...hosts.Credential) *hosts.Inventory {
	t.Helper()
	inv, err := hosts.NewInventory([]hosts.Host{
		{Name: "prod1", Tier: "prod", User: "root", Identity: []string{"/k/ada"}},
		{Name: "staging1", Tier: "staging", User: "root"},
		{Name: "dev1", Tier: "dev", User: "root"},
		{Name: "bare"},
		{Name: "here", Transport: hosts.Local, Tier: "prod"},
		{Name: "demo1", Transport: hosts.Demo},
	}, nil)
	require.NoError(t, err)
	inv, err = inv.WithCredentials(creds)
	require.NoError(t, err)
	return inv
}

func as(t *testing.T, inv *hosts.Inventory, principal, host string) hosts.Host {
	t.Helper()
	h, err := inv.As(principal).Lookup(host)
	require.NoError(t, err)
	return h
}

func TestTheCredentialThatNamesAPrincipalMostCloselyCountsAlone(t *testing.T) {
	inv := estate(t,
		hosts.Credential{Principals: []string{"*"}, Hosts: sel(t, "all"), User: "guest", Identity: []string{"/k/guest"}},
		hosts.Credential{Principals: []string{"role=agent"}, Hosts: sel(t, "all"), User: "bot", Identity: []string{"/k/bot"}},
		hosts.Credential{Principals: []string{"agent/deploy", "program/ci"}, Hosts: sel(t, "tier=staging"), Identity: []string{"/k/deploy"}},
		hosts.Credential{Principals: []string{"agent/deploy"}, Hosts: sel(t, "dev1"), User: "deploy", Sandboxed: true},
	)
	for name, tt := range map[string]struct {
		principal, host, user string
		keys                  string
		only, boxed           bool
	}{
		"by role":                      {"agent/mcp", "staging1", "bot", "/k/bot", true, false},
		"by name":                      {"agent/deploy", "staging1", "root", "/k/deploy", true, false},
		"by name, of another role":     {"program/ci", "staging1", "root", "/k/deploy", true, false},
		"by name, without a key":       {"agent/deploy", "dev1", "deploy", "", false, true},
		"the name is for other hosts":  {"agent/deploy", "prod1", "bot", "/k/bot", true, false},
		"as everybody":                 {"operator/ada", "prod1", "guest", "/k/guest", true, false},
		"nobody that anybody knows":    {"mcp", "prod1", "bot", "/k/bot", true, false},
		"a tier that was not said":     {"agent/mcp", "bare", "bot", "/k/bot", true, false},
		"a shell of this machine":      {"agent/mcp", "here", "", "", false, false},
		"the server in the program":    {"agent/mcp", "demo1", "", "", false, false},
		"without anybody it is as set": {"", "prod1", "root", "/k/ada", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			view := inv
			if tt.principal != "" {
				view = inv.As("operator/before").As(tt.principal) // the last one counts
			}
			h, err := view.Lookup(tt.host)
			require.NoError(t, err)
			assert.Equal(t, tt.user, h.User)
			assert.Equal(t, tt.keys, strings.Join(h.Identity, ","))
			assert.Equal(t, tt.only, h.IdentityOnly)
			assert.Equal(t, tt.boxed, h.Sandboxed)
			assert.Empty(t, h.NoLogin)

			picked, err := view.Select(sel(t, tt.host))
			require.NoError(t, err)
			assert.Equal(t, []hosts.Host{h}, picked)
			assert.Contains(t, slices.Collect(view.All()), h)
		})
	}
}

func TestOutsideDevAnAgentHasKeysOfItsOwnOrNone(t *testing.T) {
	nothing := estate(t)
	user := estate(t, hosts.Credential{Principals: []string{"role=agent"}, Hosts: sel(t, "all"), User: "bot"})
	key := estate(t, hosts.Credential{Principals: []string{"role=agent"}, Hosts: sel(t, "all"), Identity: []string{"/k/bot"}})
	other := estate(t, hosts.Credential{Principals: []string{"role=operator", "agent/deploy"}, Hosts: sel(t, "all"), Identity: []string{"/k/x"}})
	for name, tt := range map[string]struct {
		inv             *hosts.Inventory
		principal, host string
		want            string // in why not; "" means that it may
	}{
		"nothing for anybody, on prod":    {nothing, "agent/mcp", "prod1", "the inventory's credentials give agent/mcp no key for it"},
		"nothing for anybody, on staging": {nothing, "agent/mcp", "staging1", "add an entry with principals, hosts and identity under credentials"},
		"nothing, and no tier":            {nothing, "agent/mcp", "bare", "outside tier dev an agent never uses the operator's"},
		"nothing, on dev":                 {nothing, "agent/mcp", "dev1", ""},
		"nothing for an operator":         {nothing, "operator/ada", "prod1", ""},
		"nothing for a program":           {nothing, "program/ci", "prod1", ""},
		"nothing for this machine":        {nothing, "agent/mcp", "here", ""},
		"nothing for demo hosts":          {nothing, "agent/mcp", "demo1", ""},
		"only a user, on prod":            {user, "agent/mcp", "prod1", "add identity to the entry that gives it the user bot"},
		"only a user, on dev":             {user, "agent/mcp", "dev1", ""},
		"a key":                           {key, "agent/mcp", "prod1", ""},
		"a key for others":                {other, "agent/mcp", "prod1", "no key for it"},
		"a key for it among others":       {other, "agent/deploy", "prod1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := as(t, tt.inv, tt.principal, tt.host)
			if tt.want == "" {
				assert.Empty(t, h.NoLogin)
			} else {
				assert.Contains(t, h.NoLogin, tt.want)
			}
		})
	}
}

func TestWithoutCredentialsEverybodyLogsInAsTheInventorySays(t *testing.T) {
	inv, err := hosts.NewInventory([]hosts.Host{{Name: "a", User: "root"}}, nil)
	require.NoError(t, err)
	assert.Same(t, inv, inv.As("agent/mcp"))
	assert.Equal(t, hosts.Host{Name: "a", User: "root"}, as(t, inv, "agent/mcp", "a"))
	assert.Equal(t, hosts.Host{Name: "x"}, inv.As("agent/mcp").Outside(hosts.Host{Name: "x"}))
}

func TestAnAgentLogsInToNoHostOutsideAnInventoryWithCredentials(t *testing.T) {
	inv := estate(t, hosts.Credential{Principals: []string{"*"}, Hosts: sel(t, "all"), Identity: []string{"/k/x"}})
	x := hosts.Host{Name: "x", User: "root"}
	assert.Contains(t, inv.As("agent/mcp").Outside(x).NoLogin, "it is not in the inventory, whose credentials say how agent/mcp logs in")
	for _, who := range []string{"operator/ada", "program/ci"} {
		assert.Equal(t, x, inv.As(who).Outside(x))
	}
	assert.Equal(t, x, inv.Outside(x), "nobody in particular")
	local := hosts.Host{Name: "x", Transport: hosts.Local}
	assert.Equal(t, local, inv.As("agent/mcp").Outside(local))
}

func TestTwoLoginsOfTheSameStandingAreAContradiction(t *testing.T) {
	at := func(line int, principals, on, user string) hosts.Credential {
		return hosts.Credential{Principals: strings.Fields(principals), Hosts: sel(t, on), User: user, Source: hosts.Pos{File: "f", Line: line}}
	}
	for name, tt := range map[string]struct {
		creds []hosts.Credential
		want  string // "" means that they go together
	}{
		"two of a role":     {[]hosts.Credential{at(1, "role=agent", "all", "a"), at(2, "role=agent", "tier=dev", "b")}, `hosts: f:2: role=agent has two logins to dev1, the other one is on line 1`},
		"two of a name":     {[]hosts.Credential{at(1, "agent/x role=agent", "prod1,dev1", "a"), at(2, "agent/y agent/x", "all", "b")}, `hosts: f:2: agent/x has two logins to dev1,prod1, the other one is on line 1`},
		"two of everybody":  {[]hosts.Credential{at(1, "*", "dev1", "a"), at(2, "*", "dev1", "b")}, `hosts: f:2: * has two logins to dev1, the other one is on line 1`},
		"said once":         {[]hosts.Credential{at(1, "agent/x agent/y", "dev1", "a"), at(2, "agent/x agent/y", "dev1", "b")}, `hosts: f:2: agent/x has two logins to dev1, the other one is on line 1`},
		"the same twice":    {[]hosts.Credential{at(1, "*", "dev1", "a"), at(2, "*", "all", "a")}, ""},
		"of other standing": {[]hosts.Credential{at(1, "*", "all", "a"), at(2, "role=agent", "all", "b"), at(3, "agent/x", "all", "c")}, ""},
		"for other hosts":   {[]hosts.Credential{at(1, "*", "dev1", "a"), at(2, "*", "all,!dev1", "b")}, ""},
		"for other people":  {[]hosts.Credential{at(1, "agent/x", "all", "a"), at(2, "agent/y", "all", "b")}, ""},
		"without SSH":       {[]hosts.Credential{at(1, "*", "here,dev1", "a"), at(2, "*", "here,prod1", "b")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := estate(t).WithCredentials(tt.creds)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "\n", "one complaint")
		})
	}
}

func TestCredentialsThatSayTooLittleAreRefused(t *testing.T) {
	_, err := estate(t).WithCredentials([]hosts.Credential{{Sandboxed: true}, {Principals: []string{"bot"}, Hosts: sel(t, "all"), Sandboxed: true, Identity: []string{"/k"}}})
	for _, want := range []string{"without principals", "without hosts", `"bot" is not a name`, "sandboxed is about an account"} {
		assert.ErrorContains(t, err, want)
	}
	var pe *hosts.ParseError
	assert.ErrorAs(t, err, &pe)
}

func TestCredentialsAreCopied(t *testing.T) {
	mine := []hosts.Credential{{Principals: []string{"*"}, Hosts: sel(t, "all"), Identity: []string{"/k"}}}
	inv := estate(t, mine...)
	mine[0].Principals[0], mine[0].Identity[0] = "agent/x", "/other"
	h := as(t, inv, "operator/ada", "dev1")
	assert.Equal(t, []string{"/k"}, h.Identity)
	c, ok := inv.As("operator/ada").Credential(h)
	require.True(t, ok)
	assert.Equal(t, []string{"*"}, c.Principals)
	_, ok = inv.Credential(h)
	assert.False(t, ok, "nobody in particular")
}
