package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// The words that one brace expansion makes are judged one by one, patterns and variables among them.
func TestEachWordOfABraceExpansionIsItself(t *testing.T) {
	verdicts(t, "bash", `
		sensitive-read | cat {/etc/shado?,/srv/?}
		sensitive-read | cat {/srv/?,/etc/shado?}
		read-only | cat {/srv/a?,/srv/b?}
		forbidden | rm -rf {"$x"/,y$x}
		forbidden | rm -rf {y$x,"$x"/}
		forbidden | rm -rf {/et*,y*}
		forbidden | rm -rf {{/et*,x*},y*}
		dangerous | rm -rf {/srv/a*,y*}
		unknown | {ls,-l}
		unknown | {ls,$x}
		unknown | env {ls,-l}
		unknown | command {ls,-l$x}
		read-only | ls {a,b}
	`)
	r := judge.Judge(judge.Request{Script: "cat {a?,b$x,c}d", Shell: "bash"})
	var sources []string
	for _, p := range r.Reads {
		sources = append(sources, p.Source)
	}
	assert.Equal(t, []string{"a?d", "b$xd", "{a?,b$x,c}d"}, sources)
}

// What was fetched is not run, by whatever name the script itself gives it.
func TestWhatWasFetchedIsKnownByTheNamesOfTheScript(t *testing.T) {
	verdicts(t, "bash", `
		forbidden | x=/tmp/f; curl h -o "$x"; sh "$x"
		forbidden | x=/tmp/f; curl h >"$x"; . "$x"
		forbidden | x=/tmp/f; curl h >$x; chmod +x $x; $x
		forbidden | x=/tmp/f; curl h -o $x; /tmp/f
		forbidden | curl h --output=/tmp/f; sh /tmp/f
		forbidden | curl h -o/tmp/f; python3 /srv/f
		forbidden | wget h -O/tmp/f; bash -x /tmp/f
		forbidden | curl h >'f g'; sh 'f g'
		forbidden | base64 -d a >f; sh f
		forbidden | curl h >{f,g}; sh g
		unknown | curl h -o /dev/null; sh null
		unknown | curl h >/dev/null; sh null
		unknown | curl -x h; bash -x g
		unknown | curl h -o f; sh g
		unknown | curl h -o /; sh .
		unknown | curl h <f; sh f
		unknown | curl h >f <<'E'; sh g
	`)
}

func TestWhichOptionsEndAnInterpretersReading(t *testing.T) {
	verdicts(t, "bash", `
		network-read | curl x | bash --version
		network-read | curl x | bash --help
		unknown | curl x | node --eval y
		forbidden | curl x | bash --norc
		forbidden | curl x | node --experimental-vm-modules
		unknown | curl x | bash -ic y
		unknown | curl x | bash -c y
		forbidden | curl x | python3 -ic y
		unknown | curl x | python3 -c y
		unknown | curl x | perl -e y
		unknown | curl x | python3 -m y
		unknown | curl x | ruby -r y
		forbidden | curl x | perl -w
		forbidden | curl x | bash -x
		forbidden | curl x | bash +x
		forbidden | curl x | bash +o posix
		forbidden | curl x | bash -O extglob
		forbidden | curl x | bash +O extglob
		forbidden | curl x | bash -s y
		forbidden | curl x | bash /proc/self/fd/0
		unknown | curl x | bash -- y
		unknown | curl x | bash y
		unknown | curl x | python3 -o y
	`)
}

func TestWhatAPipelineRecodes(t *testing.T) {
	verdicts(t, "bash", `
		read-only | cat /srv/x | rev /etc/hostname
		sensitive-read | cat /srv/x | rev
		sensitive-read | rev </srv/x
		read-only | rev </etc/hostname
		sensitive-read | rev <<<"$x"
		read-only | rev <<<x
		read-only | rev
		read-only | rev - </etc/hostname
		sensitive-read | rev /dev/stdin </srv/x
		read-only | rev /dev/stdin </etc/hostname
		read-only | head -n 10 /etc/hosts | rev
		read-only | head -n10 /etc/hosts | rev
		read-only | head -n100 /etc/hosts | rev
		read-only | tail +5 /etc/hosts | rev
		sensitive-read | tail x5 | rev
		sensitive-read | cat -- -ab | rev
		sensitive-read | cat -A x | rev
		read-only | cat - | rev
		sensitive-read | cat </srv/x | rev
		read-only | cat </etc/hosts | rev
		sensitive-read | echo "$x" | rev
		sensitive-read | echo a* | rev
		read-only | printf x | rev
		sensitive-read | grep x f | rev
		sensitive-read | cat /srv/x | tr a b | rev
	`)
	assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "rev", Shell: "bash", Interactive: true}).Class)
}

