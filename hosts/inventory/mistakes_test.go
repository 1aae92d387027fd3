package inventory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// complaints returns the text of each problem, checking that each has a place.
func complaints(t *testing.T, err error) []string {
	t.Helper()
	require.Error(t, err)
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	var out []string
	for _, e := range list {
		var pe *hosts.ParseError
		require.ErrorAs(t, e, &pe)
		assert.NotZero(t, pe.Pos.Line, "%v", e)
		out = append(out, strings.TrimPrefix(e.Error(), "hosts: "))
	}
	return out
}

// Each case is one mistake (or a few) in an inventory that is otherwise right, with the exact line of each complaint.
// The text of a case begins on line 2; line 1 is the version.
func TestEveryMistakeIsToldWithItsLine(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"an unknown section": {"host:\n  - {name: a}", []string{
			`x.yaml:2: unknown key "host" at the top (did you mean hosts?)`}},
		"a section in capitals": {"Hosts:\n  - {name: a}", []string{
			`x.yaml:2: unknown key "Hosts" at the top (did you mean hosts?)`}},
		"an unknown field of a host": {"hosts:\n  - name: a\n    usr: root\n    prot: 22", []string{
			`x.yaml:4: unknown key "usr" in a host (did you mean user?)`,
			`x.yaml:5: unknown key "prot" in a host (did you mean port?)`}},
		"an unknown field of a group": {"groups:\n  - name: g\n    host: [a]", []string{
			`x.yaml:4: unknown key "host" in a group (did you mean hosts?)`}},
		"an unknown default": {"defaults:\n  users: a", []string{
			`x.yaml:3: unknown key "users" in defaults (did you mean user?)`}},
		"an unknown key of a rule": {"rules:\n  - {match: all, sets: {tier: dev}}", []string{
			`x.yaml:3: a rule without set: say what it changes`,
			`x.yaml:3: unknown key "sets" in rules (did you mean set?)`}},
		"an unknown field in set": {"rules:\n  - match: all\n    set: {groups: [a]}", []string{
			`x.yaml:4: unknown key "groups" in set`}},
		"a key twice": {"hosts:\n  - name: a\n    user: x\n    user: y", []string{
			`x.yaml:5: "user" is there twice; first on line 4`}},

		"a host without a name": {"hosts:\n  - {addr: a}", []string{`x.yaml:3: a host without a name`}},
		"a host that is a word": {"hosts:\n  - web1", []string{
			`x.yaml:3: a host: expected a mapping, as in {name: …}, not a single value`}},
		"hosts that are a mapping": {"hosts:\n  web1: {}", []string{
			`x.yaml:3: hosts: expected a list, as in [a, b], not a mapping`}},
		"a bad name":        {"hosts:\n  - name: -x", []string{`x.yaml:3: host name "-x": a name must not begin with '-'`}},
		"a glob for a name": {"hosts:\n  - name: web*", []string{`x.yaml:3: host name "web*": unexpected '*' in a name`}},
		"the word all for a name": {"hosts:\n  - name: all", []string{
			`x.yaml:3: host name "all": "all" is a word of selectors: "all" means every host`}},
		"a bad range": {"hosts:\n  - name: web[3-1]", []string{
			`x.yaml:3: host name "web[3-1]": bad range [3-1]: 3 is after 1`}},
		"a range too large": {"hosts:\n  - name: web[1-200000]", []string{
			`x.yaml:3: host name "web[1-200000]": more than 100000 names`}},
		"ranges too large together": {"hosts:\n  - name: a[1-60000]\n  - name: b[1-60000]", []string{
			`x.yaml:4: more than 100000 hosts`}},
		"a name that is nothing": {"hosts:\n  - name:", []string{`x.yaml:3: name: a value is missing; the empty text is ""`}},
		"a name twice": {"hosts:\n  - name: a\n  - name: b\n  - name: a", []string{
			`x.yaml:5: host a is there twice; first on line 3`}},
		"ranges that overlap": {"hosts:\n  - name: web[01-04]\n  - name: web[03-06]", []string{
			`x.yaml:4: host web[03-04] is there twice; first on line 3`}},

		"an address with a port": {"hosts:\n  - {name: a, addr: \"b:22\"}", []string{
			`x.yaml:3: addr: "b:22" must not hold a port: that has a field of its own`}},
		"an address with a user": {"hosts:\n  - {name: a, addr: root@b}", []string{
			`x.yaml:3: addr: "root@b" must not hold a user: that has a field of its own`}},
		"an address in brackets": {"hosts:\n  - {name: a, addr: \"[::1]\"}", []string{
			`x.yaml:3: addr: "[::1]" is an address without brackets, and the port has a field of its own`}},
		"an address like an option": {"hosts:\n  - {name: a, addr: -oX}", []string{
			`x.yaml:3: addr: "-oX" must not begin with '-'`}},
		"addresses for fewer hosts": {"hosts:\n  - name: a[1-3]\n    addr: 10.0.0.[1-2]", []string{
			`x.yaml:4: addr: a range of 2 addresses for a range of 3 hosts`}},
		"addresses for one host": {"hosts:\n  - name: a\n    addr: 10.0.0.[1-2]", []string{
			`x.yaml:4: addr: a range is for entries of hosts whose name is one too`}},
		"port zero": {"hosts:\n  - {name: a, port: 0}", []string{`x.yaml:3: port: "0" is not between 1 and 65535`}},
		"a port too large": {"hosts:\n  - {name: a, port: 65536}", []string{
			`x.yaml:3: port: "65536" is not between 1 and 65535`}},
		"a port that is a list": {"hosts:\n  - {name: a, port: [22]}", []string{
			`x.yaml:3: port: expected a single value, not a list`}},
		"a user like an option": {"hosts:\n  - {name: a, user: -l}", []string{`x.yaml:3: user: "-l" must not begin with -`}},
		"via that is a word": {"hosts:\n  - {name: a, via: b}\n  - name: b", []string{
			`x.yaml:3: via: expected a list, as in [a, b], not a single value`}},
		"via that is nobody": {"hosts:\n  - name: a\n    via:\n      - bastoin\n  - name: bastion", []string{
			`x.yaml:5: via "bastoin" is not a host of this inventory (did you mean bastion?)`}},
		"via with a user": {"hosts:\n  - {name: a, via: [root@b]}", []string{
			`x.yaml:3: via: "root@b" must not contain '@'; it names a host of this inventory`}},
		"via itself": {"hosts:\n  - {name: a, via: [a]}", []string{
			`x.yaml:3: via leads in a circle: a > a; a jump host in the group it serves needs via: []`}},
		"via in a circle": {"hosts:\n  - {name: a, via: [b]}\n  - {name: b, via: [c]}\n  - {name: c, via: [b]}", []string{
			`x.yaml:5: via leads in a circle: b > c > b; a jump host in the group it serves needs via: []`}},
		"via a local shell": {"hosts:\n  - {name: a, via: [b]}\n  - {name: b, transport: local}", []string{
			`x.yaml:3: via "b" cannot be a jump host: its transport is local`}},
		"via of a group that holds its jump host": {"groups:\n  - name: dc\n    hosts: [gate, a]\n    via: [gate]", []string{
			`x.yaml:5: via leads in a circle: gate > gate; a jump host in the group it serves needs via: []`}},

		"labels that are a mapping": {"hosts:\n  - name: a\n    labels: {role: web}", []string{
			`x.yaml:4: labels: expected a list, as in [a, b], not a mapping`}},
		"a label without a value": {"hosts:\n  - name: a\n    labels: [a=1,\n      role]", []string{
			`x.yaml:5: labels: "role" is not key=value`}},
		"a label twice": {"hosts:\n  - name: a\n    labels: [a=1, a=2]", []string{`x.yaml:4: labels: "a" is there twice`}},
		"the tier as a label": {"hosts:\n  - name: a\n    labels: [tier=dev]", []string{
			`x.yaml:4: labels: "tier" is a field of its own: write tier: instead of a label`}},
		"a tier in capitals": {"hosts:\n  - {name: a, tier: Prod}", []string{
			`x.yaml:3: tier: "Prod" is not a word in small letters, such as prod, staging or dev`}},
		"a tier that would not be prod": {"hosts:\n  - {name: a, tier: production}", []string{
			`x.yaml:3: tier: "production" would not count as prod: write prod`}},
		"a timeout without a unit": {"hosts:\n  - {name: a, connect_timeout: 10}", []string{
			`x.yaml:3: connect_timeout: 10 has no unit: write 10s for seconds`}},
		"a timeout of nothing": {"hosts:\n  - {name: a, connect_timeout: 0s}", []string{
			`x.yaml:3: connect_timeout: 0s is too short`}},
		"a timeout in words": {"hosts:\n  - {name: a, connect_timeout: soon}", []string{
			`x.yaml:3: connect_timeout: "soon" is not a duration such as 10s or 2m30s`}},
		"an unknown shell": {"hosts:\n  - {name: a, shell: fish}", []string{
			`x.yaml:3: shell: "fish" is not one of auto, bash, zsh, ksh, mksh, dash, ash, sh`}},
		"an unknown transport": {"hosts:\n  - {name: a, transport: docker}", []string{
			`x.yaml:3: transport: "docker" is not one of ssh, local, command, demo`}},
		"a login that is not true or false": {"hosts:\n  - {name: a, login: yes}", []string{
			`x.yaml:3: login: must be true or false`}},
		"an environment without values": {"hosts:\n  - name: a\n    env:\n      - A=1\n      - hunter2", []string{
			`x.yaml:6: env: entry 2 is not KEY=value`}},
		"a variable twice": {"hosts:\n  - {name: a, env: [A=1, A=2]}", []string{`x.yaml:3: env: A is there twice`}},
		"a variable with NUL": {"hosts:\n  - {name: a, env: [\"A=\\0\"]}", []string{
			`x.yaml:3: env: the value holds the control character U+0000`}},
		"an empty identity": {"hosts:\n  - {name: a, identity: [\"\"]}", []string{`x.yaml:3: identity: must not be empty`}},
		"become by an unknown program": {"hosts:\n  - {name: a, become: {user: root, method: runas}}", []string{
			`x.yaml:3: become: "runas" is not one of sudo, sudo-rs, su, doas`}},
		"become without a value": {"hosts:\n  - {name: a, become: }", []string{
			`x.yaml:3: become: a value is missing; the empty text is ""`}},
		"become without a user": {"hosts:\n  - {name: a, become: {user: \"\"}}", []string{`x.yaml:3: become: user must not be empty`}},
		"become with an unknown key": {"hosts:\n  - {name: a, become: {user: root, password: x}}", []string{
			`x.yaml:3: unknown key "password" in become`}},
		"become everywhere else": {"defaults:\n  become: {user: a b}\ngroups:\n  - {name: g, become: -x}\nrules:\n  - match: a\n    set: {become: root by}\nhosts: [{name: a}]", []string{
			`x.yaml:3: become: "a b" must not contain ' '`,
			`x.yaml:5: become: "-x" must not begin with -`,
			`x.yaml:8: become: "root by" must not contain ' '`}},
		"ready without a check": {"hosts:\n  - name: a\n    ready:\n      - {match: docker}", []string{
			`x.yaml:5: ready: match and check are required`}},
		"ready with a bad wait": {"hosts:\n  - name: a\n    ready:\n      - {match: d, check: c,\n         wait: -1s}", []string{
			`x.yaml:6: wait: -1s is too short`}},
		"the command transport without a command": {"hosts:\n  - name: a\n    transport: command", []string{
			`x.yaml:4: transport command needs a command, as in command: [docker, exec, -i, box, sh]`}},
		"a command without its transport": {"hosts:\n  - name: a\n    command: [sh]", []string{
			`x.yaml:4: command goes with transport: command only`}},
		"a command that is one text": {"hosts:\n  - {name: a, transport: command,\n     command: docker exec}", []string{
			`x.yaml:3: transport command needs a command, as in command: [docker, exec, -i, box, sh]`,
			`x.yaml:4: command: expected a list, as in [a, b], not a single value`}},
		"an address of a local shell": {"hosts:\n  - name: a[1-2]\n    transport: local\n    port: 22\n    user: root", []string{
			`x.yaml:5: port has no meaning for transport local`,
			`x.yaml:6: user has no meaning for transport local`}},

		"a group without a name": {"groups:\n  - {hosts: [a]}", []string{`x.yaml:3: a group without a name`}},
		"a bad name of a group":  {"groups:\n  - name: a b", []string{`x.yaml:3: group name "a b" must not contain ' '`}},
		"a group twice": {"groups:\n  - name: g\n  - name: g", []string{
			`x.yaml:4: group "g" is there twice; first on line 3`}},
		"a child that is not a group": {"groups:\n  - name: web\n    children:\n      - canray\n  - name: canary", []string{
			`x.yaml:5: group "web" has the child "canray", which is not a group (did you mean canary?)`}},
		"a child twice": {"groups:\n  - {name: g, children: [a, a]}\n  - name: a", []string{
			`x.yaml:3: children: "a" is there twice`}},
		"a group inside itself": {"groups:\n  - {name: g, children: [g]}", []string{
			`x.yaml:3: groups inside each other: g > g`}},
		"groups in a circle": {"groups:\n  - {name: a, children: [b]}\n  - {name: b, children: [c]}\n  - {name: c, children: [a]}", []string{
			`x.yaml:5: groups inside each other: a > b > c > a`}},
		"a host in no such group": {"hosts:\n  - name: a\n    groups: [wbe]\ngroups:\n  - name: web", []string{
			`x.yaml:4: group "wbe" does not exist (did you mean web?)`}},
		"a glob in a group": {"groups:\n  - name: g\n    hosts:\n      - web*", []string{
			`x.yaml:5: host name "web*": unexpected '*' in a name`}},
		"a host twice in a group": {"groups:\n  - name: g\n    hosts: [\"a[1-3]\",\n      a2]", []string{
			`x.yaml:5: hosts: a2 is in this list twice`}},

		"a rule without match": {"rules:\n  - set: {tier: dev}", []string{
			`x.yaml:3: a rule without match: say which hosts it is for`}},
		"a rule with a bad selector": {"rules:\n  - match: \"web*,,\"\n    set: {tier: dev}", []string{
			`x.yaml:3: match "web*,,": selector, column 6: expected a host, a group or a label, but found ','`}},
		"a rule with a bad regular expression": {"rules:\n  - set: {tier: dev}\n    match: \"~(\"", []string{
			`x.yaml:4: match "~(": selector, column 2: ) is missing in the regular expression; put it in quotes if it has none`}},
		"a rule that reads a file": {"rules:\n  - {match: ^/etc/passwd, set: {tier: dev}}", []string{
			`x.yaml:3: match "^/etc/passwd": selector, column 1: file /etc/passwd: lists of hosts are read by the command line only; name the hosts instead`}},
		"a rule about nobody": {"rules:\n  - match: web1,@db\n    set: {tier: dev}\nhosts:\n  - name: web01", []string{
			`x.yaml:3: match: no host named web1, and no group named @db (did you mean web01?)`}},
		"a rule with a bad field": {"rules:\n  - match: all\n    set:\n      tier: DEV", []string{
			`x.yaml:5: tier: "DEV" is not a word in small letters, such as prod, staging or dev`}},

		"sources": {"sources:\n  - {ansible: ./hosts.ini}\n  - {program: [\"./ec2.py\", \"--list\"], cache: 5m}\n  - {csv: a, clush: b}\n  - {exec: x}\n  - {csv: a, cache: 1m, tier: PROD}\n  - x", []string{
			`x.yaml:3: sources: they are read for a file only, and this is a text`,
			`x.yaml:4: a source is one of ansible, exec, clush, hosts, csv, ssh_config`,
			`x.yaml:4: unknown key "program" in a source`,
			`x.yaml:5: a source is one of ansible, exec, clush, hosts, csv, ssh_config, and this one is two`,
			`x.yaml:6: exec: expected a list, as in [a, b], not a single value`,
			`x.yaml:6: sources: they are read for a file only, and this is a text`,
			`x.yaml:7: cache: only programs have it`,
			`x.yaml:7: sources: they are read for a file only, and this is a text`,
			`x.yaml:7: tier: "PROD" is not a word in small letters, such as prod, staging or dev`,
			`x.yaml:8: a source: expected a mapping, as in {ansible: …}, not a single value`}},
		"defaults that are a list": {"defaults:\n  - user: a", []string{
			`x.yaml:3: defaults: expected a mapping, as in {transport: …}, not a list`}},
		"a range of addresses for everybody": {"defaults:\n  addr: a[1-2]", []string{
			`x.yaml:3: addr: a range is for entries of hosts whose name is one too`}},
		"a tag": {"hosts:\n  - name: !vault a", []string{`x.yaml:3: tags such as !vault are not supported`}},
		"a merge": {"defaults: &d {user: a}\nhosts:\n  - name: a\n    <<: *d", []string{
			`x.yaml:5: << is not supported: share fields through groups or defaults`}},
		"an unknown anchor": {"hosts:\n  - name: a\n    env: *e", []string{
			`x.yaml:4: not valid YAML: unknown anchor 'e' referenced`}},
		"an anchor inside itself": {"hosts: &h\n  - name: a\n    env: *h", []string{
			`x.yaml:3: more than 32 levels of lists and mappings`}},
		"a second document": {"hosts: []\n---\nversion: 1", []string{
			`x.yaml:3: a second document begins here; an inventory is one`}},
		"a tab for indentation": {"hosts:\n  - name: a\n\tuser: b", []string{
			`x.yaml:4: not valid YAML: found a tab character that violates indentation`}},
		"a colon too many": {"hosts:\n  - name: a: b", []string{
			`x.yaml:3: not valid YAML: mapping values are not allowed in this context`}},
		"a control character": {"hosts:\n  - name: a\x07", []string{`x.yaml:3: the file holds the control character U+0007`}},
		"no text":             {"hosts:\n  - name: \xff", []string{`x.yaml:3: the file is not UTF-8`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := inventory.Parse([]byte("version: 1\n"+tt.text), "x.yaml", quiet)
			assert.Equal(t, tt.want, complaints(t, err))
		})
	}
}

