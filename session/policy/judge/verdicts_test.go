package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// verdicts checks lines of "class | script" for a shell.
func verdicts(t *testing.T, shell, lines string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		want, script, ok := strings.Cut(strings.TrimSpace(line), " | ")
		require.True(t, ok, line)
		r := judge.Judge(judge.Request{Script: script, Shell: shell})
		assert.Equal(t, policy.Class(want), r.Class, "%s: %s: %s", script, r.Rule, r.Reason)
	}
}

func TestArithmeticIsHarmlessOnlyOfNumbers(t *testing.T) {
	verdicts(t, "bash", `
		read-only | echo $((1 + 2 * (3 - $#)))
		read-only | echo $((-1)) $(($?))
		unknown | echo $((x))
		unknown | echo $((1+x))
		unknown | echo $((-x))
		unknown | echo $(( (x) ))
		unknown | echo $(($#$x))
		read-only | echo $((${#x}))
		unknown | echo $((${x}))
		unknown | echo $(($x))
		forbidden | echo $((-$(rm -rf /)))
		forbidden | echo $((($(rm -rf /))))
		forbidden | echo $((a[$(rm -rf /)]))
		forbidden | echo ${x:$(rm -rf /)}
		forbidden | echo ${x:1:$(rm -rf /)}
	`)
	for _, op := range []string{"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="} {
		r := judge.Judge(judge.Request{Script: "echo $((x " + op + " 1))", Shell: "bash"})
		assert.Contains(t, r.Sets, "x", op)
		assert.Equal(t, policy.Unknown, r.Class, op)
	}
	for _, op := range []string{"**=", "&&=", "||=", "^^="} {
		assert.Contains(t, judge.Judge(judge.Request{Script: "echo $((x " + op + " 1))", Shell: "zsh"}).Sets, "x", op)
	}
	r := judge.Judge(judge.Request{Script: "echo $((x))", Shell: "bash"})
	_, ok := r.UsesAny([]string{"x"})
	assert.True(t, ok, "the value of a name counts")
	for _, src := range []string{"echo $((1++))", "echo $((--1))"} {
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: src, Shell: "bash"}).Class, src)
	}
}

func TestBracesAreFollowedOneByOne(t *testing.T) {
	verdicts(t, "bash", `
		read-only | cat {a,b}{c,d}
		sensitive-read | cat /etc/{hosts,shadow}
		sensitive-read | cat /etc/{hosts,sh{adow,ells}}
		sensitive-read | cat /etc/s{g,h}adow
		forbidden | rm -rf /{etc,x}
		read-only | cat f{1..3}
		read-only | cat f{3..1}
		unknown | cat f{1..100}
		unknown | cat f{100..1}
		unknown | cat f{1..9..2}
		unknown | cat f{a..c}
		unknown | sort {1..3}{a..c}{-o,-p} f
	`)
	r := judge.Judge(judge.Request{Script: "cat f{1..3} g{3..2}", Shell: "bash"})
	var texts []string
	for _, p := range r.Reads {
		texts = append(texts, p.Text)
	}
	assert.Equal(t, []string{"f1", "f2", "f3", "g3", "g2"}, texts)
	r = judge.Judge(judge.Request{Script: "cat f{1..63}", Shell: "bash"})
	assert.Len(t, r.Reads, 63)
	r = judge.Judge(judge.Request{Script: "cat f{1..65}", Shell: "bash"})
	assert.Len(t, r.Reads, 1, "too many to be followed")
}

func TestBuiltinsOfAnyShellAreKnown(t *testing.T) {
	for name := range strings.FieldsSeq(`local unset unalias setopt unsetopt emulate zmodload autoload zle bindkey compdef compadd zstyle zformat zparseopts vared
		sched zcompile functions integer float nameref global compound enum namespace shift getopts let mapfile readarray compgen compopt bind pushd popd fg bg disown
		suspend rehash unhash hist ttyctl log sysopen sysread syswrite zsystem ztcp zsocket zpty zselect zftp repeat unlimit unfunction disable zf_rm zf_mv zf_ln
		zf_mkdir zf_rmdir zf_chmod zf_chown rename exec noglob nocorrect coproc eval source . exit logout bye`) {
		r := judge.Judge(judge.Request{Program: name, Args: []string{"x"}})
		assert.Equal(t, policy.Unknown, r.Class, name)
		assert.NotEqual(t, "programs/unlisted", r.Rule, name)
	}
	for name := range strings.FieldsSeq(`: true false echo times caller pwd dirs jobs hash alias shopt trap enable umask ulimit limit wait help cd break continue return printf print`) {
		r := judge.Judge(judge.Request{Program: name})
		assert.Equal(t, policy.ReadOnly, r.Class, "%s: %s", name, r.Reason)
		if name != "printf" {
			assert.Equal(t, "builtins/"+name, r.Rule)
		}
	}
	for name := range strings.FieldsSeq("true false echo pwd printf test [ kill") {
		r := judge.Judge(judge.Request{Script: "/usr/bin/" + name + " ]", Shell: "bash"})
		assert.Equal(t, "builtins/", r.Rule[:min(len(r.Rule), 9)], "%s by its path: %s", name, r.Rule)
	}
}

