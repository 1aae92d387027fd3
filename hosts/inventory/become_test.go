package inventory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

func TestAHostSaysWhomToBecome(t *testing.T) {
	inv, _, err := inventory.Parse([]byte(`
version: 1
defaults: {become: root}
groups:
  - {name: db, become: {user: postgres, method: su}, hosts: [db1, db2]}
hosts:
  - name: web1
  - {name: plain, become: none}
  - {name: empty, become: ""}
  - {name: short, become: app by doas}
  - {name: bare, become: {method: sudo-rs}}
rules:
  - {match: db2, set: {become: {user: dba}}}
`), "x.yaml", inventory.Options{})
	require.NoError(t, err)
	for name, want := range map[string]hosts.Become{
		"web1": {User: "root"}, "plain": {}, "empty": {}, "short": {User: "app", Method: "doas"}, "bare": {User: "root", Method: "sudo-rs"},
		"db1": {User: "postgres", Method: "su"}, "db2": {User: "dba"},
	} {
		assert.Equal(t, want, lookup(t, inv, name).Become, name)
	}
}
