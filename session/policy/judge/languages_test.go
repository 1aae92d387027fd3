package judge_test

import (
	"os/exec"
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
		unknown | diff <(ls a) <<<b
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
	for c := byte('!'); c < 0x7f; c++ {
		if c == '\'' {
			continue // it may end the word
		}
		src := "$'<\\" + string(c) + "041>'"
		out, err := exec.Command("busybox", "ash", "-c", "printf %s "+src).Output()
		require.NoError(t, err)
		r := judge.Judge(judge.Request{Script: "cat " + src, Shell: "ash"})
		for _, p := range r.Reads {
			if p.Literal && p.Text[0] != '$' { // as dash reads it
				assert.Equal(t, string(out), p.Text, src)
			}
		}
	}
	r := judge.Judge(judge.Request{Script: `cat $'\e\?\E\u0041'`, Shell: "bash"})
	require.NotEmpty(t, r.Reads)
	assert.Equal(t, "\x1b?\x1bA", r.Reads[0].Text)
}
