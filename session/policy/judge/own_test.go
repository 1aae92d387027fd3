package judge_test

import (
	"strconv"
	"strings"
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

// Wherever a word may stand it may name a file; here no text of the script holds the name as it is.
func TestEveryPlaceOfAPathIsLookedAtForFairleadsOwn(t *testing.T) {
	const p = `/etc/"fair"lead/x`
	for _, src := range []string{
		"cat P", "cat a P b", "cat -f P", "cat -fP", "cat --file=P", "cat x=P", "cat a:P", "cat @P", "cat a,P", "cat -- P", "cat <P", "cat >P", "cat 2>>P", "cat <>P", "cat >|P", "cat &>P", "cat <<<P", "cat <<E\n$(cat P)\nE", "P", "P/y z",
		"x=P", "x=P ls", "x+=P", "x=(a P)", "x=([0]=P)", "export x=P", "declare x=P", "declare -a x=(P)", "local x=P", "readonly x=P", "for f in a P; do ls; done", "select f in P; do ls; done", "case P in a) ls;; esac", "case a in P) ls;; esac", "[[ -f P ]]",
		"[[ a = P ]]", "[[ P -nt b ]]", "[[ ! ( -f P ) ]]", "[ -f P ]", "test P -nt b", "echo ${x:-P}", "echo ${x:=P}", "echo ${x+P}", "echo ${x:?P}", "echo ${x/b/P}", "echo ${x%P}", "echo \"${x:-P}\"", "echo $(cat P)", "echo `cat P`", "cat <(cat P)",
		"cat >(cat P)", "coproc cat P", "time cat P", "! cat P", "(cat P)", "{ cat P; }", "if cat P; then ls; fi", "if ls; then cat P; elif cat P; then ls; else ls; fi", "while cat P; do ls; done", "until ls; do cat P; done", "f() { cat P; }", "cat P | ls", "ls | cat P",
		"ls && cat P", "ls & cat P", "eval cat P", "eval 'cat P'", "sh -c 'cat P'", "command cat P", "exec cat P", "env cat P", "env -C P ls", "sudo cat P", "nice cat P", "xargs cat P", "xargs -I{} cat {} P", "find . -exec cat P {} +", "find P", "cd P", "cd P && ls", "pushd P",
		"trap 'cat P' EXIT", "alias x='cat P'", ". P", "source P", "read -r x <P", "mapfile x <P", "printf %s P", "print P", "echo P", "kill P", "wait P", "repeat 2 cat P", "ssh h cat P", "python3 P", "awk -f P", "rm P", "mv a P", "ln -s P a", "cp P a", "chmod 600 P",
		"ls {a,P}", "ls {P,a}", "x=P; cat $x", "x=P; cat \"$x\"", "x=P; cat y/$x", "cat a,b,c,d,e,f,g,h,i,j,k,P",
	} {
		r := judge.Judge(judge.Request{Script: strings.ReplaceAll(src, "P", p), Shell: "bash", Own: fairlead, Dir: "/srv"})
		if src != "x=P; cat y/$x" && !strings.Contains(src, "ssh h") {
			assert.True(t, r.Own, "%s: %s", src, r.Reason)
			assert.Equal(t, policy.Forbidden, r.Class, src)
		}
	}
	for _, src := range []string{
		"cat /etc/fairle?d/x", "cat </etc/fairle?d/x", "cat >/etc/fairle?d/x", "cat < /opt/bin/le*", "echo > /opt/bin/le*", "cat /opt/bin/le*", "rm /opt/bin/le*", "chmod 600 /opt/bin/le*", "for f in /etc/fairle?d/x; do ls; done", "cat /etc/fairlea[d]/x", "fa* serve",
		"/opt/b*/lead x", "/opt/bin/../bin/lead x", "fairlead", "/srv/fairlead", "x=fairlead; $x serve", "x=/opt/bin; $x/lead", "cd /etc; cat {x,fairle?d}/y", "cat ~+/../etc/fairle?d/x",
	} {
		assert.True(t, judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead, Dir: "/srv"}).Own, src)
	}
	for _, src := range []string{"cat srv/etc/fairle?d/x", "cat -f/srv/etc/fairle?d/x", "f* serve", "ls /opt/bin/le*", "stat /opt/bin/le*", "leadx serve", "/opt/bin/leader x", "opt/bin/lea* x", "cat fair*", "echo /opt/bin"} {
		assert.False(t, judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead, Dir: "/srv"}).Own, src)
	}
	for _, c := range [][]string{{"/etc/fairlead/x"}, {"cat", "/etc//fairlead/x"}, {"cat", "-f/etc//fairlead/x"}, {"/opt/bin//lead"}, {"x/fairlead"}, {"rm", "-r", "/home//ada"}} {
		assert.True(t, judge.Judge(judge.Request{Program: c[0], Args: c[1:], Own: fairlead, Dir: "/srv"}).Own, c)
	}
}

