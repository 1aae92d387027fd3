package inventory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// quiet reads no environment.
var quiet = inventory.Options{Environ: []string{}}

func parse(t *testing.T, name, text string) *hosts.Inventory {
	t.Helper()
	inv, _, err := inventory.Parse([]byte(text), name, quiet)
	require.NoError(t, err)
	return inv
}

func lookup(t *testing.T, inv *hosts.Inventory, name string) hosts.Host {
	t.Helper()
	h, err := inv.Lookup(name)
	require.NoError(t, err)
	return h
}

// The same inventory in the three formats, with everything an entry can say.
var everything = map[string]string{
	"x.yaml": `
version: 1
hosts:
  - name: Gate.Example.com
  - name: web01
    groups: [web]
    addr: 10.0.0.11
    port: 2222
    user: root
    via: [Gate.Example.com]
    labels: ["Env=Prod", "note=a=b, c"]
    tier: prod
    identity: ["~/.ssh/id_ed25519"]
    ssh_config: none
    connect_timeout: 2m30s
    shell: mksh
    login: true
    env: ["MyVar=A.b", "LANG=C.UTF-8"]
    ready: [{match: docker, check: "docker info", start: "systemctl start docker", wait: 30s}]
  - name: box
    transport: command
    command: [docker, exec, -i, box, sh]
groups:
  - name: web
`,
	"x.json": `{
  "version": 1,

  "hosts": [
    {"name": "Gate.Example.com"},
    {
      "name": "web01", "groups": ["web"], "addr": "10.0.0.11", "port": 2222, "user": "root",
      "via": ["Gate.Example.com"], "labels": ["Env=Prod", "note=a=b, c"], "tier": "prod",
      "identity": ["~/.ssh/id_ed25519"], "ssh_config": "none", "connect_timeout": "2m30s",
      "shell": "mksh", "login": true, "env": ["MyVar=A.b", "LANG=C.UTF-8"],

      "ready": [{"match": "docker", "check": "docker info", "start": "systemctl start docker", "wait": "30s"}]
    },




    {
      "name": "box",
      "transport": "command", "command": ["docker", "exec", "-i", "box", "sh"]}
  ],
  "groups": [{"name": "web"}]
}`,
	"x.toml": `version = 1


[[hosts]]
name = "Gate.Example.com"
[[hosts]]
groups = ["web"]
name = "web01"
addr = "10.0.0.11"
port = 2222
user = 'root'
via = [
  "Gate.Example.com",
]
labels = ["Env=Prod", "note=a=b, c"]
tier = "prod"
identity = ["~/.ssh/id_ed25519"]
ssh_config = "none"
connect_timeout = "2m30s"
shell = "mksh"
login = true
env = ["MyVar=A.b", "LANG=C.UTF-8"]


[[hosts.ready]]
match = "docker"
check = "docker info"
start = "systemctl start docker"
wait = "30s"
[[hosts]]
name = "box"
transport = "command"
command = ["docker", "exec", "-i", "box", "sh"]
[[groups]]
name = "web"
`,
}

func TestTheThreeFormatsSayTheSame(t *testing.T) {
	lines := map[string][]int{"x.yaml": {4, 5, 20}, "x.json": {5, 6, 18}, "x.toml": {4, 6, 30}}
	for name, text := range everything {
		t.Run(name, func(t *testing.T) {
			inv := parse(t, name, text)
			want := []hosts.Host{
				{Name: "Gate.Example.com"},
				{
					Name: "web01", Addr: "10.0.0.11", Port: 2222, User: "root", Via: []string{"Gate.Example.com"},
					Groups: []string{"web"}, Labels: map[string]string{"Env": "Prod", "note": "a=b, c"}, Tier: "prod",
					Identity: []string{"~/.ssh/id_ed25519"}, SSHConfig: "none", Shell: "ksh", Login: true,
					Env: []string{"MyVar=A.b", "LANG=C.UTF-8"},
					Ready: []hosts.Ready{{
						Match: "docker", Check: "docker info", Start: "systemctl start docker", Wait: 30 * time.Second,
					}},
					ConnectTimeout: 150 * time.Second,
				},
				{Name: "box", Transport: hosts.Command, Command: []string{"docker", "exec", "-i", "box", "sh"}},
			}
			for i := range want {
				want[i].Source = hosts.Pos{File: name, Line: lines[name][i]}
			}
			assert.Equal(t, want, slices.Collect(inv.All()))
			assert.Equal(t, []string{"web01"}, slices.Collect(inv.Groups())[0].Hosts)
		})
	}
}