func TestListingBuiltinsListOnlyInSomeForms(t *testing.T) {
	verdicts(t, "bash", `
		read-only | pwd -P
		unknown | pwd x
		unknown | pwd -x
		unknown | pwd -
		read-only | dirs -v
		unknown | dirs -c
		read-only | jobs -l
		unknown | jobs -x ls
		read-only | type -a ls
		unknown | type -m ls
		unknown | type "$x"
		unknown | type ls -l
		unknown | type 'a[1]'
		unknown | whence -m 'a*'
		read-only | help cd
		read-only | wait 1
		read-only | wait $!
		read-only | wait "$!"
		unknown | wait $x
		unknown | wait x
		unknown | hash -r
		unknown | alias a=b
		read-only | umask
		read-only | umask -S
		unknown | umask 0
		read-only | ulimit -a
		unknown | ulimit 5
		read-only | shopt -p
		unknown | shopt -s x
		read-only | trap -p
		read-only | trap -l
		unknown | trap ls EXIT
		unknown | trap - EXIT
		read-only | complete -p
		unknown | complete
		unknown | complete -a
		unknown | enable -p
		read-only | enable -a
		read-only | set -o
		read-only | set +o
		unknown | set -x
		unknown | set -o pipefail
		sensitive-read | set
		sensitive-read | history
		sensitive-read | history 5
		unknown | history x
		unknown | history "$x"
		unknown | history 5 5
		dangerous | history -c
		sensitive-read | fc -l
		unknown | fc
		unknown | fc -s
		sensitive-read | export -p
		read-only | declare -F
		read-only | declare -f
		read-only | typeset -pf
		sensitive-read | declare -p
		sensitive-read | declare
		unknown | local x
		unknown | export x
	`)
	for script, want := range map[string][]string{
		"unset a b": {"a", "b"}, "unset -f a": {"a"}, "mapfile a": {"a"}, "setopt": {"*"}, "setopt +x": {"*"}, "getopts x \"$y\"": {"*", "x"},
		"local 'a[1]=x'": {"a"}, "exec ls": {"*"}, "alias 'a=b c'": {"a"}, "print -z x": {"x"}, "unset \"a$x\"": {"*"}, "unset -v": {"*"}, "noglob ls": nil,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "zsh"})
		assert.Equal(t, want, r.Sets, script)
	}
	verdicts(t, "zsh", `
		forbidden | alias x='rm -rf /'
		forbidden | trap 'rm -rf /' EXIT
		forbidden | repeat 2 rm -rf /
		read-only | print -r x
		read-only | print -rl x
		read-only | print -- x
		unknown | print -z x
		unknown | print x -z
		unknown | print "$x"
		read-only | print x"$y"
		read-only | print x
	`)
}

func TestPrintfReadsItsFormat(t *testing.T) {
	verdicts(t, "bash", `
		read-only | printf x
		read-only | printf -- %s x
		read-only | printf --
		read-only | printf %s "$x"
		unknown | printf %d "$x"
		unknown | printf %d x
		read-only | printf %d 1
		read-only | printf %d ''
		read-only | printf %f 1.5
		read-only | printf '%s %d' a 1 b 2
		unknown | printf '%s %d' a 1 b c
		unknown | printf '%s %d' $x
		unknown | printf '%d' *
		read-only | printf '%s' *
		read-only | printf '%%'
		unknown | printf '%n' x
		unknown | printf '%'
		unknown | printf '%5'
		read-only | printf '%-5s|%+d' a 1
		read-only | printf '%(%F)T' 1
		unknown | printf '%(%F)T' "$x"
		unknown | printf '%(%F'
		unknown | printf '%(%F)'
		unknown | printf '%(%F)s' 1
		unknown | printf -v x y
		unknown | printf "$x"
		read-only | printf %99999s x
		unknown | printf %100000s x
		unknown | printf %.100000s x
		read-only | printf 100000%s x
		unknown | printf 'a%s%100000s' x
	`)
	for _, verb := range []string{"d", "i", "u", "o", "x", "X", "e", "E", "f", "F", "g", "G", "a", "A"} {
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "printf %" + verb + " 1", Shell: "bash"}).Class, verb)
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: "printf %" + verb + " x", Shell: "bash"}).Class, verb)
	}
}

