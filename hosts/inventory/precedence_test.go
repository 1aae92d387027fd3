package inventory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

func TestTheInnermostPlaceWins(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
defaults: {user: defaults, shell: bash, tier: prod, port: 1, login: true}
groups:
  - {name: outer, children: [middle], user: outer, shell: dash, tier: staging, port: 2}
  - {name: middle, children: [inner], user: middle, shell: zsh, tier: dev}
  - {name: inner, hosts: [a, b], user: inner, shell: ksh}
  - {name: beside, hosts: [c]}
hosts:
  - {name: a, user: host}
  - {name: d}
  - {name: e, groups: [outer, inner]}
rules:
  - {match: "a,b", set: {user: rule, shell: ash}}
`)
	for name, want := range map[string]hosts.Host{
		"a": {User: "host", Shell: "ash", Tier: "dev", Port: 2, Groups: []string{"inner", "middle", "outer"}},
		"b": {User: "rule", Shell: "ash", Tier: "dev", Port: 2, Groups: []string{"inner", "middle", "outer"}},
		"c": {User: "defaults", Shell: "bash", Tier: "prod", Port: 1, Groups: []string{"beside"}},
		"d": {User: "defaults", Shell: "bash", Tier: "prod", Port: 1},
		"e": {User: "inner", Shell: "ksh", Tier: "dev", Port: 2, Groups: []string{"inner", "middle", "outer"}},
	} {
		got := lookup(t, inv, name)
		got.Source = hosts.Pos{}
		want.Name, want.Login = name, true
		assert.Equal(t, want, got)
	}
}

func TestListsAreReplacedAndLabelsMerged(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
defaults: {env: [A=1], labels: [a=1, b=1, c=1], user: deploy, via: [gate]}
groups:
  - {name: g, hosts: [x, y], env: [B=1, C=1], labels: [b=2, c=2]}
hosts:
  - {name: x, env: [], labels: [c=3, d=3], user: "", via: []}
  - {name: gate, via: []}
rules:
  - {match: y, set: {labels: [c=4]}}
`)
	x, y := lookup(t, inv, "x"), lookup(t, inv, "y")
	assert.Empty(t, x.Env, "an empty list takes the outer one away")
	assert.Empty(t, x.User, "so does an empty text")
	assert.Empty(t, x.Via)
	assert.Equal(t, map[string]string{"a": "1", "b": "2", "c": "3", "d": "3"}, x.Labels)
	assert.Equal(t, []string{"B=1", "C=1"}, y.Env)
	assert.Equal(t, []string{"gate"}, y.Via)
	assert.Equal(t, map[string]string{"a": "1", "b": "2", "c": "4"}, y.Labels)
}

func TestRulesSeeTheHostsAsTheyAreWithoutRules(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
groups:
  - {name: g, hosts: [a], tier: dev, labels: [role=web]}
hosts:
  - {name: b}
rules:
  - {match: "tier=dev & role=web", set: {tier: staging}}
  - {match: "tier=staging", set: {user: nobody}}
  - {match: "tier=prod", set: {user: careful}}
  - {match: "~^mail", set: {user: postmaster}}
`)
	assert.Equal(t, "staging", lookup(t, inv, "a").Tier)
	assert.Empty(t, lookup(t, inv, "a").User)
	assert.Equal(t, "careful", lookup(t, inv, "b").User, "no tier counts as prod")
}

func TestInheritedFieldsThatMeanNothingAreDropped(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
defaults: {user: deploy, port: 2222, ssh_config: none, identity: [k], via: [gate], command: [x], env: [A=1], connect_timeout: 3s}
hosts:
  - {name: gate, via: []}
  - {name: here, transport: local}
  - {name: demo, transport: demo}
  - {name: box, transport: command}
`)
	here := lookup(t, inv, "here")
	assert.Equal(t, hosts.Host{Name: "here", Transport: hosts.Local, Env: []string{"A=1"}, Source: here.Source,
		ConnectTimeout: here.ConnectTimeout}, here)
	assert.Empty(t, lookup(t, inv, "demo").User)
	assert.Equal(t, []string{"x"}, lookup(t, inv, "box").Command)
	assert.Empty(t, lookup(t, inv, "gate").Command)
	assert.Equal(t, "deploy", lookup(t, inv, "gate").User)
}

func TestContradictionsOfEqualStandingAreErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"two groups": {`
groups:
  - {name: g, hosts: ["a[1-3]"], user: x}
  - name: h
    hosts: ["a[2-4]"]
    user: y`, []string{
			"x.yaml:7: user of a[2-3] is set differently on line 4: set it on the host, or nest one place in the other"}},
		"two groups, one of them by its parent": {`
groups:
  - {name: p, children: [g], user: x}
  - {name: g, hosts: [a]}
  - {name: h, hosts: [a], user: y}`, []string{
			"x.yaml:6: user of a is set differently on line 4: set it on the host, or nest one place in the other"}},
		"a label": {`
groups:
  - {name: g, hosts: [a], labels: [k=1]}
  - {name: h, hosts: [a], labels: [k=2, l=1]}`, []string{
			"x.yaml:5: labels.k of a is set differently on line 4: set it on the host, or nest one place in the other"}},
		"two rules": {`
hosts: [{name: a}, {name: b}]
rules:
  - {match: all, set: {tier: dev, user: x}}
  - {match: a, set: {tier: prod, user: x}}`, []string{
			"x.yaml:6: tier of a is set differently on line 5: set it on the host, or nest one place in the other"}},
		"several at once": {`
groups:
  - {name: g, hosts: [a], user: x, port: 1}
  - {name: h, hosts: [a], user: y, port: 2}
hosts: [{name: b}]
rules:
  - {match: b, set: {env: [A=1]}}
  - {match: b, set: {env: [A=2]}}`, []string{
			"x.yaml:5: port of a is set differently on line 4: set it on the host, or nest one place in the other",
			"x.yaml:5: user of a is set differently on line 4: set it on the host, or nest one place in the other",
			"x.yaml:9: env of b is set differently on line 8: set it on the host, or nest one place in the other"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := inventory.Parse([]byte("\nversion: 1"+tt.text), "x.yaml", quiet)
			assert.Equal(t, tt.want, complaints(t, err))
		})
	}
}

func TestNotEveryDifferenceIsAContradiction(t *testing.T) {
	for name, text := range map[string]string{
		"the host says so itself": `
groups: [{name: g, hosts: [a], user: x}, {name: h, hosts: [a], user: y}]
hosts: [{name: a, user: z}]`,
		"a rule says so": `
groups: [{name: g, hosts: [a], user: x}, {name: h, hosts: [a], user: y}]
rules: [{match: a, set: {user: z}}]`,
		"they agree": `
groups: [{name: g, hosts: [a], via: [b]}, {name: h, hosts: [a], via: [b]}]
hosts: [{name: b}]`,
		"one is inside the other, by two ways": `
groups: [{name: top, user: t, children: [l, r]}, {name: l, children: [low]}, {name: r, children: [low], user: r}, {name: low, hosts: [a]}]`,
		"a group inside both decides": `
groups: [{name: g, user: x, children: [low]}, {name: h, user: y, children: [low]}, {name: low, user: z, hosts: [a]}]`,
		"no host is in both": `
groups: [{name: g, hosts: [a], user: x}, {name: h, hosts: [b], user: y}]`,
		"labels of different keys": `
groups: [{name: g, hosts: [a], labels: [k=1]}, {name: h, hosts: [a], labels: [l=1]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := inventory.Parse([]byte("version: 1"+text), "x.yaml", quiet)
			require.NoError(t, err)
		})
	}
}

// What a field comes from is told with its own line, also where it is inherited.
func TestAFieldIsToldWithThePlaceItStandsAt(t *testing.T) {
	inv := parse(t, "x.yaml", `version: 1
defaults:
  connect_timeout: 7s
  labels: ["a=b", "c=d"]
groups:
  - name: web
    hosts: ["w[1-2]"]
    port: 2201
    labels: ["role=web"]
hosts:
  - name: w1
    user: own
    labels: ["c=e"]
rules:
  - match: w1
    set:
      shell: bash
`)
	at := func(host, field string) (lines []int) {
		for _, pos := range inv.Origin(lookup(t, inv, host), field) {
			assert.Equal(t, "x.yaml", pos.File)
			lines = append(lines, pos.Line)
		}
		return lines
	}
	for _, c := range []struct {
		host, field string
		lines       []int
	}{
		{"w1", "connect_timeout", []int{3}}, {"w1", "port", []int{8}}, {"w1", "shell", []int{17}}, {"w1", "user", []int{11}}, {"w1", "labels", []int{4, 9, 11}},
		{"w2", "connect_timeout", []int{3}}, {"w2", "port", []int{8}}, {"w2", "labels", []int{4, 9}},
	} {
		assert.Equal(t, c.lines, at(c.host, c.field), "%s of %s", c.field, c.host)
	}
}
