package inventory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file that is given with -i is Ansible's whatever it is called, unless it is one of Fairlead's.
func TestInventoriesOfAnsibleHaveAnyName(t *testing.T) {
	dir := files(t, map[string]string{
		"hosts.txt":           "a\n[web]\nb\n",
		"prod.example.com":    "web:\n  hosts: {a: , b: }\n",
		"typo.yml":            "web:\n  hosts: {a: , b: }\n  varz: {x: 1}\n",
		"inventory.yaml.orig": "version: 1\nhosts: [{name: a}, {name: b}]\n",
	})
	for _, name := range []string{"hosts.txt", "prod.example.com", "typo.yml"} {
		inv, _, err := load(t, dir, name)
		require.NoError(t, err, name)
		assert.Equal(t, 2, inv.Len(), name)
	}
	_, _, err := load(t, dir, "inventory.yaml.orig")
	assert.ErrorContains(t, err, `the extension "orig" is not one of yaml`)
}

func TestFilesOfOtherFormsAreRefusedWithTheirForm(t *testing.T) {
	dir := files(t, map[string]string{
		"hosts":      "127.0.0.1 localhost\n10.0.0.1 db1\n",
		"machines":   "web1 root\n",
		"local.cfg":  "web: w[1-3]\n",
		"roles.yaml": "Roles:\n  web: w[1-3]\n",
		"short.json": `{"web": ["a"]}`,
	})
	for name, want := range map[string]string{
		"hosts":      "word 2 has no =; to read a file like /etc/hosts, write: fairlead hosts import --format hosts " + dir + "/hosts",
		"machines":   "word 2 has no =; an account is written ansible_user=NAME",
		"local.cfg":  `"web:" ends in a colon without a port; to read clush's groups, write: fairlead hosts import --format clush ` + dir + "/local.cfg",
		"roles.yaml": "this is not an inventory: one of Fairlead's begins with version: 1, and one of Ansible's has groups with hosts, vars or children; for clush's groups, write: fairlead hosts import --format clush " + dir + "/roles.yaml",
		"short.json": "this is not an inventory: one of Fairlead's begins with version: 1",
	} {
		_, _, err := load(t, dir, name)
		assert.ErrorContains(t, err, want, name)
	}
}

// A host that is left out is not one of "all": it is said by name, and not as a setting.
func TestHostsThatAreLeftOutAreReportedAsSuch(t *testing.T) {
	dir := files(t, map[string]string{
		"one": "root@10.0.0.1\nweb1 ansible_foo=1\n",
		"two": "root@10.0.0.1\nroot@10.0.0.2\nweb1\n",
	})
	said := func(name string) (out []string) {
		_, warnings, err := load(t, dir, name)
		require.NoError(t, err)
		for _, w := range warnings {
			if s := strings.TrimPrefix(w.String(), dir+"/"); !strings.Contains(s, "no tier") {
				out = append(out, s)
			}
		}
		return out
	}
	assert.Equal(t, []string{
		`one:1: host "root@10.0.0.1" is left out: a host's name must not contain '@'; write 10.0.0.1 ansible_user=root`,
		"one:2: 1 setting has no counterpart; list them with: fairlead hosts import " + dir + "/one",
	}, said("one"))
	assert.Equal(t, []string{"two:1: 2 hosts are left out, because of their names; list them with: fairlead hosts import " + dir + "/two"}, said("two"))
}