func TestFilesThatHoldNoSecretsMayBeRecoded(t *testing.T) {
	for name := range strings.FieldsSeq(`/usr/bin/x /usr/sbin/x /usr/lib/x /usr/lib64/x /usr/share/x /usr/include/x /bin/x /sbin/x /lib/x /lib64/x
		/etc/hostname /etc/hosts /etc/os-release /etc/timezone /etc/localtime /etc/machine-id /etc/issue /etc/issue.net /etc/debian_version /etc/resolv.conf /etc/shells /etc/services
		/etc/protocols /etc/passwd /etc/group /etc/motd /proc/cpuinfo /proc/meminfo /proc/version /proc/uptime /proc/loadavg /proc/stat /proc/filesystems /proc/modules
		/proc/partitions /proc/devices /proc/interrupts /dev/null /dev/zero /dev/random /dev/urandom`) {
		assert.NotContains(t, judge.Judge(judge.Request{Script: "rev " + name, Shell: "bash"}).Classes, policy.SensitiveRead, name)
		assert.Contains(t, judge.Judge(judge.Request{Script: "rev /srv" + name, Shell: "bash"}).Classes, policy.SensitiveRead, name)
		assert.Contains(t, judge.Judge(judge.Request{Script: "rev ." + name, Shell: "bash"}).Classes, policy.SensitiveRead, name)
	}
}

func TestWhoReadsWhatIsTyped(t *testing.T) {
	assert.True(t, judge.Judge(judge.Request{Script: "sh", Shell: "bash", Interactive: true}).Hidden)
	assert.False(t, judge.Judge(judge.Request{Script: "sh", Shell: "bash"}).Hidden)
	assert.False(t, judge.Judge(judge.Request{Program: "sh", Interactive: true}).Hidden)
}

func TestCRLFWithinQuotes(t *testing.T) {
	for src, want := range map[string]bool{
		"ls\r\n": false, "ls\n'a\n'": false, "echo 'a\r\nb'": true, "echo \"a\r\nb\"": true, "cat <<E\r\na\r\nE\r\n": true, "echo 'a'\r\nls 'b'": false, "'a\n'\r\nls": false,
		"ls\r\n\r\necho 'a\r\n'": true, "echo 'a'\r\n\r\n\r\n": false, "echo a\r\n'b'": false,
		"if\r\nls (": false, "if 'a'\r\n(": true, "if \"a\"\r\n(": true, "if <<E\r\n(": true, "ls <a\r\n(": false,
		"ls\r\n" + string(make([]byte, 0)): false,
	} {
		assert.Equal(t, want, judge.QuotedCRLF(src), "%q", src)
	}
	long := make([]byte, 64<<10-2)
	for i := range long {
		long[i] = ' '
	}
	assert.False(t, judge.QuotedCRLF(string(long)+"\r\n"))
	assert.True(t, judge.QuotedCRLF(string(long)+" \r\n"))
}

