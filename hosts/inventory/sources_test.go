package inventory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// files writes files below a new directory; a name that ends in ! is a program.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700)) // whatever the umask: programs in it are to be trusted
	for name, text := range texts {
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

// load reads an inventory whose programs' answers are kept beside it.
func load(t *testing.T, dir, name string) (*hosts.Inventory, []inventory.Warning, error) {
	t.Helper()
	o := quiet
	o.Cache = filepath.Join(dir, "cache")
	return inventory.Load(filepath.Join(dir, name), o)
}

// line writes what an inventory says of a host.
func line(h hosts.Host) string {
	out := h.Name
	add := func(key, v string) {
		if v != "" {
			out += " " + key + "=" + v
		}
	}
	add("transport", string(h.Transport))
	add("addr", h.Addr)
	if h.Port != 0 {
		add("port", fmt.Sprint(h.Port))
	}
	add("user", h.User)
	add("via", strings.Join(h.Via, "+"))
	add("tier", h.Tier)
	add("groups", strings.Join(h.Groups, "+"))
	add("role", h.Labels["role"])
	add("identity", strings.Join(h.Identity, "+"))
	if h.SSHConfig != "" {
		add("config", filepath.Base(h.SSHConfig))
	}
	add("refused", h.NoLogin)
	return out
}

func all(inv *hosts.Inventory) (out []string) {
	for h := range inv.All() {
		out = append(out, line(h))
	}
	return out
}

func TestSourcesAddTheirHostsWithAllThatTheySay(t *testing.T) {
	dir := files(t, map[string]string{
		"inventory.yaml": `version: 1
defaults: {user: default}
groups:
  - {name: web, tier: prod, hosts: [own]}
hosts:
  - {name: own}
  - {name: web2, port: 9}
rules:
  - {match: web3, set: {user: ruled, port: 7}}
sources:
  - {ansible: ansible/hosts.ini, tier: staging, labels: [role=imported]}
  - {exec: [./list], tier: dev}
  - {clush: groups.yaml, tier: dev}
  - {hosts: etc, tier: dev}
  - {csv: sub/h.csv}
  - {ssh_config: config, tier: dev}
`,
		"ansible/hosts.ini":      "[web]\nweb[1:3] ansible_user=line\n[site:children]\nweb\n[db]\ndb1 ansible_host=\"{{ x }}\"\ndb2 ansible_ssh_common_args='-J jump@gw:2222,bastion'\n",
		"ansible/group_vars/web": "ansible_port: 2222\n",
		"list!":                  "#!/bin/sh\necho '{\"cloud\": [\"c1\"], \"_meta\": {\"hostvars\": {\"c1\": {\"ansible_host\": \"192.0.2.1\"}}}}'\n",
		"groups.yaml":            "roles: {io: 'io[1-2]'}\n",
		"etc":                    "10.0.0.9 old.example.com\n",
		"sub/h.csv":              "name,address,tier,groups,labels\ncsv1,10.0.0.8,dev,web,role=row\n",
		"config":                 "Host alias\n",
	})
	inv, warnings, err := load(t, dir, "inventory.yaml")
	require.NoError(t, err)
	assert.Equal(t, []string{
		"own user=default tier=prod groups=web+site",
		"web2 port=9 user=line tier=prod groups=web+site role=imported",
		"web1 port=2222 user=line tier=prod groups=web+site role=imported",
		"web3 port=7 user=line tier=prod groups=web+site role=imported",
		"db1 user=default tier=staging groups=db role=imported refused=" + dir + "/ansible/hosts.ini:6: ansible_host is a template, which Fairlead does not evaluate; set addr of the host in an inventory of Fairlead's that has this one under sources",
		"db2 user=default via=jump@gw:2222+bastion tier=staging groups=db role=imported",
		"c1 addr=192.0.2.1 user=default tier=dev groups=cloud",
		"io1 user=default tier=dev groups=io",
		"io2 user=default tier=dev groups=io",
		"old.example.com addr=10.0.0.9 user=default tier=dev",
		"csv1 addr=10.0.0.8 user=default tier=dev groups=web+site role=row",
		"alias user=default tier=dev config=config",
	}, all(inv))
	require.Len(t, warnings, 1)
	assert.Equal(t, dir+"/ansible/hosts.ini:6: 1 setting has no counterpart and makes hosts refuse logins; list them with: fairlead hosts import "+dir+"/inventory.yaml", warnings[0].String())
	h, err := inv.Lookup("web1")
	require.NoError(t, err)
	assert.Equal(t, hosts.Pos{File: filepath.Join(dir, "ansible/hosts.ini"), Line: 2}, h.Source)
}

func TestAnInventoryLiftsARefusalOfASource(t *testing.T) {
	dir := files(t, map[string]string{
		"inventory.yaml": "version: 1\nhosts: [{name: a, addr: 10.0.0.1, tier: dev}]\nrules: [{match: b, set: {user: me}}]\nsources: [{ansible: hosts, tier: dev}]\n",
		"hosts":          "a ansible_host='{{ x }}'\nb\nc\n[all:vars]\nansible_user={{ y }}\n",
	})
	inv, _, err := load(t, dir, "inventory.yaml")
	require.NoError(t, err)
	why := dir + "/hosts:5: ansible_user is a template, which Fairlead does not evaluate; set user of the host in an inventory of Fairlead's that has this one under sources"
	assert.Equal(t, []string{
		"a addr=10.0.0.1 tier=dev groups=ungrouped refused=" + why,
		"b user=me tier=dev groups=ungrouped",
		"c tier=dev groups=ungrouped refused=" + why,
	}, all(inv))
	assert.NotEmpty(t, inv.As("agent/x").Len())
}

func TestSourcesThatDisagreeAreMistakes(t *testing.T) {
	dir := files(t, map[string]string{
		"inventory.yaml": "version: 1\nsources:\n  - {csv: a.csv, tier: dev}\n  - {csv: b.csv, tier: dev}\n  - {csv: none.csv}\n",
		"a.csv":          "name,address\nx,10.0.0.1\ny,10.0.0.2\n",
		"b.csv":          "name,address\nx,10.0.0.9\ny,10.0.0.2\n",
	})
	_, _, err := load(t, dir, "inventory.yaml")
	require.Error(t, err)
	assert.ErrorContains(t, err, "b.csv:2: addr of x is set differently in "+dir+"/a.csv:2")
	assert.ErrorContains(t, err, "none.csv: the file does not exist")
	assert.NotErrorIs(t, err, os.ErrNotExist, "the inventory itself is there")
	assert.NotContains(t, err.Error(), "addr of y")
}

func TestInventoriesOfOtherProgramsWorkAsTheyAre(t *testing.T) {
	dir := files(t, map[string]string{
		"hosts.ini":      "[web]\nweb1 ansible_port=1\n",
		"hosts":          "[web]\nweb2\n",
		"site.yml":       "all: {children: {web: {hosts: {web3: {ansible_user: u}}}}}\n",
		"group_vars/web": "ansible_user: g\n",
		"list!":          "#!/bin/sh\necho '{\"web\": [\"web4\"], \"_meta\": {\"hostvars\": {}}}'\n",
		"h.csv":          "name\nweb5\n",
		"dir/10":         "web6\n",
		"list.json":      `{"web": ["web7"], "_meta": {"hostvars": {}}}`,
		".ssh/config":    "Host web8\n",
		"own.yml":        "version: 1\nhosts: [{name: web9}]\n",
		"broken.ini":     "web\nx y\n",
	})
	for name, want := range map[string]string{
		"hosts.ini":   "web1 port=1 user=g groups=web",
		"hosts":       "web2 user=g groups=web",
		"site.yml":    "web3 user=u groups=web",
		"list":        "web4 user=g groups=web",
		"h.csv":       "web5",
		"dir":         "web6 groups=ungrouped",
		"list.json":   "web7 user=g groups=web",
		".ssh/config": "web8 config=config",
		"own.yml":     "web9",
	} {
		inv, _, err := load(t, dir, name)
		if assert.NoError(t, err, name) {
			assert.Equal(t, []string{want}, all(inv), name)
		}
	}
	_, _, err := load(t, dir, "broken.ini")
	assert.ErrorContains(t, err, "broken.ini:2: ")
	_, _, err = load(t, dir, "none.ini")
	assert.ErrorIs(t, err, os.ErrNotExist)

	t.Chdir(dir)
	for _, name := range []string{"hosts.ini", "./hosts.ini", "dir/../hosts.ini", "../" + filepath.Base(dir) + "/hosts.ini"} {
		inv, _, err := inventory.Load(name, quiet)
		if assert.NoError(t, err, name) {
			assert.Equal(t, []string{"web1 port=1 user=g groups=web"}, all(inv), name)
		}
	}
	inv, _, err := inventory.Load("dir", quiet)
	require.NoError(t, err)
	assert.Equal(t, 1, inv.Len())
}

func TestProgramsOfInventoriesThatOthersCanChangeAreNotRun(t *testing.T) {
	dir := files(t, map[string]string{
		"inventory.yaml": "version: 1\nsources:\n  - {exec: [./list]}\n",
		"list!":          "#!/bin/sh\ntouch ran\necho '{\"_meta\": {\"hostvars\": {}}}'\n",
	})
	require.NoError(t, os.Chmod(filepath.Join(dir, "inventory.yaml"), 0o622))
	_, _, err := load(t, dir, "inventory.yaml")
	assert.ErrorContains(t, err, "inventory.yaml:3: the program is not run: ")
	assert.NoFileExists(t, filepath.Join(dir, "ran"))
	require.NoError(t, os.Chmod(filepath.Join(dir, "inventory.yaml"), 0o600))
	_, _, err = load(t, dir, "inventory.yaml")
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(dir, "ran"))
}