func TestAHomeThatNobodyKnowsIsNone(t *testing.T) {
	own := &judge.Own{Paths: []string{"/etc/fairlead"}}
	for src, want := range map[string]bool{"cat ~/etc/fairlead2/x": false, "ls '$HOME/etc/fair'": false, "cat /etc/fairlead/x": true} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: src, Shell: "bash", Own: own, Dir: "/srv"}).Own, src)
	}
	for src, want := range map[string]policy.Class{"cat ..": policy.ReadOnly, "cat ../..": policy.ReadOnly, "cat ?": policy.ReadOnly, "cat home/ada/.local/state/fairlead/x": policy.SensitiveRead, "cat */fair*/x": policy.ReadOnly, "cat f*/x": policy.SensitiveRead,
		"cat state/fai*/x": policy.SensitiveRead, "cat ada/.local/state/fairlead/x": policy.SensitiveRead, "cat .local/state": policy.ReadOnly} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead})
		assert.Equal(t, want, r.Class, "%s: %s", src, r.Reason)
	}
}

func TestEveryWordThatMayBeALinkIsNamedOnce(t *testing.T) {
	named := func(src string) []judge.Named {
		var out []judge.Named
		for _, n := range judge.Judge(judge.Request{Script: src, Shell: "bash", Own: fairlead, Dir: "/srv"}).Named {
			if !n.Command && n.Path != "/srv/cat" {
				out = append(out, n)
			}
		}
		return out
	}
	assert.Equal(t, []judge.Named{{Path: "/srv/a"}, {Path: "/srv/b"}}, named("cat a b a; cat b"))
	assert.Equal(t, []judge.Named{{Path: "/srv/-fa"}, {Path: "/srv/a"}}, named("cat -fa"))
	assert.Equal(t, []judge.Named{{Path: "/srv/--fa"}}, named("cat --fa"))
	assert.Equal(t, []judge.Named{{Path: "/srv/-"}}, named("cat -"))
	assert.Equal(t, []judge.Named{{Path: "/srv/-f"}}, named("cat -f"))
	assert.Equal(t, []judge.Named{{Path: "/srv/a=b"}, {Path: "/srv/b"}}, named("cat a=b"))
	many := func(n int) judge.Report {
		var b strings.Builder
		for i := range n {
			b.WriteString(" f" + strconv.Itoa(i))
		}
		return judge.Judge(judge.Request{Script: "echo" + b.String(), Shell: "bash", Own: fairlead, Dir: "/srv"})
	}
	assert.False(t, many(510).Capped, "with the command, as a name and as a file")
	assert.True(t, many(511).Capped)
	assert.Equal(t, policy.Unknown, many(511).Class, "a link that was not looked at would be read unseen")
}

// Words that are only printed, compared or counted with open nothing, whatever an expansion in them stands for.
func TestExpansionsBesideWhatIsFairleadsOwn(t *testing.T) {
	own := &judge.Own{Paths: []string{"/home/ada/inventory.yaml", "/home/ada/.local/state/fairlead"}, Programs: []string{"/home/ada/fairlead"}, Home: "/home/ada"}
	for _, src := range []string{
		"echo $x", "echo \"$x\"", "echo $$", "echo $?", "echo $*", "printf '%s\\n' $x", "[ $x = 1 ] && echo yes", "test -n $x", "sleep $n", "for i in $x; do echo $i; done", "for i in 1 2 3; do echo $i; done", "kill -0 $$", "x=$(date); echo $x",
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Own: own, Dir: "/home/ada"})
		assert.False(t, r.Own, "%s: %s", src, r.Reason)
	}
	for _, src := range []string{
		"cat $x", "cat *", "head -n1 $x", "cp $x y", "for i in *; do cat $i; done", "for i in $x; do cat \"$i\"; done", "echo x >$x", "cat <$x", "echo $(<$x)", "echo $(cat $x)", "echo inventory.yaml", "echo .local/state/fairlead/*",
		"echo /home/ada/.local/state/fairlead/*", "[ -f inventory.yaml ]", "grep x $f", "ls *", "echo *", "echo * | xargs cat", "for i in *; do echo $i; done",
		"echo /home/ada/.local/*/fairlead/x | xargs cat", "echo /home/ada/.local/state/*/store.db | xargs cat", "for f in .local/state/*/x; do cat \"$f\"; done",
		"x=.local/state/*/x; cat $x", "f() { cat \"$1\"; }; f .local/state/*/x", "printf '%s\\n' .local/state/*/x | xargs cat",
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Own: own, Dir: "/home/ada"})
		assert.True(t, r.Own, "%s: %s", src, r.Reason)
	}
}