func TestTheExampleLoadsWithoutAWarning(t *testing.T) {
	inv, warnings, err := inventory.Load("../../inventory.example.yaml", quiet)
	require.NoError(t, err)
	assert.Empty(t, warnings)

	var got []hosts.Host
	for h := range inv.All() {
		h.Source = hosts.Pos{}
		got = append(got, h)
	}
	demo := func(name, ring string, groups ...string) hosts.Host {
		return hosts.Host{
			Name: name, Transport: hosts.Demo, Groups: groups, Tier: "dev", ConnectTimeout: 10 * time.Second,
			Labels: map[string]string{"role": "web", "ring": ring},
		}
	}
	assert.Equal(t, []hosts.Host{
		{Name: "here", Transport: hosts.Local, Tier: "dev", ConnectTimeout: 10 * time.Second},
		demo("demo1", "first", "canary", "demo"),
		demo("demo2", "second", "demo"),
		demo("demo3", "second", "demo"),
	}, got)
}

func TestHostsKeepTheOrderOfTheFile(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
groups:
  - name: web
    hosts: ["web[01-03]", gate]
  - name: db
    hosts: [db1, web02]
hosts:
  - {name: zeta}
  - {name: web02, user: root}
`)
	var got []string
	for h := range inv.All() {
		got = append(got, h.Name)
	}
	assert.Equal(t, []string{"web01", "web03", "gate", "db1", "zeta", "web02"}, got)
	assert.Equal(t, []string{"web", "db"}, lookup(t, inv, "web02").Groups)
	assert.Equal(t, "x.yaml:5", lookup(t, inv, "web03").Source.String(), "a host that only a group lists")
	assert.Equal(t, "root", lookup(t, inv, "web02").User)
}

func TestARangeOfHostsMayHaveARangeOfAddresses(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
hosts:
  - {name: "web[01-03]", addr: "10.0.0.[11-13]"}
  - {name: "p[1-2]", addr: "2001:db8::1"}
`)
	assert.Equal(t, "10.0.0.12", lookup(t, inv, "web02").Addr)
	assert.Equal(t, "2001:db8::1", lookup(t, inv, "p2").Addr)
}

