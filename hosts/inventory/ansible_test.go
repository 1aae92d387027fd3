package inventory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// trees are inventories in the shapes that Ansible's documentation and published ones have. The text is ours.
var trees = map[string]map[string]string{
	"ungrouped and two groups": {"inv": "mail.example.com\n\n[webservers]\nfoo.example.com\nbar.example.com\n\n[dbservers]\none.example.com\ntwo.example.com\nthree.example.com\n"},
	"ranges": {"inv": `[webservers]
www[01:50].example.com
www[01:50:2].example.org
[databases]
db-[a:f].example.com
[mixed]
r[1:2]n[08:11]-[x:z]
[upper]
host[A:C]
[zero]
z[:3]
`},
	"variables of hosts and groups": {"inv": `[atlanta]
host1 http_port=80 maxRequestsPerChild=808
host2:5309 http_port=303
jumper ansible_port=5555 ansible_host=192.0.2.50
other1.example.com ansible_connection=ssh ansible_user=myuser
localhost ansible_connection=local
[raleigh]
host2
host3 ansible_user='quoted'  # and a comment
[southeast:children]
atlanta
raleigh
[southeast:vars]
ansible_user=south
some_server=foo.southeast.example.com
halon_system_timeout=30
[usa:children]
southeast
northeast
[northeast]
[usa:vars]
ansible_user=usa
ansible_port=2022
`},
	"YAML with parents and children": {"inv.yml": `---
ungrouped:
  hosts:
    mail.example.com:
webservers:
  hosts:
    foo.example.com:
      ansible_host: 192.0.2.10
      ansible_port: 2200
    "bar[1:3].example.com":
  vars:
    ansible_user: web
dbservers:
  hosts:
    one.example.com:
    two.example.com: {ansible_ssh_private_key_file: /keys/two}
east:
  hosts:
    foo.example.com:
    one.example.com:
prod:
  children:
    east: {}
    dbservers:
  vars: {ansible_user: prod, ansible_ssh_common_args: '-J jump@gate.example.com'}
test:
  children: {webservers: {}}
`},
	"group_vars and host_vars": {
		"inv":                       "[web]\nw1 ansible_user=inline\nw2\n[db]\nd1\nd2\n[stack:children]\nweb\ndb\n[web:vars]\nansible_port=10\n[all:vars]\nansible_user=everyone\n",
		"group_vars/all.yml":        "ansible_user: allfile\nansible_timeout: 12\n",
		"group_vars/stack/main.yml": "ansible_port: 20\nother: {a: [1]}\n",
		"group_vars/stack/zz.yaml":  "ansible_ssh_private_key_file: ~/.ssh/stack\n",
		"group_vars/db":             "ansible_user: dba\n",
		"host_vars/d2.yml":          "ansible_user: hostfile\nansible_host: 192.0.2.2\n",
		"host_vars/w2/a.json":       `{"ansible_port": 33}`,
	},
	"priorities": {"inv": `[a_group]
h1
[b_group]
h1
[a_group:vars]
ansible_user=a
ansible_group_priority=10
[b_group:vars]
ansible_user=b
`},
	// Larger ones.
	"a cluster with a control plane": {
		"hosts.yml": `all:
  vars: {ansible_user: core, ansible_become: true}
  hosts:
    node1: {ansible_host: 192.0.2.1, ip: 192.0.2.1, access_ip: 192.0.2.1}
    node2: {ansible_host: 192.0.2.2, ip: 192.0.2.2}
    node3: {ansible_host: 192.0.2.3, ansible_port: 2223}
    "worker[001:120]":
  children:
    control_plane: {hosts: {node1: , node2: }}
    etcd: {hosts: {node1: , node2: , node3: }}
    workers:
      hosts: {node3: , "worker[001:120]": }
      vars: {ansible_port: 2022}
    cluster:
      children: {control_plane: , workers: }
    bastions: {hosts: {bastion: {ansible_host: 198.51.100.1, ansible_user: jump}}}
`,
		"group_vars/workers.yml":  "ansible_ssh_common_args: '-o ProxyCommand=\"ssh -W %h:%p -q jump@198.51.100.1\"'\n",
		"group_vars/cluster.yml":  "kube_version: v1\nansible_ssh_private_key_file: /keys/cluster\n",
		"host_vars/worker007.yml": "ansible_user: bond\n",
	},
	"a storage cluster": {"hosts": `[mons]
mon[1:3].ceph.example.com
[mgrs:children]
mons
[osds]
osd[01:90].ceph.example.com devices="['/dev/sdb', '/dev/sdc']"
osd[91:96].ceph.example.com ansible_port=2222 devices="[]"
[clients]
client-[a:e].ceph.example.com ansible_user=client
[grafana-server]
mon1.ceph.example.com
[ceph:children]
mons
osds
clients
grafana-server
[ceph:vars]
ansible_user = ceph-admin
ansible_ssh_private_key_file = /keys/ceph # the deploy key
[all:vars]
ansible_python_interpreter=/usr/bin/python3
`, "group_vars/osds": "ansible_port: 22\nosd_scenario: lvm\n", "group_vars/all": "---\nfetch_directory: fetch\n"},
	"sites and stages in a directory": {
		"inv/01-sites":               "[fra]\nfra-app[01:40]\nfra-db[1:4]\n[nyc]\nnyc-app[01:40]\nnyc-db[1:4]\n",
		"inv/02-roles.yml":           "app: {hosts: {'fra-app[01:40]': , 'nyc-app[01:40]': }}\ndb: {hosts: {'fra-db[1:4]': {ansible_user: postgres}, 'nyc-db[1:4]': }}\n",
		"inv/03-stages":              "[prod:children]\nfra\nnyc\n[prod:vars]\nansible_user=deploy\n[fra:vars]\nansible_port=2201\n[nyc:vars]\nansible_port=2202\n",
		"inv/04-cloud!":              "#!/bin/sh\necho '{\"cloud\": {\"hosts\": [\"c1\", \"c2\"], \"vars\": {\"ansible_user\": \"cloud\"}}, \"prod\": {\"hosts\": [\"c1\"]}, \"_meta\": {\"hostvars\": {\"c2\": {\"ansible_host\": \"203.0.113.2\"}}}}'\n",
		"inv/group_vars/db/conf.yml": "ansible_ssh_private_key_file: /keys/db\n",
		"inv/group_vars/nyc.yml":     "ansible_ssh_common_args: -J nyc-gate\n",
		"inv/host_vars/fra-db2.yml":  "ansible_host: 192.0.2.22\nansible_port: 5022\n",
	},
}

