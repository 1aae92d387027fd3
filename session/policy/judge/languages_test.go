package judge_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// A shell that may read a text in two ways gets everything that either reading says.
func TestTwoLanguagesSayWhatEachOfThemSays(t *testing.T) {
	own := &judge.Own{Paths: []string{"/srv/{a,b}/fairlead", "/etc/fairlead"}, Home: "/home/ada"}
	for _, src := range []string{
		"cat {a,b}", "touch {a,b}", "rm -rf {/etc,x}", `cat /srv/{a,"b"}/fairlead/x`, `cat /etc/{"fair",x}lead/x`, `grep -r x /srv/{a,"b"}`, "grep -r x {/etc,/srv}", "curl {192.0.2.1,192.0.2.2}",
		"curl 192.0.2.1; curl 192.0.2.9; curl 192.0.2.5", `sh -c {"ls",$x}`, `sh -c {$x,y}`, "read -r {x,y}", "unset {x,y}", "export {x,y}", "echo ${x:=1} {a,b}", "echo $x {$y,$z}", "sudo {id,x}", "echo {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
		"ls", "x=1", "[[ -n $x ]]", "cat {link,other} more", "nosuch {a,b}", "touch x; cat /etc/shadow {a,b}",
	} {
		for _, src := range []string{src, "rm -rf /; " + src, src + "; rm -rf {/usr,x}"} {
			for both, each := range map[string][]string{"sh": {"bash", "dash"}, "ksh": {"mksh", "bash"}} {
				req := judge.Request{Script: src, Shell: both, Own: own, Dir: "/srv"}
				all := judge.Judge(req)
				for _, req.Shell = range each {
					one := judge.Judge(req)
					assert.False(t, one.Class.Worse(all.Class), "%s: %s is worse in %s than %s in %s", src, one.Class, req.Shell, all.Class, both)
					assert.Subset(t, all.Classes, one.Classes, src)
					assert.Subset(t, all.Reads, one.Reads, src)
					assert.Subset(t, all.Writes, one.Writes, src)
					assert.Subset(t, all.Sets, one.Sets, src)
					assert.Subset(t, all.Uses, one.Uses, src)
					assert.Subset(t, all.To, one.To, src)
					assert.Subset(t, all.Named, one.Named, src)
					for what, v := range map[string][2]bool{"taints": {one.Taints, all.Taints}, "capped": {one.Capped, all.Capped}, "hidden": {one.Hidden, all.Hidden}, "own": {one.Own, all.Own}, "asks": {one.OwnAsks, all.OwnAsks}} {
						assert.True(t, !v[0] || v[1], "%s: %s in %s and not in %s", src, what, req.Shell, both)
					}
				}
				assert.IsNonDecreasing(t, append([]string{"", ""}, all.Uses...))
				assert.IsNonDecreasing(t, append([]string{"", ""}, all.Sets...))
			}
		}
	}
	r := judge.Judge(judge.Request{Script: "curl {192.0.2.9,192.0.2.1} 192.0.2.5; cat {a,b} c; x=1; y=2", Shell: "sh"})
	assert.Len(t, r.Reads, 4, "each file once")
}

// Text that POSIX shells and bash read alike is judged once; any sign that they may not costs a second reading.
func TestWhatEveryShellReadsAlike(t *testing.T) {
	for _, src := range []string{
		"ls -l /srv", `grep "a b" 'c(d){e}' f`, "ls | wc -l && ls || ls; ls", "ls 2>&1 >x <y", "ls 2>&1", "ls & ls", `echo "$x $? $# $_ $Z (a) {b} [c] <<d &> |& ;&"`, `echo a\(b`, `echo 'x"y' "z'w"`, "cat < f > g", "ls >&2",
		"echo $a$z$A",
	} {
		assert.True(t, judge.SameInAll(src), src)
	}
	for _, src := range []string{
		"cat {a,b}", "cat {a", "cat a}", "(ls)", "ls)", "[ a ]", "echo `ls`", "ls # x", "! ls", "echo !", "echo $(ls)", "echo ${x}", "echo $1", "echo $", "echo $'a'", `echo $"a"`, `echo "$(ls)"`, "ls |& wc", "ls &> f", "ls &| wc", "ls ;& ls", "cat << E", "cat <> f",
		"cat <& f", "ls >& f", "ls >&", "ls >&/", "ls >&:", "echo 'a", "time ls", "function f", "select x", "coproc ls", "let x", "declare x", "typeset x", "local x", "export x", "readonly x", "nameref x", "echo $@", "echo $*", "echo $[", "echo $-",
	} {
		assert.False(t, judge.SameInAll(src), src)
	}
}

// What only shells of the kind of bash can parse is read as they do where the shell is not known: the others run nothing of it.
func TestProcessSubstitutionsWhereTheShellIsNotKnown(t *testing.T) {
	verdicts(t, "", `
		read-only | diff <(ls a) <(ls b)
		read-only | diff <(sort a) b | head -n 3
		read-only | diff <(sort "a b" | uniq -c) <(cat 'c d')
		sensitive-read | diff <(cat /etc/shadow) b
		write | diff <(touch x) b
		forbidden | diff <(rm -rf /) b
		write | diff <(ls a) b && touch x
		unknown | diff <(ls a) $(ls b)
		unknown | diff <(ls a) b # <(ls)
		unknown | function f { diff <(ls a) b; }
		unknown | diff <(ls a) >(ls b)
		unknown | diff <(ls a) {b,c}
		read-only | diff <(ls a) <<<b
	`)
	for _, shell := range []string{"dash", "ash", "sh", "mksh", "ksh"} {
		verdicts(t, shell, "unknown | diff <(ls a) <(ls b)")
	}
	r := judge.Judge(judge.Request{Script: "diff <(ls a) b\nls"})
	assert.Equal(t, policy.Unknown, r.Class, "lines before the one that cannot be parsed are run")
}