func TestAFailingProgramIsReportedEachTime(t *testing.T) {
	dir := files(t, map[string]string{
		"inventory.yaml": "version: 1\nsources: [{exec: [./list], tier: dev, cache: 0s, timeout: 20s}]\n",
		"list!":          "#!/bin/sh\n. ./how\n",
		"how":            "echo '{\"a\": [\"x\"], \"_meta\": {\"hostvars\": {}}}'",
	})
	_, warnings, err := load(t, dir, "inventory.yaml")
	require.NoError(t, err)
	assert.Empty(t, warnings)
	write(t, filepath.Join(dir, "how"), "exit 9")
	for range 2 {
		inv, warnings, err := load(t, dir, "inventory.yaml")
		require.NoError(t, err)
		assert.Equal(t, 1, inv.Len())
		require.Len(t, warnings, 1)
		assert.Contains(t, warnings[0].String(), "./list: the program failed (exit status 9), so its answer of ")
	}
}

func TestProgramsRunWithinTheirTimesOnly(t *testing.T) {
	dir := files(t, map[string]string{
		"slow.yaml":  "version: 1\nsources: [{exec: [./slow], timeout: 50ms}]\n",
		"old.yaml":   "version: 1\nsources: [{exec: [./list], tier: dev, cache: 1h}]\n",
		"again.yaml": "version: 1\nsources: [{exec: [./list], tier: dev, cache: 0s}]\n",
		"slow!":      "#!/bin/sh\nexec sleep 1000\n",
		"list!":      "#!/bin/sh\necho run >>runs\necho '{\"_meta\": {\"hostvars\": {}}}'\n",
	})
	_, _, err := load(t, dir, "slow.yaml")
	assert.ErrorContains(t, err, "./slow: the program printed no list of hosts: it did not end within 50ms")
	for _, step := range []struct {
		name string
		runs int
	}{{"old.yaml", 1}, {"old.yaml", 1}, {"again.yaml", 2}, {"again.yaml", 3}, {"old.yaml", 3}} {
		_, _, err := load(t, dir, step.name)
		require.NoError(t, err)
		data, err := os.ReadFile(filepath.Join(dir, "runs"))
		require.NoError(t, err)
		assert.Equal(t, step.runs, strings.Count(string(data), "run"), step.name)
	}
}

