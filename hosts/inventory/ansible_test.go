package inventory_test

import (
	"cmp"
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
	"ports behind names that came before":          {"inv": "h[1:3]\nh4:2204\n[prod]\nh[1:2]:22\nh4:2222\nh5:2205 ansible_port=+25\nh6:2206\n[test]\nh6:26\nh5:27\n"},
	"ports behind names that came before, in YAML": {"inv.yml": "a: {hosts: {h1: , 'h2:2202': , 'h[3:4]:2203': {ansible_port: 5}}}\nb: {hosts: {'h[1:4]:22': , 'h5:2205': }}\n"},
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
	// The shapes that meet people first: those of the documentation's page about inventories, and what they copy from others.
	"all and ungrouped by name": {"inv": "[all]\nnode1 ansible_host=192.0.2.11 ip=10.3.0.1\nnode2 ansible_host=192.0.2.12\nloose\n[ungrouped]\nloose\nextra ansible_port=44\n" +
		"[kube_control_plane]\nnode1\n[kube_node]\nnode2\n[k8s_cluster:children]\nkube_control_plane\nkube_node\n[k8s_cluster:vars]\nansible_user=k8s\n[bare]\n",
		"group_vars/ungrouped.yml": "ansible_user: single\n"},
	"ranges with steps and letters in YAML": {"inv.yaml": `webservers:
  hosts:
    "www[01:20:3].example.com": {ansible_port: 2201}
    "www[005:007]-[a:e:2]":
    "n[x:C]":
    gw.example.com:2222:
  vars: {ansible_user: web}
`},
	"levels of children, each with variables": {"inv": "[leaf]\nh1\nh2 ansible_port=4\n[mid:children]\nleaf\n[top:children]\nmid\nother\n[other]\nh1\nh3\n" +
		"[leaf:vars]\nansible_user=leaf\n[mid:vars]\nansible_user=mid\nansible_port=2\n[top:vars]\nansible_user=top\nansible_port=3\nansible_timeout=9\n[other:vars]\nansible_user=other\n[all:vars]\nansible_timeout=7\nansible_ssh_private_key_file=/k/all\n",
		"group_vars/top.yml": "ansible_user: topfile\n", "group_vars/leaf/b.yml": "ansible_timeout: 11\n", "host_vars/h3": "ansible_port: 99\n"},
	"siblings and priorities": {"inv": "[zed]\nh1\nh2\n[alpha]\nh1\nh2\n[mid]\nh1\n[zed:vars]\nansible_user=z\n[alpha:vars]\nansible_user=a\nansible_group_priority=2\n[mid:vars]\nansible_user=m\nansible_group_priority=5\n",
		"group_vars/zed": "ansible_port: 1\n", "group_vars/alpha": "ansible_port: 2\n", "group_vars/mid": "ansible_port: 3\nansible_group_priority: 100\n"},
	"become of groups and hosts": {"inv": "[root]\nr1\nr2 ansible_become=no\nr3 ansible_become_user=app\n[app]\na1\na2 ansible_become_method=su\n[root:vars]\nansible_become=true\n[app:vars]\nansible_become=yes\nansible_become_user=svc\nansible_become_method=sudo\n",
		"host_vars/a1.yml": "ansible_become: True\nansible_become_user: other\n", "group_vars/all": "ansible_become: false\n"},
	"values in quotes and with comments": {"inv": "web1 ansible_host=192.0.2.1 # the first\nweb2 ansible_host='192.0.2.2' ansible_user=\"dep-loy\"\n" +
		"web3\tansible_port=2222\tansible_user=tabs\nweb4 ansible_ssh_private_key_file='~/.ssh/a b'\nweb5 ansible_ssh_common_args='-o ProxyCommand=\"ssh -W %h:%p -q jump@gate\"'\n" +
		"[g]\nweb[1:5]\n[g:vars]\nansible_user = spaced\nansible_port = 2022 # a comment\nansible_timeout = '15'\nproxy = none\n; a comment too\n"},
	"anchors, merges and tags": {"inv.yml": `x-defaults: &d
  vars: &v {ansible_user: base, ansible_port: 2000}
one:
  hosts: &h
    a1: {<<: *v, ansible_port: 2001}
    a2: &two {ansible_host: 192.0.2.2}
    a3: *two
  vars:
    <<: [{ansible_user: first}, *v]
two:
  hosts: *h
  vars: {ansible_timeout: 21, ansible_user: two}
  children: {three: {hosts: {b1: , b2: {ansible_user: ~}}}}
`},
	"this machine and jump hosts": {"inv.yml": `all:
  vars: {ansible_ssh_common_args: '-o ProxyJump=ops@gate.example.com:2222'}
  hosts:
    localhost: {ansible_connection: local}
    here: {ansible_connection: ansible.builtin.local, ansible_host: 192.0.2.9}
    behind: {ansible_host: 10.0.0.4}
    direct: {ansible_ssh_common_args: ''}
    two: {ansible_ssh_common_args: '-J a.example.com,b@b.example.com:2200 -o ControlPersist=60s'}
    plain: {ansible_connection: ansible.builtin.ssh, ansible_ssh_host: 192.0.2.5, ansible_ssh_port: 2205, ansible_ssh_user: old}
`},
	"directories of variables": {
		"inv/hosts.yaml":                   "all: {children: {web: {hosts: {'w[1:3]': }}, db: {hosts: {d1: , w1: }}}}\n",
		"inv/group_vars/all/00-first.yml":  "ansible_user: first\nansible_port: 1\n",
		"inv/group_vars/all/10-second.yml": "ansible_user: second\n",
		"inv/group_vars/all/vault.yml~":    "ansible_user: backup\n",
		"inv/group_vars/all/sub/deep.yml":  "ansible_timeout: 31\n",
		"inv/group_vars/all/dir.d/no.yml":  "ansible_timeout: 32\n",
		"inv/group_vars/web/a.json":        "{\"ansible_port\": 80}\n",
		"inv/group_vars/web.yml":           "ansible_port: 81\n",
		"inv/group_vars/db.yaml":           "ansible_user: dba\n",
		"inv/group_vars/db.json":           "{\"ansible_user\": \"json\"}\n",
		"inv/host_vars/w2/x":               "ansible_host: 192.0.2.2\n",
		"inv/host_vars/w3.yml":             "{}\n",
		"inv/host_vars/d1.yml":             "",
	},
	"what ansible-inventory prints itself": {"inv.py!": `#!/bin/sh
cat <<'END'
{"_meta": {"hostvars": {"i-1": {"ansible_host": "192.0.2.1", "tags": {"Name": "a"}, "ansible_port": 22}, "i-2": {"ansible_user": "ec2-user", "list": [1, 2]}, "i-3": {}}},
 "all": {"children": ["ungrouped", "aws_ec2", "tag_env_prod"], "vars": {"ansible_timeout": 40}},
 "aws_ec2": {"hosts": ["i-1", "i-2", "i-3"]}, "tag_env_prod": {"hosts": ["i-2"], "vars": {"ansible_user": "prod", "ansible_port": 2200}},
 "us-east-1": ["i-1"], "empty": {}, "ungrouped": {"hosts": ["i-4"]}}
END
`},
	"a program that is asked for each host": {"inv.sh!": `#!/bin/sh
case $1 in
--list) echo '{"web": {"hosts": ["w1", "w2"], "vars": {"ansible_user": "web"}}, "db": ["d1"], "site": {"children": ["web", "db"]}}' ;;
--host) case $2 in
	w1) echo '{"ansible_host": "192.0.2.1", "ansible_port": 2201}' ;;
	d1) echo '{"ansible_user": "dba"}' ;;
	*) echo '{}' ;;
	esac ;;
esac
`, "group_vars/site.yml": "ansible_timeout: 14\n", "host_vars/w2.yml": "ansible_port: 7\n"},
	"values from a vault": {"inv.yml": `web:
  hosts:
    w1: {ansible_host: 192.0.2.1}
    w2:
      ansible_host: !vault |
        $ANSIBLE_VAULT;1.1;AES256
        31343361393866386234616535346430
  vars:
    app_password: !vault |
      $ANSIBLE_VAULT;1.1;AES256
      31343361393866386234616535346430
`, "group_vars/web.yml": "ansible_user: web\nother: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3134\n"},
	"numbers of YAML 1.1": {"inv.yml": "g:\n  hosts: {h1: {ansible_port: 022}, h2: {ansible_port: 0x16}, h3: {ansible_port: 2_222}, h4: {ansible_port: '2022'}, h5: {ansible_user: 1_000}, h6: {ansible_user: '1_000'}, h7: {ansible_user: face}, h8: {ansible_user: 08}}\n",
		"group_vars/g.yml": "ansible_timeout: 0b11\n"},
	"numbers of Python":                {"inv": "[g]\nh1 ansible_port=0x16\nh2 ansible_port=2_222 ansible_user=1_000\nh3 ansible_user=0_1\nh4 ansible_user=022\nh5 ansible_user='1_000'\nh6 ansible_user=\"'1_000'\"\n[g:vars]\nansible_timeout=0b11 # seconds\n"},
	"YAML in braces without an ending": {"hosts": "web: {hosts: {w1: {ansible_user: u}, w2: }, vars: {ansible_port: 2222}}\ndb: {hosts: {d1: }}\n"},
	"JSON without an ending":           {"hosts": "{\"web\": {\"hosts\": {\"w1\": {\"ansible_user\": \"u\"}}, \"children\": {\"db\": {\"hosts\": {\"d1\": null}}}}}\n"},
	"JSON in lines without an ending":  {"hosts": "{\n  \"all\": {\n    \"hosts\": {\"h1\": {}},\n    \"vars\": {\"ansible_user\": \"u\"}\n  }\n}\n"},
	"keys that are there twice, and merged ones": {"inv.yml": `base: &base
  hosts: {a1: {ansible_user: base}, a2: }
  vars: {ansible_user: base, ansible_port: 1}
web:
  <<: *base
  hosts: {w1: {ansible_port: 7}, w1: {ansible_user: last}}
db:
  hosts: {d1: , d2: }
  vars: {ansible_user: first}
  hosts: {d3: {ansible_host: 192.0.2.3}}
  vars: {ansible_port: 9}
web2:
  vars: {<<: {ansible_user: merged, ansible_port: 3}, ansible_user: own}
  hosts: {w2: }
`, "group_vars/db.yml": "ansible_user: a\nansible_user: b\n"},
	"numbers and words that are values": {"inv.yml": "g: {hosts: {h1: {ansible_port: '2222', ansible_user: 1234}, h2: {ansible_port: 22, ansible_user: 'yes', ansible_host: 10.1}}}\n"},
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestHostsAreWhatAnsibleSaysOfThem(t *testing.T) {
	for name, texts := range trees {
		t.Run(name, func(t *testing.T) {
			dir := files(t, texts)
			path := filepath.Join(dir, "inv")
			for _, other := range []string{"inv.yml", "inv.yaml", "inv.py", "inv.sh", "hosts", "hosts.yml"} {
				if exists(filepath.Join(dir, other)) {
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
	for name, v := range want.vars[h.Name] {
		if _, mapping := v.(map[string]any); mapping && strings.HasPrefix(name, "ansible_") { // encrypted
			assert.Contains(t, h.NoLogin, name+" is encrypted with Ansible Vault", h.Name)
			return
		}
	}
	assert.Empty(t, h.NoLogin, h.Name)
	if strings.TrimPrefix(want.text(h.Name, "ansible_connection"), "ansible.builtin.") == "local" {
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
	become := hosts.Become{}
	if slices.Contains([]string{"true", "yes"}, strings.ToLower(want.text(h.Name, "ansible_become"))) {
		become = hosts.Become{User: cmp.Or(want.text(h.Name, "ansible_become_user"), "root"), Method: cmp.Or(want.text(h.Name, "ansible_become_method"), "sudo")}
	}
	assert.Equal(t, become, h.Become, "ansible_become of %s", h.Name)
	args := want.text(h.Name, "ansible_ssh_common_args")
	if len(h.Via) == 0 {
		assert.Empty(t, args, "ansible_ssh_common_args of %s", h.Name)
	}
	for _, hop := range h.Via {
		assert.Contains(t, args, hop, "ansible_ssh_common_args of %s", h.Name)
	}
}
