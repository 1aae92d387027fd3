package inventory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// The same credentials in the three formats.
var lent = map[string]string{
	"x.yaml": `
version: 1
hosts: [{name: web1, tier: staging}, {name: db1, tier: prod}, {name: toy, tier: dev}]
credentials:
  - principals: [agent/deploy, "role=program"]
    hosts: tier=staging
    user: deploy-bot
    identity: ["~/.ssh/bot_ed25519", /etc/keys/bot]
    sandboxed: true
  - {principals: ["*"], hosts: db1, user: Guest}
`,
	"x.json": `{"version": 1,
"hosts": [{"name": "web1", "tier": "staging"}, {"name": "db1", "tier": "prod"}, {"name": "toy", "tier": "dev"}],
"credentials": [
{"principals": ["agent/deploy", "role=program"],
 "hosts": "tier=staging", "user": "deploy-bot", "identity": ["~/.ssh/bot_ed25519", "/etc/keys/bot"], "sandboxed": true},
{"principals": ["*"], "hosts": "db1", "user": "Guest", "sandboxed": false}]}`,
	"x.toml": `
version = 1
hosts = [{name = "web1", tier = "staging"}, {name = "db1", tier = "prod"}, {name = "toy", tier = "dev"}]
[[credentials]]
principals = ["agent/deploy", "role=program"]
hosts = "tier=staging"
user = "deploy-bot"
identity = ["~/.ssh/bot_ed25519", "/etc/keys/bot"]
sandboxed = true
[[credentials]]
principals = ["*"]
hosts = "db1"
user = "Guest"
`,
}

func TestCredentialsAreReadInEveryFormat(t *testing.T) {
	for name, text := range lent {
		t.Run(name, func(t *testing.T) {
			inv := parse(t, name, text)
			assert.Empty(t, lookup(t, inv, "web1").User, "of nobody in particular")
			h := lookup(t, inv.As("agent/deploy"), "web1")
			assert.Equal(t, "deploy-bot", h.User)
			assert.Equal(t, []string{"~/.ssh/bot_ed25519", "/etc/keys/bot"}, h.Identity)
			assert.True(t, h.IdentityOnly)
			assert.True(t, h.Sandboxed)
			assert.Empty(t, h.NoLogin)
			assert.Equal(t, h.User, lookup(t, inv.As("program/ci"), "web1").User)

			h = lookup(t, inv.As("operator/ada"), "db1")
			assert.Equal(t, "Guest", h.User)
			assert.False(t, h.IdentityOnly)
			assert.False(t, h.Sandboxed)
			c, ok := inv.As("agent/deploy").Credential(lookup(t, inv, "web1"))
			require.True(t, ok)
			assert.Equal(t, name, c.Source.File)
			assert.NotZero(t, c.Source.Line)

			assert.NotEmpty(t, lookup(t, inv.As("agent/other"), "web1").NoLogin)
			assert.Empty(t, lookup(t, inv.As("agent/other"), "toy").NoLogin)
		})
	}
}

func TestTheSectionAloneSwitchesCredentialsOn(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		on   bool
	}{
		"no section":      {"", false},
		"an empty one":    {"credentials: []", true},
		"without a value": {"credentials:", true},
	} {
		t.Run(name, func(t *testing.T) {
			inv := parse(t, "x.yaml", "version: 1\nhosts: [{name: a}]\n"+tt.text)
			assert.Equal(t, tt.on, lookup(t, inv.As("agent/mcp"), "a").NoLogin != "")
			assert.Empty(t, lookup(t, inv.As("operator/ada"), "a").NoLogin)
		})
	}
}

