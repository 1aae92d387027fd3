package ssh_test

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// playground is thirty addresses of one sshd, and an Ansible that reaches them by Fairlead or by ssh.
type playground struct{ *asSSH }

// playHosts is how many hosts a play is for.
const playHosts = 30

func newPlayground(t *testing.T, keeper string) *playground {
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		needs.Part(t, "ansible-playbook is not installed")
	}
	sshd := sessiontest.OpenSSHD(t, "ListenAddress 0.0.0.0", "MaxStartups 200", "MaxSessions 20", "SetEnv SHLVL=3") // without start files
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	dir, _ := fairleadtest.KeeperHome(t)
	self := fairleadtest.Program(t, dir)
	a := &asSSH{t: t, sshd: sshd, dir: dir, ssh: filepath.Join(dir, "bin", "fairlead-ssh"), atMost: 4 * fairleadtest.AwaitAtMost} // of thousands of processes
	require.NoError(t, os.Symlink(self, a.ssh))
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	config, err := os.ReadFile(sshd.Config)
	require.NoError(t, err)
	known, err := os.ReadFile(sshd.KnownHosts)
	require.NoError(t, err)
	_, key, _ := strings.Cut(strings.TrimSpace(string(known)), " ")
	var keys, ours, theirs strings.Builder
	ours.WriteString("version: 1\nhosts:\n")
	theirs.WriteString("[all]\n")
	ssh := strings.ReplaceAll(string(config), "Host sshd\n", "Host n*\n")
	ssh = strings.ReplaceAll(ssh, "\tHostName 127.0.0.1\n", "")
	ssh = strings.ReplaceAll(ssh, sshd.KnownHosts, filepath.Join(dir, "known_hosts"))
	var places strings.Builder
	for i := 1; i <= playHosts; i++ {
		fmt.Fprintf(&places, "Host n%02d\n\tHostName 127.0.3.%d\n", i, i)
		fmt.Fprintf(&keys, "[127.0.3.%d]:%s %s\n", i, port, key)
	}
	write("known_hosts", keys.String())
	named := write("ssh_config", places.String()+ssh)
	fmt.Fprintf(&ours, "  - {name: \"n[01-%d]\", ssh_config: %q, tier: dev}\n", playHosts, named)
	fmt.Fprintf(&theirs, "n[01:%d]\n", playHosts)
	write(".config/fairlead/inventory.yaml", ours.String())
	write("hosts.ini", theirs.String())
	write("ansible.cfg", "[defaults]\ninventory = hosts.ini\nforks = 10\ngathering = explicit\ninterpreter_python = /usr/bin/python3\nlocalhost_warning = False\n[ssh_connection]\npipelining = True\n")
	a.env = []string{
		fairleadtest.Gorace, "PATH=" + filepath.Dir(self) + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "TERM=dumb", "SHELL=/bin/sh", "LANG=C.UTF-8",
		"FAIRLEAD_KEEPER=" + keeper, "ANSIBLE_CONFIG=" + filepath.Join(dir, "ansible.cfg"), "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCAL_TEMP=" + filepath.Join(dir, "local"),
		"ANSIBLE_REMOTE_TEMP=" + filepath.Join(sshd.Dir, "remote"), "ANSIBLE_SSH_ARGS=-F " + named + " -o ControlMaster=auto -o ControlPersist=60s", "ANSIBLE_SSH_CONTROL_PATH_DIR=" + filepath.Join(dir, "cp"),
	}
	write("page.j2", "{{ inventory_hostname }} and {{ 'ü' }} \"quoted\" $HOME\n")
	write("file", strings.Repeat("0123456789abcdef\x00\r\n", 1<<10))
	// A package manager as plays use one: it locks, writes, and says whether anything changed.
	write("pkg", "#!/bin/sh\n[ -e \"$2.installed\" ] && { echo unchanged; exit 0; }\n: >\"$2.installed\" && echo changed\n")
	return &playground{a}
}

// playNames are the first n hosts.
func playNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("n%02d", i+1))
	}
	return names
}

// play plays tasks on the first n hosts, by the program that stands for ssh; "" is ssh itself.
func (p *playground) play(n int, ssh string, tasks ...string) fairleadtest.Outcome {
	p.t.Helper()
	book := filepath.Join(p.dir, "play.yaml")
	require.NoError(p.t, os.WriteFile(book, []byte("- hosts: all\n  gather_facts: false\n  tasks:\n    - "+strings.Join(tasks, "\n    - ")+"\n"), 0o600))
	env := p.env
	if ssh != "" {
		// Files that a task copies travel by sftp, which calls ssh by itself.
		p.env = append(p.env[:len(p.env):len(p.env)], "ANSIBLE_SSH_EXECUTABLE="+ssh, "ANSIBLE_SFTP_EXTRA_ARGS=-S "+ssh)
	}
	defer func() { p.env = env }()
	return p.run("", "ansible-playbook", "-l", strings.Join(playNames(n), ","), book)
}

