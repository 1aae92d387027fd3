package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

var fairlead = &judge.Own{
	Paths:    []string{"/home/ada/.local/state/fairlead", "/etc/fairlead"},
	Except:   []string{"/home/ada/.local/state/fairlead/jobs"},
	Programs: []string{"/opt/bin/lead"},
	Home:     "/home/ada",
}

func TestWhatBelongsToFairleadItselfIsForbidden(t *testing.T) {
	for _, src := range []string{
		"cat /etc/fairlead/x", "cat /etc/fairlead", "ls /etc/fairlead", "cat ~/.local/state/fairlead/store.db", "cat $HOME/.local/state/fairlead/x", "cat ${HOME}/.local/state/fairlead/x",
		"cat ~ada/.local/state/fairlead/x", "cat /etc/fair*/x", "cat /etc/*/x", "cat /e?c/fairlead/x", "cat < /etc/fairlead/x", "echo x > /etc/fairlead/x", "grep x --file=/etc/fairlead/x f", "grep -f/etc/fairlead/x f",
		"dd if=/etc/fairlead/x", "curl -d@/etc/fairlead/x h", "cat /srv/../etc/fairlead/x", "cat /var/run/../etc/fairlead/x", "cd /etc/fairlead && ls", "cd /etc; cat fairlead/x", "sh -c 'cat /etc/fairlead/x'",
		"python3 -c 'open(\"/etc/fairlead/x\")'", "fairlead serve", "/usr/bin/fairlead serve", "./fairlead x", "fairl* serve", "/opt/bin/lead x", "sudo fairlead serve", "rm -rf /home/ada/.local", "mv /home/ada/.local x",
		"rm -rf ~/.local/state", "cat /home/ada/.local/state/fairlead/jobs/../x", "cat /proc/1/root/etc/fairlead/x", "cp /opt/bin/lead x", "cat /etc/fairlead/x /home/ada/.local/state/fairlead/jobs/x", "env -C /etc/fairlead ls",
		"x=/etc/fairlead/x; cat $x", "for f in /etc/fairlead/*; do cat $f; done", "echo /etc/fairlead/x", "cat /etc/{fairlead,x}/y",
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead, Dir: "/srv"})
		assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", src, r.Rule)
		assert.True(t, r.Own, src)
	}
	for _, c := range [][]string{{"cat", "/etc/fairlead/x"}, {"fairlead", "serve"}, {"head", "-n1", "/etc/fairlead/x"}} {
		r := judge.Judge(judge.Request{Program: c[0], Args: c[1:], Own: fairlead, Dir: "/srv"})
		assert.True(t, r.Own, c)
	}
	r := judge.Judge(judge.Request{Script: "ls", Shell: "bash", Own: fairlead, Dir: "/etc/fairlead"})
	assert.Equal(t, policy.Forbidden, r.Class, "a command runs there")
}

func TestWhatOnlySoundsLikeFairleadsOwnIsNot(t *testing.T) {
	for _, src := range []string{
		"cat /etc/fairlead2/x", "cat /etc/fairleader", "cat /home/ada/.local/state/fairlead/jobs/7/out", "ls /home/ada/.local/state/fairlead/jobs", "tail ~/.local/state/fairlead/jobs/7/out",
		"cd /home/ada/.local/state/fairlead/jobs/7 && ls", "echo fairlead", "grep fairlead /srv/x", "cat /opt/bin/leader", "ls -l /opt/bin", "cat /srv/fairlead.txt", "find /etc -name x", "stat /home/ada", "ls /opt/bin/le*",
		"ls /etc", "ls ~", "cat /srv/lead",
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead, Dir: "/srv"})
		assert.False(t, r.Own, "%s: %s", src, r.Reason)
		assert.Equal(t, policy.ReadOnly, r.Class, "%s: %s", src, r.Reason)
	}
	r := judge.Judge(judge.Request{Script: "cat /etc/fairlead/x", Shell: "bash"})
	assert.False(t, r.Own, "who does not ask is not answered")
	assert.True(t, fairlead.Excepts("/home/ada/.local/state/fairlead/jobs"))
	assert.True(t, fairlead.Excepts("/home/ada/.local/state/fairlead/jobs/7"))
	assert.False(t, fairlead.Excepts("/home/ada/.local/state/fairlead/jobs7"))
}

func TestWhatIsAboveFairleadsOwnAsks(t *testing.T) {
	for _, src := range []string{
		"grep -r x /etc", "grep -r x /home/ada", "tar cf x /etc", "cp -r /etc x", "find /etc -exec cat {} +", "find /etc -fprint x", "find /etc -fprint0 x", "find /etc -fls x", "find /etc -fprintf x %p", "find /etc -ok cat {} ';'",
		"rsync -a /home/ada h:x", "cd /etc && grep -r x", "cd /etc && tar cf /tmp/x .", "rg x /", "chmod -R 755 /home/ada/.local", "mount --bind /etc x", "ln -s /etc x", "cp -r /home/*/.local x", "find /etc -execdir cat {} +", "find /etc -okdir cat {} ';'",
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead, Dir: "/srv"})
		assert.True(t, r.OwnAsks, "%s: %s", src, r.Reason)
		assert.NotEqual(t, policy.ReadOnly, r.Class, src)
	}
	for _, src := range []string{"grep -r x /srv", "cd /srv && grep -r x", "find /etc -name x", "grep x /etc", "cp /srv/a /srv/b", "tar cf x /srv"} {
		assert.False(t, judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead, Dir: "/srv"}).OwnAsks, src)
	}
	for src, want := range map[string]bool{
		"cat fairlead/store.db": true, "cat state/fairlead/x": true, "cat ../fairlead/x": true, "cat ../../state/fairlead/x": true, "cat ./fairlead/x": true, "cat x/fairlead/y": false, "cat state/x": false, "cat fairlea/x": false, "cat etc/x": false,
		"cat */x": false,
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead})
		assert.Equal(t, want, r.Class != policy.ReadOnly, "%s: nobody knows where it begins: %s", src, r.Reason)
	}
}

func TestWordsThatMayBeLinksAreNamed(t *testing.T) {
	r := judge.Judge(judge.Request{Script: "cat a --file=/b; ./c; head ~/d", Shell: "bash", Own: fairlead, Dir: "/srv"})
	for _, want := range []judge.Named{{Path: "/srv/a"}, {Path: "/b"}, {Path: "cat", Command: true}, {Path: "/srv/c", Command: true}, {Path: "/home/ada/d"}} {
		assert.Contains(t, r.Named, want)
	}
	assert.Empty(t, judge.Judge(judge.Request{Script: "cat a", Shell: "bash"}).Named)
}