func TestScalarsAreReadAsTheyAreWritten(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
hosts:
  - {name: 0042, user: 1e3, tier: no}
  - {name: on, labels: [v=0x10, "e="]}
`)
	h := lookup(t, inv, "0042")
	assert.Equal(t, "1e3", h.User)
	assert.Equal(t, "no", h.Tier)
	assert.Equal(t, map[string]string{"v": "0x10", "e": ""}, lookup(t, inv, "on").Labels)
}

func TestAnchorsMayBeShared(t *testing.T) {
	inv := parse(t, "x.yaml", `
version: 1
hosts:
  - {name: a, env: &e [A=1, B=2]}
  - {name: b, env: *e}
`)
	assert.Equal(t, []string{"A=1", "B=2"}, lookup(t, inv, "b").Env)
}

func TestWhoHasNoTierIsSaidOnce(t *testing.T) {
	_, warnings, err := inventory.Parse([]byte(`
version: 1
hosts:
  - {name: here, transport: local}
  - {name: d1, transport: demo}
  - {name: ok, tier: dev}
  - {name: "web[01-12]"}
  - {name: db}
`), "x.yaml", quiet)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Equal(t, "x.yaml:7: 13 hosts have no tier and count as prod: db,web[01-12]; give them one, or set tier: on a group or in defaults",
		warnings[0].String())
}

func TestVariablesOverrideDefaults(t *testing.T) {
	text := []byte(`
version: 1
defaults: {user: deploy, port: 22, labels: [a=1, b=2], env: [A=1], ssh_config: ~/.ssh/config}
hosts:
  - {name: plain}
  - {name: own, user: root}
`)
	inv, _, err := inventory.Parse(text, "x.yaml", inventory.Options{Environ: []string{
		"FAIRLEAD_DEFAULTS_USER=ops", "FAIRLEAD_DEFAULTS_LABELS=b=3,c=4", "FAIRLEAD_DEFAULTS_PORT=",
		`FAIRLEAD_DEFAULTS_ENV=["X=1,2", "Y=3"]`, "FAIRLEAD_DEFAULTS_CONNECT_TIMEOUT=3s", "FAIRLEAD_INVENTORY=elsewhere",
		"PATH=/bin",
	}})
	require.NoError(t, err)
	h := lookup(t, inv, "plain")
	assert.Equal(t, "ops", h.User)
	assert.Equal(t, uint16(22), h.Port, "an empty variable is not set")
	assert.Equal(t, map[string]string{"b": "3", "c": "4"}, h.Labels)
	assert.Equal(t, []string{"X=1,2", "Y=3"}, h.Env)
	assert.Equal(t, 3*time.Second, h.ConnectTimeout)
	assert.Equal(t, "~/.ssh/config", h.SSHConfig, "~ is expanded by who opens the file")
	assert.Equal(t, "root", lookup(t, inv, "own").User, "only defaults are overridden")
}

func TestVariablesAreAsStrictAsTheFile(t *testing.T) {
	_, _, err := inventory.Parse([]byte("version: 1\nhosts: [{name: a}]"), "x.yaml", inventory.Options{Environ: []string{
		"FAIRLEAD_DEFAULTS_USR=ops", "FAIRLEAD_DEFAULTS_PORT=none", "FAIRLEAD_DEFAULTS_COMMAND=docker exec", "FAIRLEAD_DEFAULTS_VIA=a,gone",
		"FAIRLEAD_DEFAULTS_BECOME=r/t", "FAIRLEAD_DEFAULTS_ENV=[s3cret", "FAIRLEAD_DEFAULTS_IDENTITY=\x01",
	}})
	assert.EqualError(t, err, `hosts: $FAIRLEAD_DEFAULTS_BECOME: become: "r/t" must not contain '/'
hosts: $FAIRLEAD_DEFAULTS_COMMAND: command needs YAML: begin the value with [ or {
hosts: $FAIRLEAD_DEFAULTS_ENV: the value begins like a list or mapping but is not valid YAML
hosts: $FAIRLEAD_DEFAULTS_IDENTITY: identity: the value holds the control character U+0001
hosts: $FAIRLEAD_DEFAULTS_PORT: port: "none" is not between 1 and 65535
hosts: $FAIRLEAD_DEFAULTS_USR: USR is not a field of a host (did you mean USER?)
hosts: $FAIRLEAD_DEFAULTS_VIA: via "gone" is not a host of this inventory
hosts: $FAIRLEAD_DEFAULTS_VIA: via leads in a circle: a > a; a jump host in the group it serves needs via: []`)
}

func TestAFileThatIsNotThereSaysSo(t *testing.T) {
	path := t.TempDir() + "/none.yaml"
	_, _, err := inventory.Load(path, quiet)
	assert.EqualError(t, err, "inventory: there is no file "+path)
	_, _, err = inventory.Load(t.TempDir(), inventory.Options{Format: "yaml"})
	assert.ErrorContains(t, err, "inventory: cannot read the file: ")
}

func TestAnUnknownTierCountsAsNone(t *testing.T) {
	inv, _, err := inventory.Parse([]byte("version: 1\ndefaults: {tier: dev}\nhosts:\n  - {name: a, tier: unknown}\n  - {name: b}\n"), "x.yaml", inventory.Options{})
	require.NoError(t, err)
	a, err := inv.Lookup("a")
	require.NoError(t, err)
	assert.Empty(t, a.Tier)
	assert.Equal(t, hosts.Prod, a.TierName())
	b, err := inv.Lookup("b")
	require.NoError(t, err)
	assert.Equal(t, hosts.Dev, b.Tier)
}
