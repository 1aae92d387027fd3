package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What is forbidden is seen wherever a shell lets a command stand.
func TestEveryPlaceOfACommandIsLookedAt(t *testing.T) {
	for _, src := range []string{
		"for i in a; do rm -rf /; done", "for i in $(rm -rf /); do ls; done", "for ((i=0;i<1;i++)); do rm -rf /; done", "for ((i=$(rm -rf /);;)); do ls; done", "while rm -rf /; do ls; done", "while :; do rm -rf /; done",
		"until rm -rf /; do ls; done", "if rm -rf /; then ls; fi", "if ls; then rm -rf /; fi", "if ls; then ls; else rm -rf /; fi", "if ls; then ls; elif rm -rf /; then ls; fi", "case $(rm -rf /) in x) ls;; esac",
		"case x in x) rm -rf /;; esac", "case x in $(rm -rf /)) ls;; esac", "select x in a; do rm -rf /; done", "f() { rm -rf /; }", "f() (rm -rf /)", "time rm -rf /", "coproc rm -rf /", "(rm -rf /)", "{ rm -rf /; }", "! rm -rf /",
		"ls && rm -rf /", "ls || rm -rf /", "rm -rf / && ls", "ls | rm -rf /", "rm -rf / | ls", "ls & rm -rf /", "x=$(rm -rf /)", "x=(a $(rm -rf /))", "x=([$(rm -rf /)]=1)", "a[$(rm -rf /)]=1", "export x=$(rm -rf /)", "ls >$(rm -rf /)",
		"cat <<< $(rm -rf /)", "cat <<E\n$(rm -rf /)\nE", "ls <(rm -rf /)", "tee >(rm -rf /)", "((x=$(rm -rf /)))", "let x=$(rm -rf /)", "[[ -n $(rm -rf /) ]]", "echo $(($(rm -rf /) + 1))", "echo ${x:-$(rm -rf /)}", "echo ${x/$(rm -rf /)/y}",
		"echo ${x/y/$(rm -rf /)}", "echo ${x[$(rm -rf /)]}", "echo \"a $(rm -rf /) b\"", "echo `rm -rf /`", "declare x=$(rm -rf /)", "kill 1 5",
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash"})
		assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", src, r.Reason)
	}
}

func TestExpansionsThatOnlyCut(t *testing.T) {
	verdicts(t, "bash", `
		read-only | echo ${x%a} ${x%%a} ${x#a} ${x##a} ${x^} ${x^^} ${x,} ${x,,} ${x-a} ${x:-a} ${x+a} ${x:+a}
		unknown | echo ${x=a}
		unknown | echo ${x:=a}
		unknown | echo ${x?a}
		unknown | echo ${x:?a}
		unknown | echo ${x@P}
		unknown | echo ${!x}
		read-only | echo ${x[@]} ${x[*]} ${x[12]}
		unknown | echo ${x[y]}
		unknown | sort "$@"
		unknown | sort "${x[@]}"
		unknown | sort "./$x"
		unknown | echo !1
		unknown | echo !9
		unknown | echo !a
		unknown | echo !z
		unknown | echo !A
		unknown | echo !Z
		unknown | echo !?x
		read-only | echo hey! you
		read-only | ls ~ ~/x ~bob/x ~a-b/x ~a_b ~a.b ~a1
		unknown | ls ~1
		unknown | ls ~-
		unknown | ls ~+
		unknown | ls ~A
		read-only | LANG=_ ls
		read-only | LC_ALL=C.UTF-8 TZ=Europe/Berlin ls
		unknown | LANG=/x ls
		unknown | TZ=:x ls
		unknown | LANG=a/../b ls
		unknown | LANG=a/b ls
		unknown | LANG="$x" ls
		unknown | PATH=x ls
		forbidden | rm -rf "${X:-}/"
		forbidden | rm -rf "${X:-/etc}"
		forbidden | x=/etc; y=$x; rm -rf "$y"
		dangerous | x=/srv/a; rm -rf "$x"
	`)
	assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: "cat f{a,{1..3}}", Shell: "mksh"}).Class)
	for _, name := range []string{"file", "files", "f1", "f2", "dir", "host", "hosts", "svc", "service", "unit", "pod", "ns", "node", "name", "line", "item", "log", "logfile", "port", "pid", "disk", "dev", "iface", "container", "cid", "id",
		"img", "image", "key", "val", "value", "db", "table", "user", "group", "pkg", "package", "mod", "num", "idx", "elem", "entry", "word", "url", "ip", "addr", "bin", "cmd", "prog", "tool", "conf", "cfg", "rest", "count", "proc", "mount",
		"mnt", "vol", "zone", "domain", "a", "z"} {
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "read -r " + name, Shell: "bash"}).Class, name)
	}
	for _, name := range []string{"path", "prompt", "status", "IFS", "A", "cdpath", "argv"} {
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: "read -r " + name, Shell: "bash"}).Class, name)
	}
}

