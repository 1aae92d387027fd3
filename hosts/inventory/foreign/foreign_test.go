package foreign_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
)

// show writes an inventory in lines: hosts with their fields, groups with their members, and notes.
func show(inv *foreign.Inventory) (out []string) {
	for _, h := range inv.Hosts {
		line := h.Name
		for _, f := range h.Fields {
			v := strings.Join(f.Values, " ")
			if f.Refusal != "" {
				v = "REFUSED(" + f.Refusal + ")"
			}
			how := "="
			if f.Inherited {
				how = "~"
			}
			line += " " + f.Name + how + v
		}
		out = append(out, line)
	}
	for _, g := range inv.Groups {
		line := "@" + g.Name + ":"
		for _, c := range g.Children {
			line += " @" + c.Name
		}
		for _, h := range g.Hosts {
			line += " " + h.Name
		}
		out = append(out, line)
	}
	for _, n := range inv.Notes {
		out = append(out, "note "+n.String())
	}
	return out
}

// tree writes files below a new directory; a name that ends in ! is a program.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700)) // whatever the umask: programs in it are to be trusted
	for name, text := range files {
		mode := os.FileMode(0o600)
		if n, program := strings.CutSuffix(name, "!"); program {
			name, mode = n, 0o700
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	return dir
}

func lines(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func TestINIIsReadAsAnsibleReadsIt(t *testing.T) {
	inv, err := foreign.ParseAnsible("hosts", []byte(`# a comment
; another
lonely
gw:2222 ansible_user=jump # what follows is a comment

[web]
web[01:03].example.com ansible_port=2201
web[09:13:2].example.com
[db]
db-[a:c] ansible_host='10.0.0.5' ansible_ssh_user="post gres"
[prod:children]
web
db
[prod:vars]
ansible_user=deploy
ansible_port = 2200   # read as a number
app_port=8080
[all:vars]
ansible_user=nobody
ansible_ssh_private_key_file=keys/id
[loop]
[db:vars]
ansible_user="dba"
`))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		lonely identity~/inv/keys/id user~nobody
		gw identity~/inv/keys/id port=2222 user=jump
		web01.example.com identity~/inv/keys/id port=2201 user~deploy
		web02.example.com identity~/inv/keys/id port=2201 user~deploy
		web03.example.com identity~/inv/keys/id port=2201 user~deploy
		web09.example.com identity~/inv/keys/id port~2200 user~deploy
		web11.example.com identity~/inv/keys/id port~2200 user~deploy
		web13.example.com identity~/inv/keys/id port~2200 user~deploy
		db-a addr=10.0.0.5 identity~/inv/keys/id port~2200 user=REFUSED(hosts:10: ansible_ssh_user: "post gres" must not contain ' ')
		db-b addr=10.0.0.5 identity~/inv/keys/id port~2200 user=REFUSED(hosts:10: ansible_ssh_user: "post gres" must not contain ' ')
		db-c addr=10.0.0.5 identity~/inv/keys/id port~2200 user=REFUSED(hosts:10: ansible_ssh_user: "post gres" must not contain ' ')
		@ungrouped: lonely gw
		@web: web01.example.com web02.example.com web03.example.com web09.example.com web11.example.com web13.example.com
		@db: db-a db-b db-c
		@prod: @web @db
		@loop:
		note hosts: 1 variable is for playbooks and without effect here: app_port
		note hosts:10: ansible_ssh_user: "post gres" must not contain ' ': hosts with it refuse logins until an inventory of Fairlead's sets user for them
		note hosts:20: the key file "keys/id" is taken to be in the inventory's directory: write its whole path
	`), show(inv))
}

func TestWhatIsNoINIIsReportedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"[web\nx":                          `hosts:1: `,
		"a\n[we b]\n":                      `hosts:2: "[we b]" is not a section`,
		"[web:wars]\n":                     `hosts:1: [web:wars] is not a section`,
		"[web:vars]\na=1\n":                `hosts:1: [web:vars]: there is no group web`,
		"[web:children]\nnone\n":           `hosts:2: group "web" has the child "none", which is not a group`,
		"[a:children]\nb\n[b:children]\na": `groups inside each other`,
		"[a:children]\na":                  `hosts:2: group "a" is inside itself`,
		"web1 secret word":                 `hosts:1: expected NAME=VALUE after the host's name, but word 2 has no =`,
		"web1 a='b":                        `hosts:1: a line of a host: a quote is not closed`,
		"web[1:]":                          `hosts:1: the range "web[1:]": a range needs an end`,
		"web[5:1]":                         `5 is after 1`,
		"web[01:100]":                      `01 and 100 have different lengths`,
		"web[1:999999999]":                 `more than 100000 names`,
		"web[1:2":                          `[ without ]`,
		"web1:":                            `ends in a colon`,
		"---\n- hosts: all":                `--- begins a YAML file`,
		"[web]\nw\n[web:vars]\nnothing":    `hosts:4: expected NAME=VALUE in [web:vars]`,
		"a\n\x00":                          ``,
	} {
		_, err := foreign.ParseINI("hosts", []byte(text))
		if want == "" {
			continue // Read refuses it
		}
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), want, text)
			assert.NotContains(t, err.Error(), "secret", "words may be parts of passwords")
		}
	}
}