// tasks of a play that ends in files of its own for each host.
func (p *playground) tasks() []string {
	at := p.sshd.Dir + "/{{ inventory_hostname }}"
	return []string{
		"ping:",
		"command: echo one two",
		"copy: {src: " + p.dir + "/file, dest: '" + at + ".copy', mode: '0640'}",
		"template: {src: " + p.dir + "/page.j2, dest: '" + at + ".page'}",
		"script: " + p.dir + "/pkg install " + at + ".pkg",
		"shell: 'test -s " + at + ".copy && wc -c <" + at + ".copy'",
		"file: {path: '" + at + ".d', state: directory}",
		"stat: {path: '" + at + ".page'}",
		"lineinfile: {path: '" + at + ".page', line: more}",
		"slurp: {src: '" + at + ".page'}",
	}
}

// Ansible is not changed for Fairlead: its ssh is Fairlead's, with pipelining and without.
func TestAnsiblePlaysThroughFairlead(t *testing.T) {
	fairleadtest.TooLongForTheDetector(t)
	t.Parallel()
	for _, keeper := range []string{"require", "off"} {
		t.Run(keeper, func(t *testing.T) {
			p := newPlayground(t, keeper)
			if keeper == "off" { // each step of a task is a login, so these are few
				p.env = append(p.env, "ANSIBLE_PIPELINING=False")
				r := p.play(1, p.ssh, p.tasks()[2:3]...)
				require.Zero(t, r.Code, "%s%s", r.Out, r.Err)
				require.FileExists(t, filepath.Join(p.sshd.Dir, "n01.copy"))
				return
			}
			n := 10 // of which Ansible reaches as many at once
			if needs.Sample {
				n = 4
			}
			r := p.play(n, p.ssh, p.tasks()[:5]...)
			assert.Contains(t, p.ok(filepath.Join(p.dir, "bin", "fairlead"), "audit", "search", "--json", "--since", "1h"), `"command":"sftp-server"`, "files too")
			require.Zero(t, r.Code, "%s%s", r.Out, r.Err)
			assert.Equal(t, n, strings.Count(r.Out, "ok=5 "), r.Out)
			want, err := os.ReadFile(filepath.Join(p.dir, "file"))
			require.NoError(t, err)
			for i := 1; i <= n; i++ {
				at := filepath.Join(p.sshd.Dir, fmt.Sprintf("n%02d", i))
				got, err := os.ReadFile(at + ".copy")
				require.NoError(t, err)
				require.Equal(t, want, got)
				page, err := os.ReadFile(at + ".page")
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("n%02d and ü \"quoted\" $HOME\n", i), string(page))
				require.FileExists(t, at+".pkg.installed")
			}
			r = p.play(1, p.ssh, "command: sh -c 'exit 3'")
			assert.Contains(t, r.Out, `"rc": 3`, "an exit code is the command's")
			assert.NotZero(t, r.Code)
		})
	}
}

var (
	compareAnsible = flag.Bool("ansible.compare", false, "time a play of ten tasks over thirty hosts by ssh and by Fairlead")
	ansibleRounds  = flag.Int("ansible.rounds", 3, "how often each way is timed")
	ansibleHosts   = flag.Int("ansible.hosts", playHosts, "how many hosts the play is for, at most 30")
)

// free is an ssh that costs nothing: it runs at once on this machine what it is to run on a host. No transport can be faster.
const free = `#!/bin/sh
for last; do :; done
case $last in sftp) exec "$(command -v /usr/lib/openssh/sftp-server || command -v /usr/libexec/sftp-server)" ;; esac
exec /bin/sh -c "$last"
`

// Both are warm: each way plays once before it is timed, and ssh has ControlPersist and pipelining. What Ansible itself takes is
// printed too: with an ssh that costs nothing, and on this machine without any connection.
func TestAnsibleIsFasterByFairlead(t *testing.T) {
	if !*compareAnsible {
		t.Skip("-ansible.compare times it")
	}
	p := newPlayground(t, "require")
	nothing := filepath.Join(p.dir, "bin", "free")
	require.NoError(t, os.WriteFile(nothing, []byte(free), 0o700))
	took := map[string][]time.Duration{}
	for range *ansibleRounds {
		for _, by := range []string{"ssh", "fairlead", "free", "none"} {
			ssh := map[string]string{"fairlead": p.ssh, "free": nothing}[by]
			env := p.env
			if by == "none" {
				p.env = append(p.env[:len(p.env):len(p.env)], "ANSIBLE_TRANSPORT=local")
			}
			require.Zero(t, p.play(*ansibleHosts, ssh, "ping:").Code)
			began := time.Now()
			r := p.play(*ansibleHosts, ssh, p.tasks()...)
			took[by] = append(took[by], time.Since(began))
			t.Logf("%s: %v", by, time.Since(began).Round(time.Millisecond))
			p.env = env
			require.Zero(t, r.Code, "%s%s", r.Out, r.Err)
			require.Equal(t, *ansibleHosts, strings.Count(r.Out, "ok=10 "), r.Out)
		}
	}
	best := func(by string) time.Duration { return slices.Min(took[by]) }
	ms := func(by string) time.Duration { return best(by).Round(time.Millisecond) }
	t.Logf("ten tasks on %d hosts, the best of %d: ssh %v, fairlead %v, an ssh that costs nothing %v, without a connection %v; ssh takes %.2f times as long as fairlead, and %.2f times as long as with one that costs nothing",
		*ansibleHosts, len(took["ssh"]), ms("ssh"), ms("fairlead"), ms("free"), ms("none"), best("ssh").Seconds()/best("fairlead").Seconds(), best("ssh").Seconds()/best("free").Seconds())
}
