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