func TestTheFileAsAWholeCanBeWrong(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"empty":                      {"x.yaml", " \n", "x.yaml:1: the file is empty; an inventory begins with version: 1"},
		"comments only":              {"x.yaml", "# soon\n", "x.yaml:1: the file holds comments only; an inventory begins with version: 1"},
		"a list":                     {"x.yml", "\n- a", "x.yml:2: an inventory is a mapping that begins with version: 1, not a list"},
		"no version":                 {"x.yaml", "\nhosts: []", "x.yaml:2: version is missing: begin with version: 1"},
		"a version to come":          {"x.yaml", "hosts: []\nversion: 2", `x.yaml:2: version: "2" is not supported: this program reads version 1`},
		"an unknown extension":       {"x.ini", "", `x.ini:1: the extension "ini" is not one of yaml, yml, toml, json, nor one of another program's inventory (ini, csv)`},
		"no extension":               {"hosts", "", `hosts:1: the extension "" is not one of yaml, yml, toml, json, nor one of another program's inventory (ini, csv)`},
		"JSON, cut":                  {"x.json", "{\n\"version\": 1,\n\"hosts\": [", "x.json:3: not valid JSON: it ends in the middle"},
		"JSON, a comma too many":     {"x.json", "{\n\"version\": 1,\n}", "x.json:3: not valid JSON: invalid character '}' looking for beginning of object key string"},
		"JSON, more than one":        {"x.json", "{\"version\": 1}\n{}", "x.json:2: not valid JSON: something follows the end"},
		"JSON, an unknown key":       {"x.json", "{\"version\": 1,\n\n\"hosts\": [{\"name\": \"a\",\n\"usr\": 1}]}", `x.json:4: unknown key "usr" in a host (did you mean user?)`},
		"JSON, a key twice":          {"x.json", "{\"version\": 1,\n\"version\": 1}", `x.json:2: "version" is there twice; first on line 1`},
		"JSON, a bad value":          {"x.json", "{\"version\": 1, \"hosts\": [\n{\"name\": \"a\",\n \"port\":\n 0}]}", `x.json:4: port: "0" is not between 1 and 65535`},
		"JSON, null":                 {"x.json", "{\"version\": 1, \"hosts\": [\n{\"name\": null}]}", `x.json:2: name: a value is missing; the empty text is ""`},
		"JSON, deep":                 {"x.json", "{\"a\":\n" + strings.Repeat("[", 100_000), "x.json:2: more than 32 levels of lists and mappings"},
		"JSON, a key with NUL":       {"x.json", "{\"version\": 1,\n\"defaults\\u0000user\": \"x\"}", `x.json:2: unknown key "defaults\x00user" at the top`},
		"TOML, not valid":            {"x.toml", "version = 1\n\nhosts = [", "x.toml:3: not valid TOML: expected character ] but the document ended here"},
		"TOML, an unknown key":       {"x.toml", "version = 1\n[[hosts]]\nname = 'a'\n\nusr = 'x'", `x.toml:5: unknown key "usr" in a host (did you mean user?)`},
		"TOML, a key twice":          {"x.toml", "version = 1\n\nversion = 1", "x.toml:3: not valid TOML: key version is already defined"},
		"TOML, in a list of lines":   {"x.toml", "version = 1\n[[hosts]]\nname = 'a'\nenv = [\n 'A=1',\n 'B',\n]", "x.toml:6: env: entry 2 is not KEY=value"},
		"TOML, in an inline table":   {"x.toml", "version = 1\nhosts = [\n {name = 'a'},\n {name = 'b', port = 0},\n]", `x.toml:4: port: "0" is not between 1 and 65535`},
		"TOML, a number":             {"x.toml", "version = 1\n[defaults]\n\nport = 70000", `x.toml:4: port: "70000" is not between 1 and 65535`},
		"TOML, a truth":              {"x.toml", "version = 1\n[defaults]\n\nshell = true", `x.toml:4: shell: "true" is not one of auto, bash, zsh, ksh, mksh, dash, ash, sh`},
		"TOML, lists without end":    {"x.toml", "version = 1\n# [[[[\na = '[[['\nb = \"\"\"[\n\\\"[\"\"\"\nc = " + strings.Repeat("[", 1<<20), "x.toml:6: more than 32 levels of lists and mappings"},
		"TOML, keys without end":     {"x.toml", "version = 1\n" + strings.Repeat("a.", 1<<20) + "b = 1", "x.toml:2: more than 32 levels of lists and mappings"},
		"YAML, lists without end":    {"x.yaml", "a: " + strings.Repeat("[", 1<<20), "x.yaml:1: not valid YAML: exceeded max depth of 10000"},
		"YAML, values without end":   {"x.yaml", "a:\n" + strings.Repeat("-\n", 1<<20), "x.yaml:1000000: more than 1000000 values"},
		"a file without end":         {"x.yaml", "#" + strings.Repeat(" ", 16<<20), "x.yaml:1: the file has 16777217 bytes, more than 16777216"},
		"TOML, a table in the wrong": {"x.toml", "version = 1\n[[hosts]]\nname = 'a'\n[hosts.becom]\nuser = 'x'", `x.toml:4: unknown key "becom" in a host (did you mean become?)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := inventory.Parse([]byte(tt.text), tt.file, quiet)
			assert.Equal(t, []string{tt.want}, complaints(t, err))
		})
	}
}

func TestEverythingIsToldAtOnce(t *testing.T) {
	_, _, err := inventory.Parse([]byte(`version: 3
defaults: {shell: fish}
rules:
  - {match: "~[", set: {}}
hosts:
  - {name: a, port: 0, usr: x}
  - {name: a}
  - {name: b, via: [nobody]}
groups:
  - {name: g, children: [h]}
sources: [{ansible: x}]
`), "x.yaml", quiet)
	var lines []string
	for _, c := range complaints(t, err) {
		lines = append(lines, strings.SplitN(c, ":", 3)[1])
	}
	assert.Equal(t, []string{"1", "2", "4", "6", "6", "7", "8", "10", "11"}, lines)
}

func TestCausesStayReachable(t *testing.T) {
	_, _, err := inventory.Parse([]byte("version: 1\nrules: [{match: nobody, set: {user: x}}]"), "x.yaml", quiet)
	var miss *hosts.NoMatchError
	require.ErrorAs(t, err, &miss)
	assert.Equal(t, []string{"nobody"}, miss.Hosts)
	assert.True(t, errors.Is(err, hosts.ErrNotFound))
}

func TestSecretsAreNeverRepeated(t *testing.T) {
	for _, env := range []string{"[hunter2]", "[A=hunter2, A=hunter2]", "{A: hunter2}", "hunter2", `["A\tB=hunter2"]`, `["A=hunter2\0"]`} {
		_, _, err := inventory.Parse([]byte("version: 1\nhosts: [{name: a, env: "+env+"}]"), "x.yaml", quiet)
		require.Error(t, err, env)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}
