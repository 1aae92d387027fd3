package inventory_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Inventories that nobody has thought of: which of many variables counts for a host is decided as Ansible decides it.
func TestHostsOfRandomInventoriesAreWhatAnsibleSaysOfThem(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			texts := randomInventory(rand.New(rand.NewPCG(seed, 19)))
			dir := files(t, texts)
			path := filepath.Join(dir, "inv")
			want := askAnsible(t, path)
			inv, _, err := load(t, dir, "inv")
			require.NoError(t, err)
			require.NotZero(t, inv.Len())
			assert.Equal(t, len(want.groups), inv.Len())
			for h := range inv.All() {
				same(t, want, h)
			}
			if t.Failed() {
				for name, text := range texts {
					t.Logf("%s:\n%s", name, text)
				}
			}
		})
	}
}

// randomInventory is a directory with files in both forms, and variables at every level.
func randomInventory(r *rand.Rand) map[string]string {
	const groups, hosts = 9, 24
	names := make([]string, groups)
	for i, n := range r.Perm(26)[:groups] {
		names[i] = string(rune('a'+n)) + "grp"
	}
	host := func() string { return fmt.Sprintf("h%02d", r.IntN(hosts)) }
	n := 0
	// vars returns some variables, whose values are found nowhere else.
	vars := func() (set [][2]string) {
		for _, v := range []struct{ name, value string }{
			{"ansible_user", "u%d"}, {"ansible_port", "%d"}, {"ansible_host", "192.0.2.%d"}, {"ansible_ssh_private_key_file", "/keys/%d"},
			{"ansible_timeout", "%d"}, {"ansible_become_user", "b%d"}, {"ansible_become", "yes"}, {"app", "%d"},
		} {
			if r.IntN(4) == 0 {
				n++
				if value := v.value; strings.Contains(value, "%d") {
					v.value = fmt.Sprintf(value, n%250+1)
				}
				set = append(set, [2]string{v.name, v.value})
			}
		}
		return set
	}
	yamlVars := func(set [][2]string) string {
		var out []string
		for _, kv := range set {
			out = append(out, kv[0]+": "+kv[1])
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	texts := map[string]string{}
	for i := range 2 {
		var ini strings.Builder
		fmt.Fprintf(&ini, "%s\n", host())
		for g, name := range names {
			switch r.IntN(4) {
			case 0:
				fmt.Fprintf(&ini, "[%s]\n", name)
				for range r.IntN(4) {
					ini.WriteString(host())
					for _, kv := range vars() {
						ini.WriteString(" " + kv[0] + "=" + kv[1])
					}
					ini.WriteString("\n")
				}
			case 1:
				if g+1 < groups { // a group holds later ones only
					fmt.Fprintf(&ini, "[%s]\n[%s:children]\n", name, name)
					child := names[g+1+r.IntN(groups-g-1)]
					fmt.Fprintf(&ini, "%s\n[%s]\n", child, child)
				}
			case 2:
				fmt.Fprintf(&ini, "[%s]\n[%s:vars]\n", name, name)
				for _, kv := range vars() {
					fmt.Fprintf(&ini, "%s = %s\n", kv[0], kv[1])
				}
				if r.IntN(3) == 0 {
					fmt.Fprintf(&ini, "ansible_group_priority=%d\n", r.IntN(4))
				}
			}
		}
		texts[fmt.Sprintf("inv/%d0-ini", i)] = ini.String()
		var y strings.Builder
		for g, name := range names {
			if r.IntN(3) == 0 {
				continue
			}
			fmt.Fprintf(&y, "%s:\n  vars: %s\n  hosts:\n    %s: %s\n    \"h%02d\":\n", name, yamlVars(vars()), host(), yamlVars(vars()), hosts+r.IntN(4))
			if g+1 < groups && r.IntN(2) == 0 {
				fmt.Fprintf(&y, "  children:\n    %s: {vars: %s}\n", names[g+1+r.IntN(groups-g-1)], yamlVars(vars()))
			}
		}
		texts[fmt.Sprintf("inv/%d5.yml", i)] = "ungrouped: {hosts: {" + host() + ": }}\n" + y.String()
	}
	for _, name := range append(names, "all", "ungrouped") {
		switch r.IntN(6) {
		case 0:
			texts["inv/group_vars/"+name+".yml"] = yamlVars(vars())
		case 1:
			texts["inv/group_vars/"+name+"/b.yml"], texts["inv/group_vars/"+name+"/a.yaml"] = yamlVars(vars()), yamlVars(vars())
		case 2:
			texts["inv/group_vars/"+name] = yamlVars(vars())
		}
	}
	for range 4 {
		texts["inv/host_vars/"+host()+".yml"] = yamlVars(vars())
	}
	return texts
}