// busybox keeps the backslash of escapes that it does not know.
func TestEscapesAreThoseOfTheShell(t *testing.T) {
	if _, err := exec.LookPath("busybox"); err != nil {
		needs.Part(t, "busybox is not installed")
	}
	var words []string
	for c := byte('!'); c < 0x7f; c++ {
		if c != '\'' { // it may end the word
			words = append(words, "$'<\\"+string(c)+"041>'")
		}
	}
	const end = "; printf :end:\n"
	printed, err := exec.Command("busybox", "ash", "-c", "printf %s "+strings.Join(words, end+"printf %s ")+end).Output()
	require.NoError(t, err)
	all := strings.Split(strings.TrimSuffix(string(printed), ":end:"), ":end:")
	require.Len(t, all, len(words))
	for i, src := range words {
		out := all[i]
		r := judge.Judge(judge.Request{Script: "cat " + src, Shell: "ash"})
		for _, p := range r.Reads {
			if p.Literal && p.Text[0] != '$' { // as dash reads it
				assert.Equal(t, out, p.Text, src)
			}
		}
	}
	r := judge.Judge(judge.Request{Script: `cat $'\e\?\E\u0041'`, Shell: "bash"})
	require.NotEmpty(t, r.Reads)
	assert.Equal(t, "\x1b?\x1bA", r.Reads[0].Text)
}

func TestWhatOnlyBashHasWhereTheShellIsNotKnown(t *testing.T) {
	verdicts(t, "", `
		read-only | ls x &>/dev/null || echo no
		read-only | ls x &>>/dev/null
		read-only | if ! command -v docker &> /dev/null; then echo none; fi
		read-only | for s in a b; do systemctl is-active $s &>/dev/null || echo $s; done
		read-only | echo 'a &>b' &>/dev/null
		write | ls x &>f
		unknown | ls x &>$f
		write | ls x &>>f
		write | echo a &>/dev/null touch pwned
		write | touch x &>/dev/null
		forbidden | echo a &>/dev/null rm -rf /
		sensitive-read | cd /etc &>/dev/null; cat shadow
		sensitive-read | cat shadow &>/dev/null; cat /etc/shadow
		unknown | sleep 100000 &>/dev/null
		unknown | ls & >/dev/null
		unknown | ls x &>/dev/null &
		unknown | tail -f x &>/dev/null
		read-only | grep -c . <<< "$(ls /srv)"
		read-only | read -r a b <<< "1 2"; echo "$a-$b"
		write | cat <<< "$(touch x)"
		forbidden | cat <<< "$(rm -rf /)"
		unknown | sh <<< ls
		unknown | cat <<< x | sh
		unknown | ls $(cat <<< x)
		read-only | [[ -d /a && -d /b ]] && echo y || echo n
		read-only | if [[ -n "$x" && "$x" != "y" ]]; then echo a; fi
		read-only | [[ $x == y* ]] && echo ok
		read-only | [[ -d /a || -d /b ]]
		unknown | [[ -d /a || ! -d /b ]]
		unknown | [[ -d /a || $x ]]
		unknown | [[ -d /a || -r /x && touch x ]]
		write | [[ -d /a && -d $(touch x) ]]
		write | [[ -d /a && -d /b ]] && touch x
		unknown | [[ $a < $b && -d /b ]]
		unknown | [[ -d /a && b > c ]]
		read-only | grep $'\t' x
		read-only | sort -t$'\t' -k2 x
		sensitive-read | cat $'/etc/\x73hadow'
		sensitive-read | cat $'/etc/shadow'
		unknown | $'ls' x
		unknown | x$'ls' x
		unknown | cat $"x"
		unknown | cat <<$'EOF'
	`)
	verdicts(t, "dash", `
		unknown | ls x &>/dev/null
		unknown | cat <<< x
		read-only | [[ -d /a && -d /b ]]
		unknown | [[ -d /a && touch x ]]
		forbidden | [[ -d /a && rm -rf / ]]
		dangerous | [[ -d /a && reboot ]]
		unknown | ! [[ -d /a && -d /b ]]
		read-only | grep $'\t' x
		read-only | echo $'it''s'
		unknown | echo $'a\' ; echo '; echo x; echo ''
		unknown | echo $'a\z'
		sensitive-read | cat $'/etc/shadow'
		sensitive-read | cat $'/etc/\163hadow'
		unknown | echo "${x:-$'a'}"
		unknown | echo \\$'a\'
	`)
	for _, shell := range []string{"", "dash", "ash", "sh"} {
		for _, script := range []string{"cat <<< x", "ls &>/dev/null", "grep $'a' x", "[[ -d a && -d b ]]"} {
			assert.False(t, judge.Judge(judge.Request{Script: script, Shell: shell, Dir: "/"}).Traceless, "%s in %q", script, shell)
		}
	}
	r := judge.Judge(judge.Request{Script: "cat x\t&>/dev/null y", Shell: "ash"})
	assert.Equal(t, "cat x", r.Parts[0].Text, "the part of the language that has no &>")
}
