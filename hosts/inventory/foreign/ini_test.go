package foreign_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
)

// What stands behind a # in the variables of a group is a comment only where Python reads a literal before it.
func TestACommentEndsALiteralAlone(t *testing.T) {
	for text, want := range map[string]string{
		"5 # c": "5", "0x16 # c": "22", "1_0 # c": "10", "00 # c": "0", `"a" # c`: "a", "None # c": "",
		"007 # c": "REFUSED", "bob # c": "REFUSED", "no # c": "REFUSED", "inf # c": "REFUSED", "5 5 # c": "REFUSED",
	} {
		inv, err := foreign.ParseAnsible("hosts", []byte("[g]\nh\n[g:vars]\nansible_user="+text+"\n"))
		require.NoError(t, err)
		line := show(inv)[0]
		switch want {
		case "":
			assert.NotContains(t, line, "user", text)
		default:
			assert.Contains(t, line, "user~"+want, text)
		}
	}
}

// Ansible gives the variables of a host to the group that has its name already.
func TestVariablesOfAHostWithTheNameOfAGroupAreTheGroups(t *testing.T) {
	for name, text := range map[string]string{
		"hosts":     "[web]\nweb\nh2\n[web:vars]\nansible_user=gu\n[db]\nweb ansible_port=2222\n",
		"hosts.yml": "web:\n  hosts: {web: , h2: }\n  vars: {ansible_user: gu}\ndb:\n  hosts: {web: {ansible_port: 2222}}\n",
	} {
		inv, err := foreign.ParseAnsible(name, []byte(text))
		require.NoError(t, err)
		assert.Equal(t, []string{"web port~2222 user~gu", "h2 port~2222 user~gu"}, show(inv)[:2], name)
	}
}

// Numbers and truth values are what playbooks of Ansible's get: written as Python writes them.
func TestNumbersAndTruthValuesAreAsPythonWritesThem(t *testing.T) {
	for text, want := range map[string][2]string{ // in INI, and in YAML
		"1.10": {"1.1", "1.1"}, "1e3": {"1000.0", "1e3"}, "22.": {"22.0", "22.0"}, "True": {"True", "True"}, "yes": {"yes", "True"}, "off": {"off", "False"},
		`"yes"`: {"yes", "yes"}, `"1.10"`: {"1.10", "1.10"}, "1.2.3": {"1.2.3", "1.2.3"}, "+5": {"5", "5"}, "y": {"y", "y"}, "e": {"e", "e"}, "None": {"", "None"},
	} {
		for i, name := range []string{"hosts", "hosts.yml"} {
			inv, err := foreign.ParseAnsible(name, []byte([]string{"[g]\nh\n[g:vars]\nansible_user=" + text, "g: {hosts: {h: }, vars: {ansible_user: " + text + "}}"}[i]+"\n"))
			require.NoError(t, err)
			line := "h user~" + want[i]
			if want[i] == "" {
				line = "h"
			}
			assert.Equal(t, line, show(inv)[0], "%s in %s", text, name)
		}
	}
}