func TestLiveFollowsItsSources(t *testing.T) {
	dir := files(t, map[string]string{
		"inventory.yaml":    "version: 1\nsources: [{ansible: site/hosts, tier: dev}]\n",
		"site/hosts":        "a\n",
		"site/group_vars/x": "",
	})
	f := follow(t, filepath.Join(dir, "inventory.yaml"))
	assert.Equal(t, []string{"a tier=dev groups=ungrouped"}, all(f.Current()))
	until := func(want ...string) {
		t.Helper()
		for {
			err := f.next(t)
			if got := all(f.Current()); err == nil && assert.ObjectsAreEqual(want, got) {
				return
			}
		}
	}
	write(t, filepath.Join(dir, "site/hosts"), "a\nb\n")
	until("a tier=dev groups=ungrouped", "b tier=dev groups=ungrouped")
	write(t, filepath.Join(dir, "site/group_vars/all.yml"), "ansible_user: u\n")
	until("a user=u tier=dev groups=ungrouped", "b user=u tier=dev groups=ungrouped")
	write(t, filepath.Join(dir, "site/group_vars/all.yml"), "ansible_user: [\n")
	for f.next(t) == nil {
	}
	assert.Len(t, all(f.Current()), 2, "what was good stays")
	write(t, filepath.Join(dir, "site/group_vars/all.yml"), "ansible_user: w\n")
	until("a user=w tier=dev groups=ungrouped", "b user=w tier=dev groups=ungrouped")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "site/host_vars"), 0o700))
	write(t, filepath.Join(dir, "site/host_vars/a"), "ansible_port: 5\n")
	until("a port=5 user=w tier=dev groups=ungrouped", "b user=w tier=dev groups=ungrouped")
}

