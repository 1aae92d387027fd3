package framing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// kept says what one command leaves to the next. only names the shells that know it; "" is all.
var kept = []struct{ first, then, want, only string }{
	{"A=1; export B=2", `echo "$A$B"; sh -c 'echo "$A$B"'`, "12\n2\n", ""},
	{"cd /usr", "pwd", "/usr\n", ""},
	{"f() { echo F \"$@\"; }", "f 1 '2 3'", "F 1 2 3\n", ""},
	{"set -- a 'b c'", `echo "$# $2"`, "2 b c\n", ""},
	{"umask 027", "umask | tail -c 4", "027\n", ""},
	{"ulimit -n 64", "ulimit -n", "64\n", ""},
	{"set -f", "echo /*; set +f", "/*\n", "bash dash ash ksh"},
	{"set -C", "case $- in (*C*) echo C;; esac; set +C", "C\n", ""},
	{"set -u", "case $- in (*u*) echo u;; esac; set +u", "u\n", ""},
	{"set -o noglob", "echo /*; set +o noglob", "/*\n", ""},
	{"alias al='echo AL'", "al 2", "AL 2\n", "zsh dash ash ksh"},
	{"shopt -s expand_aliases; alias al='echo AL'", "al 2", "AL 2\n", "bash"},
	{"shopt -s nullglob", "echo a /nonexistent*", "a\n", "bash"},
	{"declare G=1; declare -i I; I=2+3; declare -a R; R=(a b); declare -A M; M[k]=v", `echo $G $I "${R[1]}" "${M[k]}"`, "1 5 b v\n", "bash"},
	{"typeset G=1; typeset -i I; I=2+3; typeset -A M; M[k]=v", `echo $G $I "${M[k]}"`, "1 5 v\n", "zsh"},
	{"typeset G=1; typeset -i I; I=2+3; set -A R a b", `echo $G $I "${R[1]}"`, "1 5 b\n", "ksh"},
	{"readonly RO=1", "echo $RO", "1\n", ""},
	{"trap 'echo T' USR1", "kill -USR1 $$; true", "T\n", ""},
	{"(sleep 0; exit 3) & P=$!", "wait $P; echo $?", "3\n", ""},
	{"IFS=:", "x=a:b; echo $x; unset IFS", "a b\n", "bash dash ash ksh"},
	{"LC_ALL=C", "echo ok $LC_ALL; LC_ALL=C.UTF-8", "ok C\n", ""},
	{"PS1=x PS2=y PROMPT_COMMAND='echo P'", "echo ok", "ok\n", ""},
	{"x=1 p=2 d=3 b=4 t=5 c=6 n=7 e=8 l=9 m=10 r=11", `echo $x $p $d $b $t $c $n $e $l $m $r`, "1 2 3 4 5 6 7 8 9 10 11\n", ""},
	{"printf() { :; }; cd() { :; }; unset -f printf cd", "echo ok", "ok\n", ""},
}

func TestACommandLeavesItsStateToTheNext(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, tt := range kept {
			if tt.only != "" && !slices.Contains(strings.Fields(tt.only), sh.Name) {
				continue
			}
			s.ok(tt.first)
			assert.Equal(t, tt.want, s.output(tt.then), tt.first)
		}
	})
}

func TestATraceShowsNothingOfHowTheShellLeaves(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for _, script := range []string{"set -x; exit 3", "set -x; (exit 3); exit", "f() { exit 3; }; set -x; f", "set -xe; (exit 3)", "set -eu; set -x; sh -c 'exit 3'",
			"f() { local options=own; set -x; exit 3; }; f", "exec() { echo own; }; set -x; exit 3"} {
			if sh.Name != "zsh" && (strings.Contains(script, "options") || strings.HasPrefix(script, "exec")) {
				continue
			}
			s := start(t, sh)
			o := s.run(script)
			s.close()
			require.NotNil(t, o.exit, script)
			assert.Equal(t, 3, o.exit.Code, script)
			if s.hello.Dialect == framing.Mksh {
				o.stderr = strings.TrimSuffix(o.stderr, "+ set +x\n")
			}
			assert.NotContains(t, o.stderr, "set +x", script)
			assertNothingOfOurs(t, o)
			assert.NotContains(t, o.stdout+o.stderr+o.stray, "own\n", script)
		}
	})
}

func TestATraceShowsTheCommandOnStandardErrorAndNothingElse(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.run("set -x; echo hi")
		assert.Equal(t, "hi\n", o.stdout)
		assert.True(t, o.trailer.Trace)
		for _, word := range []string{"two", "three"} {
			before := o
			if s.hello.Dialect == framing.Mksh { // which shows where a trace is switched off, whatever its standard error is by then
				before.stderr = strings.TrimSuffix(before.stderr, "+ set +x\n")
			}
			assert.Equal(t, 1, strings.Count(before.stderr, "\n"), "%q", before.stderr)
			assert.Contains(t, before.stderr, "echo ")
			assertNothingOfOurs(t, before)
			o = s.run("echo " + word)
			assert.Equal(t, word+"\n", o.stdout)
			assert.Contains(t, o.stderr, "echo "+word)
			assert.True(t, o.trailer.Trace)
		}
		o = s.run("{ set +x; } 2>/dev/null")
		assert.False(t, o.trailer.Trace)
		assertNothingOfOurs(t, o)
		o = s.run("echo four")
		assert.Equal(t, "four\n", o.stdout)
		assert.Empty(t, o.stderr)
	})
}

func TestVerboseModeShowsNothingOfOurs(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		assertNothingOfOurs(t, s.run("set -v"))
		for range 2 {
			o := s.run("echo hi")
			assert.Equal(t, "hi\n", o.stdout)
			assertNothingOfOurs(t, o)
		}
	})
}

func TestErrexitIsToldAndEndsTheShellWithItsCode(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.run("set -e")
		require.Nil(t, o.exit)
		assert.True(t, o.trailer.Errexit)
		assert.Equal(t, "ok\n", s.output("echo ok"))
		o = s.run("cd /usr; (exit 4)")
		require.NotNil(t, o.exit)
		assert.Equal(t, framing.Exit{Code: 4, Dir: "/usr"}, *o.exit)
	})
}