func TestYAMLIsReadAsAnsibleReadsIt(t *testing.T) {
	inv, err := foreign.ParseAnsible("hosts.yml", []byte(`
all:
  hosts:
    mail.example.com:
  vars: &common
    ansible_user: ops
  children:
    web:
      hosts:
        "web[1:2]":
          ansible_port: 2222
      vars:
        <<: *common
        ansible_port: 22
    db:
      hosts: db1
      children:
        replica:
          hosts: {db2: {ansible_host: !vault "x", ansible_password: "s3cret"}}
          oops: {}
other: {}
third:
`))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		mail.example.com user~ops
		web1 port=2222 user~ops
		web2 port=2222 user~ops
		db1 user~ops
		db2 addr=REFUSED(hosts.yml:19: ansible_host is encrypted with Ansible Vault) user~ops
		@ungrouped: mail.example.com
		@web: web1 web2
		@db: @replica db1
		@replica: db2
		@other:
		@third:
		note hosts.yml:19: ansible_host is encrypted with Ansible Vault: hosts with it refuse logins until an inventory of Fairlead's sets addr for them
		note hosts.yml:19: ansible_password is not taken over: Fairlead logs in with keys and keeps no passwords
		note hosts.yml:20: "oops" in group "replica" is not one of hosts, vars and children
	`), show(inv))
}

func TestWhatIsNoYAMLInventoryIsReportedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"plugin: aws_ec2\nregions: [x]": "hosts.yml:1: this configures a plugin of Ansible's",
		"web:\n  hosts:\n    - a":       `hosts.yml:2: hosts of group "web" must be a mapping`,
		"web:\n  hosts:\n    12:":       "hosts.yml:3: the host 12 is not a text",
		"- a":                           "hosts.yml:1: expected a mapping",
		"":                              "the file is empty",
		"a: [":                          "not valid YAML",
		"a: {children: {b: {children: {a: {}}}}}": "groups inside each other",
	} {
		_, err := foreign.ParseAnsible("hosts.yml", []byte(text))
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), want, text)
		}
	}
}

func TestAliasesThatHoldThemselvesEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: &a0 {hosts: {h0: }}\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "g%d: &a%d {children: {x%d: *a%d, y%d: *a%d}}\n", i, i, i, i-1, i, i-1)
	}
	_, err := foreign.ParseAnsible("hosts.yml", []byte(b.String()))
	assert.ErrorContains(t, err, "more than")
	_, err = foreign.ParseAnsible("hosts.yml", []byte("a: &x {children: {b: *x}}"))
	assert.Error(t, err)
	_, err = foreign.ParseAnsible("hosts.yml", []byte("a: {vars: &x {<<: *x}}"))
	assert.Error(t, err)
}

func TestGroupVarsAndHostVarsHaveAnsiblesPrecedence(t *testing.T) {
	dir := tree(t, map[string]string{
		"hosts":                      "[web]\nweb1 ansible_user=line\nweb2\nweb3\n[site:children]\nweb\n[web:vars]\nansible_user=inline\n[site:vars]\nansible_port=1\n",
		"group_vars/all":             "ansible_user: allfile\nansible_port: 2\n",
		"group_vars/web/10.yml":      "ansible_port: 3\n",
		"group_vars/web/20.yaml":     "ansible_port: 4\n",
		"group_vars/web/.hidden.yml": "ansible_port: 5\n",
		"group_vars/web/old.yml~":    "ansible_port: 6\n",
		"group_vars/web/notes.txt":   "not: [yaml",
		"group_vars/site.yml":        "ansible_port: 7\n",
		"host_vars/web2.json":        `{"ansible_user": "hostfile"}`,
		"host_vars/web3/vault.yml":   "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
	})
	inv, err := foreign.Ansible(t.Context(), filepath.Join(dir, "hosts"), foreign.NoPrograms)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"web1 port~4 user=line",
		"web2 port~4 user=hostfile",
		"web3 port~4 user~allfile",
		"@web: web1 web2 web3",
		"@site: @web",
		"note " + dir + "/host_vars/web3/vault.yml:1: the file is encrypted with Ansible Vault and is not read: what it says of ansible_host, ansible_user and the like has no effect here",
	}, show(inv))
	for _, name := range []string{"hosts", "group_vars", "host_vars/web3", "host_vars/web3/vault.yml"} {
		path := filepath.Join(dir, name)
		assert.Contains(t, inv.Files, foreign.File{Path: path, Stamp: foreign.Stamp(path)})
	}
}

func TestDirectoriesAreReadInOrderWithTheirPrograms(t *testing.T) {
	dir := tree(t, map[string]string{
		"10-static":      "[web]\nweb1\n",
		"20-more.yml":    "web: {hosts: {web2: }}\n",
		"30-cloud!":      "#!/bin/sh\n",
		"notes.ini":      "[[[",
		"README.md":      "[[[",
		"group_vars/web": "ansible_user: u\n",
		"sub/00":         "deep\n",
	})
	var ran [][]string
	run := func(_ context.Context, argv []string, _ func([]byte) error) ([]byte, *foreign.Note, error) {
		ran = append(ran, argv)
		return []byte(`{"cloud": ["c1"], "web": {"hosts": ["c1"]}, "_meta": {"hostvars": {"c1": {"ansible_host": "192.0.2.1"}}}}`), nil, nil
	}
	inv, err := foreign.Ansible(t.Context(), dir, run)
	require.NoError(t, err)
	assert.Equal(t, [][]string{{filepath.Join(dir, "30-cloud"), "--list"}}, ran)
	assert.Equal(t, []string{
		"web1 user~u", "web2 user~u", "c1 addr=192.0.2.1 user~u", "deep",
		"@ungrouped: deep", "@web: web1 web2 c1", "@cloud: c1",
		"note " + filepath.Join(dir, "notes.ini") + ": a file with this ending in a directory is not read, as with older versions of Ansible: make it a source of its own, or rename it",
	}, show(inv))
	_, err = foreign.Ansible(t.Context(), dir, foreign.NoPrograms)
	assert.ErrorContains(t, err, "is a program")
	_, err = foreign.Ansible(t.Context(), t.TempDir(), foreign.NoPrograms)
	assert.ErrorContains(t, err, "the files in this directory name no host")
}

func TestOptionsOfSSHAreConvertedOrRefused(t *testing.T) {
	for args, want := range map[string]string{
		`-J jump@gw:2222,inner`:                                         "via=jump@gw:2222 inner",
		`-o ProxyJump=gw`:                                               "via=gw",
		`-oProxyJump=none`:                                              "via=",
		`-o ProxyCommand="ssh -W %h:%p -q jump@gw"`:                     "via=jump@gw",
		`-o 'ProxyCommand ssh -q -p 2222 -W %h:%p -l jump gw'`:          "via=jump@gw:2222",
		`-o ProxyCommand="ssh -J a -W [%h]:%p b"`:                       "via=a b",
		`-o ProxyCommand="ssh jump@gw nc -w 5 %h %p"`:                   "via=jump@gw",
		`-o ProxyCommand="ssh -o StrictHostKeyChecking=no -W %h:%p gw"`: "via=gw",
		`-o ProxyCommand=none`:                                          "via=",
		`-o ProxyCommand="nc -X connect -x proxy:3128 %h %p"`:           "via=REFUSED",
		`-o ProxyCommand="ssh gw evil %h %p"`:                           "via=REFUSED",
		`-o ProxyCommand="ssh -W other:22 gw"`:                          "via=REFUSED",
		`-o ProxyCommand="ssh -W %h:%p gw; touch /tmp/x"`:               "via=REFUSED",
		`-o ProxyCommand="ssh -F other -W %h:%p gw"`:                    "via=REFUSED",
		`-o ProxyCommand="sh -c 'id'"`:                                  "via=REFUSED",
		`-J gw:2222`:                                                    "via=REFUSED",
		`-p 2200 -l root -i /k -i /k2`:                                  "identity=/k /k2 port=2200 user=root",
		`-o Port=2200 -o User=root -o ConnectTimeout=7`:                 "connect_timeout=7s port=2200 user=root",
		`-o ControlMaster=auto -o ControlPersist=60s -C`:                "",
		`-o HostName=10.0.0.1`:                                          "ssh_config=REFUSED",
		`-F /etc/other`:                                                 "ssh_config=REFUSED",
		`-p x`:                                                          "port=REFUSED",
		`word`:                                                          "ssh_config=REFUSED",
		`{{ args }}`:                                                    "via=REFUSED",
		`-o`:                                                            "ssh_config=REFUSED",
	} {
		inv, err := foreign.ParseAnsible("hosts.yml", fmt.Appendf(nil, "all: {hosts: {h: {ansible_ssh_common_args: %q}}}", args))
		require.NoError(t, err, args)
		var got []string
		for _, f := range inv.Hosts[0].Fields {
			v := strings.Join(f.Values, " ")
			if f.Refusal != "" {
				v = "REFUSED"
				assert.True(t, strings.HasPrefix(f.Refusal, "hosts.yml:1: "), f.Refusal)
				assert.NotEmpty(t, inv.Notes)
			}
			got = append(got, f.Name+"="+v)
		}
		assert.Equal(t, want, strings.Join(got, " "), args)
	}
}

func TestVariablesWithoutACounterpartAreListed(t *testing.T) {
	inv, err := foreign.ParseAnsible("hosts", []byte(`
a ansible_connection=local ansible_host=10.0.0.1 ansible_become=true
b ansible_connection=winrm
c ansible_host="{{ lookup('pipe', 'touch /tmp/x') }}" ansible_become_password=hunter2
d ansible_port=99999
e ansible_user=
f ansible_host=user@host
g ansible_python_interpreter=/usr/bin/python3 ansible_network_os=ios ansible_timeout=20
h ansible_ssh_common_args='-o StrictHostKeyChecking=no'
2001:db8::1
`))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		a become=root by sudo transport=local
		b transport=REFUSED(hosts:3: ansible_connection=winrm has no counterpart)
		c addr=REFUSED(hosts:4: ansible_host is a template, which Fairlead does not evaluate)
		d port=REFUSED(hosts:5: ansible_port: "99999" is not between 1 and 65535)
		e
		f addr=REFUSED(hosts:7: ansible_host: "user@host" must not contain '@')
		g connect_timeout=20s
		h
		@ungrouped: a b c d e f g h
		note hosts:3: ansible_connection=winrm has no counterpart: hosts with it refuse logins until an inventory of Fairlead's sets transport for them
		note hosts:4: ansible_become_password is not taken over: Fairlead logs in with keys and keeps no passwords
		note hosts:4: ansible_host is a template, which Fairlead does not evaluate: hosts with it refuse logins until an inventory of Fairlead's sets addr for them
		note hosts:5: ansible_port: "99999" is not between 1 and 65535: hosts with it refuse logins until an inventory of Fairlead's sets port for them
		note hosts:7: ansible_host: "user@host" must not contain '@': hosts with it refuse logins until an inventory of Fairlead's sets addr for them
		note hosts:8: ansible_network_os has no counterpart
		note hosts:9: ansible_ssh_common_args: stricthostkeychecking has no effect here; host keys are always verified
		note hosts:10: host "2001:db8::1" is left out: a host's name must not contain ':'; give it a name, and the address as ansible_host
	`), show(inv))
}

