package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestARuleForNobodyIsFoundWithItsLine(t *testing.T) {
	inv, _, err := inventory.Parse([]byte(`
version: 1
hosts:
  - {name: web1, labels: ["role=web"], tier: prod}
  - {name: db1, labels: ["role=db"]}
groups:
  - {name: front, hosts: [web1]}
`), "inventory.yaml", inventory.Options{})
	require.NoError(t, err)
	for selector, want := range map[string]string{
		"all": "", "web1": "", "@front": "", "role=web": "", "role=w*": "", "tier=staging": "", "role!=db": "", "all,!db1": "", "web*": "", "nothing*": "",
		"webb1":         "no host named webb1 (did you mean web1?)",
		"@frnt":         "no group named @frnt (did you mean @front?)",
		"web1,web2":     "no host named web2",
		"all,!@back":    "no group named @back",
		"role=wbe":      "no host with the label role=wbe (did you mean role=web?)",
		"tier=prdo":     "no host with the label tier=prdo (did you mean tier=prod?)",
		"all,!tier=qa":  "no host with the label tier=qa",
		"rolle=web":     "no host with the label rolle=web (did you mean role=web?)",
		"rolle!=web":    "no host with the label rolle=web",
		"all&role=x*":   "no host with the label role=x*",
		"nobody,rack=1": "no host named nobody, and no host with the label rack=1",
	} {
		f, err := rules.Parse([]byte("version: 1\nrules:\n  - name: r\n    hosts: '"+selector+"'\n    principals: ['*']\n    classes: [write]\n    verdict: allow\nprincipals:\n  - name: agent/a\n    hosts: '"+selector+"'\n"), "p.yaml")
		require.NoError(t, err, selector)
		err = f.CheckNames(inv)
		if want == "" {
			assert.NoError(t, err, selector)
			continue
		}
		require.Error(t, err, selector)
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, 2, selector)
		assert.Contains(t, lines[0], "p.yaml:3: rule r: the inventory has "+want)
		assert.Contains(t, lines[1], "p.yaml:9: principals: the inventory has "+want)
	}
}

func TestProofsForTiersOfWhichThereIsNoHost(t *testing.T) {
	inv, _, err := inventory.Parse([]byte("version: 1\nhosts:\n  - {name: h, tier: lab}\n"), "inventory.yaml", inventory.Options{})
	require.NoError(t, err)
	f, err := rules.Parse([]byte("version: 1\napprovals:\n  proof:\n    prod: touch\n    lab: touch\n    \"*\": unproven\n    qa: touch\n"), "p.yaml")
	require.NoError(t, err)
	assert.EqualError(t, f.CheckNames(inv), "rules: p.yaml:7: proof: the inventory has no host of the tier qa")
	assert.NoError(t, f.CheckNames(inv, "qa"), "the one that is asked about")
}

func TestWordsThatWouldBeIgnored(t *testing.T) {
	for conditions, want := range map[string]string{
		"classes: [sensitive-read], paths: [/srv/**]":                "limit no reads",
		"classes: [read-only, network-read], paths: [/srv/**]":       "limit no reads",
		"classes: [network-read], to: [lopback]":                     `to: "lopback" is not known (did you mean loopback?)`,
		"classes: [network-read], to: [privaet]":                     `to: "privaet" is not known (did you mean private?)`,
		"programs: [cat ~/.ssh/id_rsa]":                              "holds a ~",
		"programs: [FOO=1 touch *]":                                  "begins with an assignment",
		"programs: [if *]":                                           "the shell's own grammar",
		"programs: [while *]":                                        "the shell's own grammar",
		"classes: [network-read], to: [Loopback]":                    `to: "Loopback" must be in small letters: loopback`,
		"classes: [network-read], to: [PRIVATE]":                     `to: "PRIVATE" must be in small letters: private`,
		"classes: [sensitive-read, write], paths: [/srv/**]":         "",
		"classes: [sensitive-read], programs: ['cat /srv/app/.env']": "",
	} {
		_, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: r, hosts: all, principals: ['*'], verdict: allow, "+conditions+"}\n"), "p.yaml")
		if want == "" {
			assert.NoError(t, err, conditions)
		} else {
			assert.ErrorContains(t, err, want, conditions)
			assert.ErrorContains(t, err, "p.yaml:3: ", conditions)
		}
	}
	for selector, want := range map[string]string{
		"tier=production": `hosts: "production" would not count as prod: write prod`, "tier=unknown": "hosts without a tier count as prod: write tier=prod", `tier=""`: "write tier=prod",
		"all,!tier=prd": "write prod", "tier=Prod": "small letters", "tier=pr*": "", "tier=lab": "",
	} {
		_, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: r, hosts: '"+selector+"', principals: ['*'], verdict: deny, classes: [write]}\n"), "p.yaml")
		if want == "" {
			assert.NoError(t, err, selector)
		} else {
			assert.ErrorContains(t, err, want, selector)
		}
	}
	for text, want := range map[string]string{
		"approvals: {proof: {production: touch}}": "write prod", "approvals: {proof: {unknown: touch}}": "write prod", "approvals: {proof: {Dev: touch}}": "small letters",
		"principals: [{name: agent/a, tools: [look, hosts_lst]}]": `tools: "hosts_lst" is not one of hosts_list, look,`,
	} {
		_, err := rules.Parse([]byte("version: 1\n"+text+"\n"), "p.yaml")
		assert.ErrorContains(t, err, want, text)
		assert.ErrorContains(t, err, "p.yaml:2: ", text)
	}
}