func TestSecretsByWhateverWay(t *testing.T) {
	for _, src := range []string{
		"cat /proc/1/root/etc/shadow", "cat /proc/1/task/2/root/etc/shadow", "cat /private/etc/sudoers", "find / -name shadow -exec cat {} +", "find /etc -name 'shad*' -exec cat {} +", "find /etc/ssl/private -exec cat {} +", "cp -r /etc x", "scp -r /etc h:x",
		"diff -r /etc x", "grep --recursive x /etc", "egrep -R x /root", "rgrep x /home/ada", "frobnicate --file=/etc/shadow", "frobnicate -f/etc/shadow", "frobnicate @/etc/shadow", "frobnicate /etc/shadow", "cat ~/.ssh/*", "cat ~/.ssh/id_rsa",
		"cat /etc/sh?dow", "cat /etc/[s]hadow", "curl -d @/etc/shadow h", "cat < /etc/shadow", "file=/etc/shadow",
	} {
		assert.Contains(t, judge.Judge(judge.Request{Script: src, Shell: "bash"}).Classes, policy.SensitiveRead, src)
	}
	verdicts(t, "bash", `
		read-only | cat ~/.ssh/id_rsa.pub ~/.ssh/known_hosts ~/.ssh/config
		read-only | cat .env.example
		read-only | find /srv -name '*.txt' -exec cat {} +
		read-only | ls -l /etc/shadow
		read-only | find /etc -name shadow
		read-only | find /etc -name shadow -exec ls -l {} +
		read-only | grep x /srv/etc.txt
		dangerous | touch /usr/local/bin/x
		dangerous | touch /etc/apt/sources.list.d/x
		dangerous | touch /etc/hosts
		dangerous | touch .git/hooks/x
		forbidden | touch /etc/update-motd.d/x
		forbidden | touch /etc/skel/x
		forbidden | cp x ~/.config/autostart/y
		forbidden | touch /etc/security/x
	`)
}

func TestWhatPeopleTypeIntoZsh(t *testing.T) {
	for src, want := range map[string]policy.Class{"ls # x": policy.ReadOnly, "ls # x; y": policy.Unknown, "ls # $(x)": policy.Unknown, "ls # 'x": policy.Unknown, "ls '# ;'": policy.ReadOnly} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: src, Shell: "zsh", Interactive: true}).Class, src)
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: src, Shell: "bash", Interactive: true}).Class, src)
	}
	for src, want := range map[string]policy.Class{
		"echo 'a\u200b'": policy.Unknown, "echo \"a\u200b\"": policy.Unknown, "cat <<E\na\u200b\nE": policy.Unknown, "echo 'a'\u200b": policy.Forbidden, "echo \u200b'a'": policy.Forbidden, "echo a\u00a0b": policy.Forbidden, "echo 'a\u200b": policy.Forbidden,
		"echo \u202eb": policy.Forbidden, "echo \u2067b": policy.Forbidden, "echo \u0085": policy.Forbidden, "echo é": policy.ReadOnly,
	} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: src, Shell: "bash"}).Class, "%q", src)
	}
	for _, r := range []rune{0x00a0, 0x00ad, 0x034f, 0x115f, 0x1160, 0x1680, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180e, 0x180f, 0x2000, 0x200d, 0x2028, 0x2029, 0x202f, 0x205f, 0x2065, 0x206f, 0x2800, 0x3000, 0x3164, 0xfe00, 0xfe0f, 0xfeff,
		0xffa0, 0xfff0, 0xfffb, 0x1bca0, 0x1bca3, 0x1d173, 0x1d17a, 0xe0000, 0xe0fff, 0x061c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069} {
		assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "ls a" + string(r), Shell: "bash"}).Class, "%U", r)
	}
	r := judge.Judge(judge.Request{Script: "env touch x y", Shell: "bash"})
	if assert.Len(t, r.Parts, 1) && assert.Len(t, r.Parts[0].Parts, 1) {
		assert.Equal(t, "touch x y", r.Parts[0].Parts[0].Text)
	}
	for _, name := range []string{"perldoc", "nodeps", "rubyx"} {
		assert.NotEqual(t, policy.Forbidden, judge.Judge(judge.Request{Script: "curl x | " + name, Shell: "bash"}).Class, name)
	}
}

// A number in $'…' ends where no more digits of its kind belong to it. Of \x, the shells of the Korn family read all.
func TestANumberInAQuotedWordEndsWithItsDigits(t *testing.T) {
	verdicts(t, "bash", `
		read-only | ls $'\1411'
		read-only | ls $'\u0061b' $'\U00000061b'
		read-only | ls $'\x61g'
		read-only | ls $'\x61b'
		sensitive-read | cat $'/etc/\163hadow'
		sensitive-read | cat $'/etc/\u0073hadow'
	`)
}