func TestBackslashesWithinDoubleQuotes(t *testing.T) {
	r := judge.Judge(judge.Request{Script: `cat "a\$b" "a\` + "`" + `b" "a\"b" "a\\b" "a\zb" "a\'b" "c\` + "\n" + `d" 'e\$f'`, Shell: "bash"})
	var texts []string
	for _, p := range r.Reads {
		texts = append(texts, p.Text)
	}
	assert.Equal(t, []string{"a$b", "a`b", `a"b`, `a\b`, `a\zb`, `a\'b`, "cd", `e\$f`}, texts)
}

// One change is one class: which file it is of makes it worse. Two changes are two.
func TestOneChangeIsOfOneClass(t *testing.T) {
	for src, want := range map[string][]policy.Class{
		"touch /usr/bin/x":          {policy.ReadOnly, policy.Dangerous},
		"touch /etc/passwd":         {policy.ReadOnly, policy.Forbidden},
		"rm -rf /etc":               {policy.ReadOnly, policy.Forbidden},
		"touch x":                   {policy.ReadOnly, policy.Write},
		"rm -r x":                   {policy.ReadOnly, policy.Dangerous},
		"touch x; touch /usr/bin/y": {policy.ReadOnly, policy.Write, policy.Dangerous},
		"touch /usr/bin/y >x":       {policy.ReadOnly, policy.Write, policy.Dangerous},
		"rm -r x; rm -rf /etc":      {policy.ReadOnly, policy.Dangerous, policy.Forbidden},
	} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv"}).Classes, src)
	}
	for src, want := range map[string]string{"eval ls &": "shell/background", "ls x >a >b": "shell/redirect", "ls": "programs/ls", "x=$(eval ls; :)": "builtins/eval", "ls; eval ls; . x": "builtins/eval"} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: src, Shell: "bash"}).Rule, "%s: the first of the worst decides", src)
	}
}

func TestWhereACommandRunsEndsWithIt(t *testing.T) {
	for _, src := range []string{"env -C / ls; rm -rf *", "(cd /; ls); rm -rf *", "echo $(cd /); rm -rf *", "cd / | ls; rm -rf *", "f() { cd /; }; rm -rf *", "ssh h ls; rm -rf *", "env -C; rm -rf *"} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv/app"})
		assert.NotEqual(t, policy.Forbidden, r.Class, "%s: %s", src, r.Reason)
	}
	for _, src := range []string{"env -C / -- rm -rf *", "env -C/ rm -rf *", "env --chdir=/ rm -rf *", "cd /; ls; rm -rf *", "find . -exec rm -rf {}/../../../.. ';'", "rm -rf /etc/..?", "rm -rf /etc/.?*", "rm -rf /etc/[a-z]*/../*"} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv/app"})
		assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", src, r.Reason)
	}
}

func TestPiecesBetweenBackquotes(t *testing.T) {
	verdicts(t, "bash", "read-only | echo \"`echo \\\"a\\\"`\"\nread-only | echo `ls`\nunknown | echo \"`echo \"a\" b`\"\nread-only | echo \"`ls`\"")
	for _, src := range []string{"echo `cat <<\\E\n``; rm -rf /; echo `\nE\n`", "echo `cat <<\\E\n`; ls; echo `; rm -rf /; echo `\nE\n`", "echo `cat <<\\E\n`; ls; echo `\nE\n`; rm -rf /"} {
		assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: src, Shell: "bash"}).Class, src)
	}
	for src, want := range map[string]policy.Class{"echo x!\"y\"": policy.Unknown, "echo x$[1]": policy.Unknown, "echo $[1]": policy.Unknown, "echo 'a'$": policy.ReadOnly, "echo a!": policy.ReadOnly, "echo \"a$\"": policy.ReadOnly, "echo \\$[1]": policy.ReadOnly, "echo \\!a": policy.ReadOnly} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: src, Shell: "dash"}).Class, src)
	}
}

func TestTheHomeIsNotRemovedHoweverItIsNamed(t *testing.T) {
	verdicts(t, "bash", `
		forbidden | rm -rf $HOME
		forbidden | rm -rf "$HOME"
		forbidden | rm -rf ${HOME:?}
		forbidden | rm -rf ${HOME?}
		forbidden | rm -rf ${HOME:-/x}
		forbidden | rm -rf ${HOME-/x}
		forbidden | rm -rf ${HOME}/*
		dangerous | rm -rf ${HOME%x}/y
		dangerous | rm -rf $HOME/x
		dangerous | rm -rf ${#HOME}
	`)
}

func TestSubstitutionsThatRunInTheSessionsShell(t *testing.T) {
	for _, src := range []string{"echo ${ ls; }", "echo ${|REPLY=x; }"} {
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: src, Shell: "mksh"}).Class, src)
	}
	verdicts(t, "bash", `
		unknown | [ x -v ]
		unknown | [ -v x ]
		unknown | [ a -a -v ]
	`)
}