// The text of a case begins on line 3.
func TestEveryMistakeInCredentialsIsToldWithItsLine(t *testing.T) {
	const good = "principals: [agent/x], hosts: all, user: u"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a mapping": {"credentials: {}", []string{
			`x.yaml:3: credentials: expected a list, as in [a, b], not a mapping`}},
		"an item that is a word": {"credentials:\n  - agent/x", []string{
			`x.yaml:4: credentials: expected a mapping, as in {principals: …}, not a single value`}},
		"unknown keys": {"credentials:\n  - {" + good + ",\n     key: /k,\n     principal: x}", []string{
			`x.yaml:5: unknown key "key" in credentials (did you mean identity?)`,
			`x.yaml:6: unknown key "principal" in credentials (did you mean principals?)`}},
		"nothing": {"credentials:\n  - {}", []string{
			`x.yaml:4: a credential without hosts: say where it is for`,
			`x.yaml:4: a credential without principals: say whom it is for`,
			`x.yaml:4: a credential without user and identity: say the account, the keys, or both`}},
		"nobody": {"credentials:\n  - hosts: all\n    user: u\n    principals: []", []string{
			`x.yaml:6: principals: names no principal`}},
		"principals that are a word": {"credentials:\n  - {principals: agent/x, hosts: all, user: u}", []string{
			`x.yaml:4: principals: expected a list, as in [a, b], not a single value`}},
		"principals that are none": {"credentials:\n  - hosts: all\n    user: u\n    principals:\n      - mcp\n      - role=root\n      - agent/x\n      - agent/x", []string{
			`x.yaml:7: principals: "mcp" is not a name such as agent/mcp, nor role=agent, nor "*"`,
			`x.yaml:8: principals: "role=root" has a role that is not agent, operator or program`,
			`x.yaml:10: principals: "agent/x" is there twice`}},
		"hosts that are a list": {"credentials:\n  - principals: [agent/x]\n    hosts: [a]\n    user: u", []string{
			`x.yaml:5: hosts: expected a single value, not a list`}},
		"hosts that are no selector": {"credentials:\n  - principals: [agent/x]\n    hosts: a &\n    user: u", []string{
			`x.yaml:5: hosts "a &": selector, column 4: expected a host, a group or a label, but found the end`}},
		"hosts that are nobody": {"credentials:\n  - principals: [agent/x]\n    hosts: aa,@web\n    user: u", []string{
			`x.yaml:5: hosts: no host named aa, and no group named @web (did you mean a?)`}},
		"a list of hosts in a file": {"credentials:\n  - principals: [agent/x]\n    hosts: ^/etc/passwd\n    user: u", []string{
			`x.yaml:5: hosts "^/etc/passwd": selector, column 1: file /etc/passwd: lists of hosts are read by the command line only; name the hosts instead`}},
		"a user like an option": {"credentials:\n  - principals: [agent/x]\n    hosts: all\n    user: -l", []string{
			`x.yaml:6: user: "-l" must not begin with -`}},
		"a user that is nobody": {"credentials:\n  - principals: [agent/x]\n    hosts: all\n    user: \"\"", []string{
			`x.yaml:6: user: must not be empty`}},
		"no key": {"credentials:\n  - principals: [agent/x]\n    hosts: all\n    identity: []", []string{
			`x.yaml:6: identity: names no key`}},
		"keys by where one is": {"credentials:\n  - principals: [agent/x]\n    hosts: all\n    identity:\n      - bot\n      - ../bot\n      - ~bot/key\n      - ~/\n      - /k\n      - /k", []string{
			`x.yaml:7: identity: "bot" is not the whole path of a file, which begins with / or ~/`,
			`x.yaml:8: identity: "../bot" is not the whole path of a file, which begins with / or ~/`,
			`x.yaml:9: identity: "~bot/key" is not the whole path of a file, which begins with / or ~/`,
			`x.yaml:10: identity: "~/" is not the whole path of a file, which begins with / or ~/`,
			`x.yaml:12: identity: "/k" is there twice`}},
		"neither true nor false": {"credentials:\n  - {" + good + ",\n     sandboxed: kernel}", []string{
			`x.yaml:5: sandboxed: must be true or false`}},
		"sandboxed, and no account": {"credentials:\n  - principals: [agent/x]\n    hosts: all\n    identity: [/k]\n    sandboxed: true", []string{
			`x.yaml:7: sandboxed: is about an account: say which with user`}},
		"two that disagree": {"credentials:\n  - {" + good + "}\n  - {principals: [\"role=agent\"], hosts: all, user: v}\n  - {principals: [agent/y, agent/x], hosts: a, user: w}", []string{
			`x.yaml:6: agent/x has two logins to a, the other one is on line 4: take the hosts out of one of them, as in "all,!web01"`}},
		"with other mistakes": {"groups: [{name: g}, {name: g}]\ncredentials:\n  - {hosts: all, user: u, principals: [x]}\n  - {hosts: c, user: \"\", principals: [agent/x]}\nrules:\n  - {match: all}", []string{
			`x.yaml:3: group "g" is there twice; first on line 3`,
			`x.yaml:5: principals: "x" is not a name such as agent/mcp, nor role=agent, nor "*"`,
			`x.yaml:6: hosts: no host named c (did you mean a or b?)`,
			`x.yaml:6: user: must not be empty`,
			`x.yaml:8: a rule without set: say what it changes`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := inventory.Parse([]byte("version: 1\nhosts: [{name: a}, {name: b}]\n"+tt.text), "x.yaml", quiet)
			assert.Equal(t, tt.want, complaints(t, err))
		})
	}
}

func TestCredentialsAreForTheHostsAsTheyComeOut(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
hosts: [{name: a}, {name: b}]
rules: [{match: b, set: {tier: dev, labels: ["role=web"]}}]
credentials: [{principals: ["*"], hosts: "role=web & tier=dev", user: u}]
`)
	assert.Empty(t, lookup(t, inv.As("agent/x"), "a").User)
	assert.Equal(t, hosts.Dev, lookup(t, inv.As("agent/x"), "b").Tier)
	assert.Equal(t, "u", lookup(t, inv.As("agent/x"), "b").User)
}