// ansible is what ansible-inventory says of an inventory.
type ansible struct {
	vars   map[string]map[string]any
	groups map[string][]string // every group that a host is in
}

func askAnsible(t *testing.T, path string) ansible {
	program, err := exec.LookPath("ansible-inventory")
	if err != nil {
		needs.Part(t, "ansible-inventory is missing")
	}
	home := files(t, map[string]string{"ansible.cfg": "[defaults]\n"})
	cmd := exec.CommandContext(t.Context(), program, "-i", path, "--list")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "ANSIBLE_CONFIG="+home+"/ansible.cfg", "ANSIBLE_LOCALHOST_WARNING=false", "LC_ALL=C.UTF-8", "HOME="+home, "ANSIBLE_DEPRECATION_WARNINGS=false")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	require.NoError(t, err, complaints.String())
	var top map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(out, &top))
	var meta struct{ Hostvars map[string]map[string]any }
	require.NoError(t, json.Unmarshal(top["_meta"], &meta))
	a := ansible{meta.Hostvars, map[string][]string{}}
	type group struct{ Hosts, Children []string }
	groups := map[string]group{}
	for name, raw := range top {
		if name != "_meta" {
			var g group
			require.NoError(t, json.Unmarshal(raw, &g))
			groups[name] = g
		}
	}
	var members func(name string) []string
	members = func(name string) []string {
		out := slices.Clone(groups[name].Hosts)
		for _, c := range groups[name].Children {
			out = append(out, members(c)...)
		}
		return out
	}
	for name := range groups {
		for _, h := range members(name) {
			if name != "all" && !slices.Contains(a.groups[h], name) {
				a.groups[h] = append(a.groups[h], name)
			}
		}
	}
	return a
}

// text is a variable's value, "" where it is not set.
func (a ansible) text(host string, names ...string) string {
	for _, n := range names {
		switch v := a.vars[host][n].(type) {
		case nil:
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		default:
			return fmt.Sprint(v)
		}
	}
	return ""
}

func TestHostsAreWhatAnsibleSaysOfThem(t *testing.T) {
	for name, texts := range trees {
		t.Run(name, func(t *testing.T) {
			dir := files(t, texts)
			path := filepath.Join(dir, "inv")
			for _, other := range []string{"inv.yml", "hosts", "hosts.yml"} {
				if _, ok := texts[other]; ok {
					path = filepath.Join(dir, other)
				}
			}
			want := askAnsible(t, path)
			inv, _, err := load(t, dir, strings.TrimPrefix(path, dir))
			require.NoError(t, err)
			require.NotZero(t, inv.Len())
			assert.Equal(t, len(want.groups), inv.Len())
			for h := range inv.All() {
				same(t, want, h)
			}
		})
	}
}

// same compares a host with what Ansible says, variable by variable.
func same(t *testing.T, want ansible, h hosts.Host) {
	t.Helper()
	groups := slices.Sorted(slices.Values(want.groups[h.Name]))
	assert.Equal(t, groups, slices.Sorted(slices.Values(h.Groups)), "groups of %s", h.Name)
	assert.Empty(t, h.NoLogin, h.Name)
	if want.text(h.Name, "ansible_connection") == "local" {
		assert.Equal(t, hosts.Local, h.Transport, h.Name)
		return
	}
	assert.Equal(t, want.text(h.Name, "ansible_ssh_host", "ansible_host"), h.Addr, "ansible_host of %s", h.Name)
	port := ""
	if h.Port != 0 {
		port = fmt.Sprint(h.Port)
	}
	assert.Equal(t, want.text(h.Name, "ansible_ssh_port", "ansible_port"), port, "ansible_port of %s", h.Name)
	assert.Equal(t, want.text(h.Name, "ansible_ssh_user", "ansible_user"), h.User, "ansible_user of %s", h.Name)
	assert.Equal(t, want.text(h.Name, "ansible_ssh_private_key_file"), strings.Join(h.Identity, " "), "ansible_ssh_private_key_file of %s", h.Name)
	timeout := ""
	if h.ConnectTimeout > 0 {
		timeout = fmt.Sprint(h.ConnectTimeout.Seconds())
	}
	assert.Equal(t, want.text(h.Name, "ansible_timeout"), timeout, "ansible_timeout of %s", h.Name)
	args := want.text(h.Name, "ansible_ssh_common_args")
	if len(h.Via) == 0 {
		assert.Empty(t, args, "ansible_ssh_common_args of %s", h.Name)
	}
	for _, hop := range h.Via {
		assert.Contains(t, args, hop, "ansible_ssh_common_args of %s", h.Name)
	}
}