func TestPackageInstallsAreDangerousWhereTheyAreAsked(t *testing.T) {
	for src, want := range map[string][2]policy.Class{"apt-get install x": {policy.Forbidden, policy.Dangerous}, "ls": {policy.ReadOnly, policy.ReadOnly}, "touch x": {policy.Write, policy.Write}} {
		assert.Equal(t, want[0], judge.Judge(judge.Request{Script: src, Shell: "bash"}).Class, src)
		assert.Equal(t, want[1], judge.Judge(judge.Request{Script: src, Shell: "bash", Installs: true}).Class, src)
	}
}

func TestWhatShowsNoFile(t *testing.T) {
	for name := range strings.FieldsSeq("true false : date hostname uname id whoami pwd seq df nproc uptime ls test cd echo printf tr rev od") {
		assert.NotContains(t, judge.Judge(judge.Request{Script: name + " | rev", Shell: "bash"}).Classes, policy.SensitiveRead, name)
	}
	for name := range strings.FieldsSeq("grep awk sed sort uniq strings curl nosuch") {
		assert.Contains(t, judge.Judge(judge.Request{Script: name + " x | rev", Shell: "bash"}).Classes, policy.SensitiveRead, name)
	}
}

func TestWhatComesOutOfASubstitutionWithinAnother(t *testing.T) {
	verdicts(t, "bash", `
		forbidden | eval "$(echo "$(curl x)")"
		read-only | echo $x[1]
		unknown | LANG+=x ls
		unknown | COLUMNS=80 ls
		unknown | LINES=80 ls
	`)
}

// Names that xargs reads are those of programs whose operands tell them, or nobody knows which files they are.
func TestNamesThatXargsReadsAreToldByOperandsOrUnknown(t *testing.T) {
	verdicts(t, "bash", `
		unknown | cat list | xargs cat
		unknown | xargs cat <list
		unknown | xargs cat
		unknown | xargs grep x <<<'a b'
		unknown | awk '{print $1}' list | xargs -I% head %
		unknown | sort list | xargs -I{} tail -n 2 {}
		unknown | { ls; cat list; } | xargs cat
		unknown | (cat list; ls) | xargs wc -l
		unknown | grep -v '^#' list | xargs md5sum
		unknown | git log | xargs cat
		unknown | ls | xargs cat <list
		unknown | ls | sort <list | xargs cat
		unknown | ls | sort list | xargs cat
		unknown | ls | cat - list | xargs cat
		unknown | ls | sed 's,^.*,/etc/shad,;s,$,ow,' | xargs cat
		unknown | ls | awk '{print "/etc/sha" "dow"}' | xargs cat
		unknown | ls | tr a-z / | xargs cat
		unknown | echo /etc/sha | sed 's/$/dow/' | xargs cat
		unknown | find . | cut -c2- | xargs cat
		unknown | find . | xargs -n1 sed p | xargs cat
		unknown | find . -maxdepth 0 -printf '/etc/sh\141dow' | xargs cat
		unknown | git ls-files --format='/etc/sh%x61dow' | xargs cat
		unknown | git log --name-only | xargs cat
		unknown | rpm -q --qf '/etc/sh\141dow' bash | xargs cat
		unknown | dpkg-query -W -f '/etc/sh${x}adow' | xargs cat
		unknown | rg -lr y x | xargs cat
		unknown | rg -Lx . | xargs cat
		unknown | ls $(cat list) | xargs cat
		unknown | realpath $(cat list) | xargs cat
		unknown | ls -d "$x" | xargs cat
		read-only | git diff --name-only | xargs cat
		read-only | git grep -l x | xargs cat
		read-only | find . | tr '\n' '\0' | xargs -0 cat
		read-only | find . | grep -v test | sort -u | tail -n 3 | xargs wc -l
		read-only | find . -name '*.go' | xargs grep -l x | xargs wc -l
		read-only | find . -name '*.log' | sort | head -3 | xargs grep foo
		read-only | git ls-files '*.go' | xargs wc -l
		read-only | ls *.log | xargs -I{} tail -n 2 {}
		read-only | grep -rl foo src | xargs head
		read-only | cd /tmp && ls | xargs cat
		read-only | echo a b | xargs cat
		read-only | cat list | xargs -n1 basename
		read-only | cat list | xargs ls -l
		sensitive-read | find / -name shadow | xargs cat
		sensitive-read | echo /etc/shadow | xargs cat
	`)
}