func TestWhatBuiltinsRun(t *testing.T) {
	verdicts(t, "bash", `
		forbidden | eval -- rm -rf /
		forbidden | eval rm '-rf' /
		unknown | eval ls
		read-only | command -v ls
		read-only | command -p ls
		write | command -p touch x
		unknown | command -x ls
		unknown | command -v "$x"
		write | command -- touch x
		forbidden | exec -a x rm -rf /
		forbidden | exec -c rm -rf /
		forbidden | builtin eval rm -rf /
		read-only | builtin echo x
		read-only | cd /srv && ls
		unknown | cd a b
		unknown | cd "$x"
		read-only | cd -P /srv
		read-only | cd -
		unknown | cd +1
		unknown | exit
		read-only | (exit 1)
		read-only | read x
		read-only | read -r file
		read-only | read -r -d '' file
		unknown | read -r '' file
		unknown | read -r
		unknown | read PATH
		unknown | read -p x file
		unknown | read
		read-only | kill -l
		read-only | kill -l 9
		read-only | kill -0 5
		read-only | kill -s 0 5
		read-only | kill -n 0 5
		dangerous | kill -s 9 5
		read-only | kill -0 $!
		read-only | kill -0 -- 5
		dangerous | kill -0 x
		dangerous | kill 5
		dangerous | kill -9 5
		forbidden | kill -9 -1
		forbidden | kill -- -1
		forbidden | kill 1
		forbidden | kill -9 1
		read-only | kill -0 1
		dangerous | kill -- -5
		dangerous | kill -9 10
		dangerous | kill
		dangerous | kill -1 5
		dangerous | kill -HUP 5
	`)
}

func TestTestsOnlyTest(t *testing.T) {
	verdicts(t, "", `
		read-only | [ -f x ]
		read-only | [ ! -f x ]
		read-only | test x = y
		unknown | [ -f x
		unknown | [ -f $x ]
		read-only | [ $# = 1 ]
		unknown | test -v x
		unknown | test -R x
		unknown | [ a = -v ]
		unknown | [ "$x" -eq 1 ]
		unknown | [ 1 -gt "$x" ]
		unknown | [ x -eq 1 ]
		read-only | [ 1 -eq 1 ]
		read-only | [ -1 -lt 1 ]
		read-only | [ $? -ne 0 ]
		read-only | [ "$#" -ne 0 ]
		unknown | [ "$a" "$b" ]
		read-only | [ "$a" = "$b" ]
		unknown | [ "$a" "$b" "$c" ]
		read-only | [ -n "$a" -a -z "$b" ]
		unknown | [ -n "$a" "$o" -z "$b" ]
		read-only | [ "$a" = x -o x = "$b" ]
		unknown | [ -t x ]
		read-only | [ -t 1 ]
	`)
	for _, op := range []string{"=", "==", "!=", "-nt", "-ot", "-ef"} {
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: `[ "$a" ` + op + ` "$b" ]`, Shell: "bash"}).Class, op)
	}
	for _, op := range []string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"} {
		for shell, want := range map[string]policy.Class{"bash": policy.ReadOnly, "dash": policy.ReadOnly, "ash": policy.ReadOnly, "zsh": policy.Unknown, "ksh": policy.Unknown, "mksh": policy.Unknown} {
			assert.Equal(t, want, judge.Judge(judge.Request{Script: `[ "$a" ` + op + ` 1 ]`, Shell: shell}).Class, "%s in %s", op, shell)
			assert.Equal(t, want, judge.Judge(judge.Request{Script: `[ 1 ` + op + ` "$a" ]`, Shell: shell}).Class, "%s in %s", op, shell)
		}
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: `[[ x ` + op + ` 1 ]]`, Shell: "bash"}).Class, op)
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: `[[ 1 ` + op + ` x ]]`, Shell: "bash"}).Class, op)
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: `[[ 1 ` + op + ` $# ]]`, Shell: "bash"}).Class, op)
	}
	verdicts(t, "bash", `
		unknown | [[ -v x ]]
		unknown | [[ -R x ]]
		unknown | [[ -t x ]]
		read-only | [[ -t 1 ]]
		read-only | [[ ( -f x && x = y ) ]]
		forbidden | [[ ( -n $(rm -rf /) ) ]]
		forbidden | [[ x = $(rm -rf /) ]]
	`)
}