func TestLiveFollowsADirectoryOfAnotherProgram(t *testing.T) {
	dir := files(t, map[string]string{"inv/10": "a\n"})
	f := follow(t, filepath.Join(dir, "inv"))
	write(t, filepath.Join(dir, "inv/20"), "b\n")
	for {
		if f.next(t) == nil && f.Current().Len() == 2 {
			break
		}
	}
}

func TestLiveAsksProgramsAgain(t *testing.T) {
	dir := files(t, map[string]string{
		"inventory.yaml": "version: 1\nsources: [{exec: [./list], tier: dev, cache: 0s}]\n",
		"list!":          "#!/bin/sh\ncat answer\n",
		"answer":         `{"a": ["x"], "_meta": {"hostvars": {}}}`,
	})
	o := inventory.WatchOptions{Options: quiet}.Again(10 * time.Millisecond)
	o.Cache = "none"
	reloads := make(chan error, 1)
	o.OnReload = func(err error) {
		select {
		case reloads <- err:
		default:
		}
	}
	live, err := inventory.Watch(filepath.Join(dir, "inventory.yaml"), o)
	require.NoError(t, err)
	defer live.Close()
	write(t, filepath.Join(dir, "answer"), `{"a": ["x", "y"], "_meta": {"hostvars": {}}}`)
	deadline := time.After(60 * time.Second)
	for live.Current().Len() != 2 {
		select {
		case <-reloads:
		case <-deadline:
			t.Fatal("the program was not asked again")
		}
	}
}

func TestTenThousandHostsOfASourceAreReadInSeconds(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "[rack%d]\nnode%d-[001:100] ansible_port=22%02d\n", i, i, i)
	}
	b.WriteString("[all:vars]\nansible_user=ops\n")
	dir := files(t, map[string]string{"hosts": b.String()})
	inv, _, err := load(t, dir, "hosts")
	require.NoError(t, err)
	assert.Equal(t, 10_000, inv.Len())
}