func TestJSONOfProgramsIsRead(t *testing.T) {
	read := func(text string) (*foreign.Inventory, error) { return foreign.ParseAnsible("x.json", []byte(text)) }
	inv, err := read("{\n\t\"web\": {\"hosts\": [\"w1\", \"w2\"], \"vars\": {\"ansible_user\": \"u\"}, \"children\": [\"eu\"]},\n\t\"eu\": [\"e1\"],\n\t\"alone\": {\"ansible_port\": 5},\n\t\"_meta\": {\"hostvars\": {\"w1\": {\"ansible_host\": \"10.0.0.1\"}, \"gone\": {}}}}")
	require.NoError(t, err)
	assert.Equal(t, lines(`
		w1 addr=10.0.0.1 user~u
		w2 user~u
		e1 user~u
		alone port~5
		@web: @eu w1 w2
		@eu: e1
		@alone: alone
		note x.json:5: variables of "gone", which is in no group
	`), show(inv))
	for text, want := range map[string]string{
		`{"web": ["a"], "_meta": {"hostvars": []}}`: "x.json:1: expected a mapping",
		`{"web": {"hosts": "a"}, "_meta": {}}`:      "expected a list",
		`{"web": {"hosts": [["a"]]}, "_meta": {}}`:  "expected a name",
	} {
		_, err := read(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestClushFilesAreRead(t *testing.T) {
	inv, err := foreign.ParseClush("groups.yaml", []byte(`
roles:
  adm: login0
  io: 'io[1-3]'
  compute: 'node[01-04]'
  nodes: '@io,@compute'
  spare: '@compute!node[01-02]'
  all: '@adm,@nodes'
racks:
  r1: [node01, io1]
  io: io1
  both: '@roles:io&@io'
`))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		login0
		io1
		io2
		io3
		node01
		node02
		node03
		node04
		@adm: login0
		@roles.io: io1 io2 io3
		@compute: node01 node02 node03 node04
		@nodes: @roles.io @compute
		@spare: node03 node04
		@r1: node01 io1
		@racks.io: io1
		@both: io1
		note groups.yaml:8: group "all" is left out, its nodes are not: a group's name is a word of selectors: "all" means every host
	`), show(inv))

	old, err := foreign.ParseClush("groups", []byte("# old\nadm: a0\noss: a4 a5\nmds: a6\nio: @oss @mds, a9\noss: a7\n"))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		a0
		a4
		a5
		a7
		a6
		a9
		@adm: a0
		@oss: a4 a5 a7
		@mds: a6
		@io: @oss @mds a9
	`), show(old))

	for text, want := range map[string]string{
		"a: @b":              "groups:1: there is no group @b",
		"a: @a":              "is inside itself",
		"a: n[1-":            "groups:1: nodes",
		"nodes without":      "expected a line of the form",
		"a: n*":              "* and ? are not supported",
		"a: b\nc: @d\nd: @c": "is inside itself",
	} {
		_, err := foreign.ParseClush("groups", []byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestEtcHostsIsRead(t *testing.T) {
	inv, err := foreign.ParseHosts("/etc/hosts", []byte(`127.0.0.1 localhost
::1 localhost ip6-localhost
ff02::1 ip6-allnodes
0.0.0.0 ads.example.com
10.0.0.11 web1.example.com web1 # the first
10.0.0.12	db1
2001:db8::5 db1
nonsense x
10.0.0.13
10.0.0.14 -x
10.0.0.15 web1
`))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		web1.example.com addr=10.0.0.11
		db1 addr=10.0.0.12
		note /etc/hosts:5: 1 more names of hosts are left out: a host has one name, the first of its line
		note /etc/hosts:7: db1 has an address already; this one is left out
		note /etc/hosts:8: "nonsense" is not an address
		note /etc/hosts:9: no name follows the address
		note /etc/hosts:10: host "-x" is left out: a host's name must not begin with '-'
		note /etc/hosts:11: web1 has an address already; this one is left out
	`), show(inv))
}

func TestCSVIsRead(t *testing.T) {
	inv, err := foreign.ParseCSV("h.csv", []byte("# mine\nname,address,user,port,tier,groups,labels\nweb1,10.0.0.1,ops,2222,prod,web eu,\"role=web, zone=a\"\nweb2,,,,,web;,\n"))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		web1 addr=10.0.0.1 user=ops port=2222 tier=prod labels.role=web labels.zone=a
		web2
		@web: web1 web2
		@eu: web1
	`), show(inv))
	synonyms, err := foreign.ParseCSV("h.csv", []byte("Hostname,IP,group\nweb1,10.0.0.1,web\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"web1 addr=10.0.0.1", "@web: web1"}, show(synonyms))
	_, err = foreign.ParseCSV("h.csv", []byte("host,name\n"))
	assert.ErrorContains(t, err, "h.csv:1: the column name is there twice")
	semicolons, err := foreign.ParseCSV("h.csv", []byte("Name;Addr\nweb1;10.0.0.1\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"web1 addr=10.0.0.1"}, show(semicolons))

	_, err = foreign.ParseCSV("h.csv", []byte("name,port,groups,labels\nweb1,0,all,x\nweb1,,,\n,,,\nweb1,,,\n\"a b\",,,\n"))
	require.Error(t, err)
	for _, want := range []string{`h.csv:2: port: "0" is not between`, `h.csv:2: groups: "all"`, `h.csv:2: labels: "x" is not key=value`, "h.csv:3: host web1 is there twice; first on line 2", `h.csv:4: name: "" is empty`, `h.csv:6: name: "a b"`} {
		assert.ErrorContains(t, err, want)
	}
	for text, want := range map[string]string{
		"":               "the file is empty",
		"a,b\n":          "unknown column",
		"nam\n":          "did you mean name?",
		"user\nx\n":      "no column is called name",
		"name,name\n":    "is there twice",
		"name,user\nx\n": "h.csv:2: the first line names 2 columns, and this one has 1: write empty ones too",
		"name\n\"x\n":    "not valid CSV",
	} {
		_, err := foreign.ParseCSV("h.csv", []byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestConcreteHostsOfSSHConfigAreRead(t *testing.T) {
	dir := tree(t, map[string]string{"config": "Host web1 db? \"-x\"\n  User u\nHost *\n"})
	path := filepath.Join(dir, "config")
	inv, err := foreign.SSHConfig(path, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"web1 ssh_config=" + path, "note " + path + ":1: host \"-x\" is left out: a host's name must not begin with '-'"}, show(inv))
	inv, err = foreign.SSHConfig(path, true)
	require.NoError(t, err)
	assert.Equal(t, "web1", show(inv)[0])
	_, err = foreign.SSHConfig(filepath.Join(dir, "none"), false)
	assert.ErrorContains(t, err, "cannot be read")
}

func TestFilesAreBounded(t *testing.T) {
	dir := tree(t, map[string]string{"big": strings.Repeat("#", 16<<20+1), "binary": "a\x00b", "latin": "a\n\xe9\n", "sub/x": ""})
	for name, want := range map[string]string{
		"big":    "the file has more than 16 MiB",
		"binary": "binary:1: the file holds the control character U+0000",
		"latin":  "latin:2: the file is not UTF-8",
		"none":   "the file does not exist",
	} {
		_, err := foreign.Ansible(t.Context(), filepath.Join(dir, name), foreign.NoPrograms)
		assert.ErrorContains(t, err, want)
	}
	_, err := foreign.Hosts(filepath.Join(dir, "sub"))
	assert.ErrorContains(t, err, "is not a regular file")
}

func TestWhomAnsibleBecomes(t *testing.T) {
	inv, err := foreign.ParseAnsible("hosts", []byte(`
a ansible_become=yes ansible_become_user=app ansible_become_method=su
b ansible_become=True ansible_become_method=ansible.builtin.doas
c ansible_become=false ansible_become_user=app
d ansible_become_user=app
e ansible_become=true ansible_become_method=runas
f ansible_become=true ansible_become_user="{{ who }}"
g ansible_become=maybe
h ansible_become=true ansible_become_flags=-H ansible_sudo=yes
`))
	require.NoError(t, err)
	assert.Equal(t, lines(`
		a become=app by su
		b become=root by doas
		c
		d
		e become=REFUSED(hosts:6: ansible_become: "runas" is not one of sudo, sudo-rs, su, doas)
		f become=REFUSED(hosts:7: ansible_become_user is a template, which Fairlead does not evaluate)
		g become=REFUSED(hosts:8: ansible_become: "maybe" is not true or false)
		h become=root by sudo
		@ungrouped: a b c d e f g h
		note hosts:6: ansible_become: "runas" is not one of sudo, sudo-rs, su, doas: hosts with it refuse logins until an inventory of Fairlead's sets become for them
		note hosts:7: ansible_become_user is a template, which Fairlead does not evaluate: hosts with it refuse logins until an inventory of Fairlead's sets become for them
		note hosts:8: ansible_become: "maybe" is not true or false: hosts with it refuse logins until an inventory of Fairlead's sets become for them
		note hosts:9: ansible_become_flags has no counterpart: use ansible_become, ansible_become_user and ansible_become_method
		note hosts:9: ansible_sudo has no counterpart: use ansible_become, ansible_become_user and ansible_become_method
	`), show(inv))
}

// Ansible takes the last one, whole, and warns of it.
func TestKeysThatAreThereTwiceAreTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "inv.yml")
	require.NoError(t, os.WriteFile(file, []byte("web:\n  hosts: {a: }\n  hosts: {b: }\n"), 0o600))
	inv, err := foreign.Ansible(t.Context(), file, foreign.NoPrograms)
	require.NoError(t, err)
	require.Len(t, inv.Hosts, 1)
	assert.Equal(t, "b", inv.Hosts[0].Name)
	require.NotEmpty(t, inv.Notes)
	assert.Equal(t, file+`:3: "hosts" is there twice: this one counts, and the one before it does not`, fmt.Sprint(inv.Notes[0].Pos, ": ", inv.Notes[0].Msg))
}

// An address of IPv6 with a port is no range: one that Fairlead cannot name leaves out a host, and not the inventory.
func TestAnAddressOfIPv6IsNoRange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(file, []byte("[::1]:22\n[2001:db8::1]:22\nn[0:10:5]:22\nn1\n"), 0o600))
	inv, err := foreign.Ansible(t.Context(), file, foreign.NoPrograms)
	require.NoError(t, err)
	var names []string
	for _, h := range inv.Hosts {
		names = append(names, h.Name)
	}
	assert.ElementsMatch(t, []string{"n0", "n5", "n10", "n1"}, names)
	assert.Contains(t, fmt.Sprint(inv.Notes), "give it a name, and the address as ansible_host")
}
