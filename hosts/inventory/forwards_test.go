package inventory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

func TestAHostSaysWhatIsForwarded(t *testing.T) {
	inv, _, err := inventory.Parse([]byte(`
version: 1
defaults: {forwards: ["-D 1080"]}
hosts:
  - name: web1
  - {name: db, forwards: ["-L 5432:localhost:5432", "-R *:0:[::1]:80", "-L /run/x:${HOME}/y"]}
  - {name: none, forwards: []}
  - {name: here, transport: local}
`), "x.yaml", inventory.Options{})
	require.NoError(t, err)
	for name, want := range map[string][]hosts.Forward{
		"web1": {{Option: "-D", Bind: "localhost", Port: 1080}},
		"db":   {{Option: "-L", Bind: "localhost", Port: 5432, Host: "localhost", To: 5432}, {Option: "-R", Host: "::1", To: 80}, {Option: "-L", Bind: "/run/x", Host: "${HOME}/y"}},
		"none": {}, "here": nil,
	} {
		assert.Equal(t, want, lookup(t, inv, name).Forwards, name)
	}
	for text, want := range map[string]string{
		`["-L 1:2"]`:     `x.yaml:3: forwards: "1:2" is not [address:]port:host:port`,
		`["8080:db:80"]`: `is not -L, -R or -D and what it forwards, as in: -L 8080:localhost:80`,
		`["-L /run/x"]`:  `x.yaml:3: forwards: "/run/x" is not [address:]port:host:port; the path of a socket may stand for`,
		`["-L x:a:1"]`:   `the port to listen on must be between 0 (any) and 65535`,
		`-D 1080`:        `expected a list`,
	} {
		_, _, err := inventory.Parse([]byte("version: 1\nhosts:\n  - {name: a, forwards: "+text+"}\n"), "x.yaml", inventory.Options{})
		assert.ErrorContains(t, err, want, text)
	}
	for _, f := range lookup(t, inv, "db").Forwards {
		again, err := hosts.ParseForwardLine(f.String())
		require.NoError(t, err)
		assert.Equal(t, f, again)
	}
}
