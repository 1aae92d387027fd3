package judge_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestWhatLeavesItsShellAsItIs(t *testing.T) {
	for script, want := range map[string]bool{
		"uname -a":                             true,
		"/usr/bin/uptime":                      true,
		"ls -l /etc /var; df -h":               true,
		"ps aux | grep '[s]shd' | wc -l":       true,
		"awk '{ print $1 }' /etc/hosts":        true,
		"test -f /etc/hosts && cat /etc/hosts": true,
		"[ -d /srv ] || echo none":             true,
		"if test -e /etc/hosts; then wc -l /etc/hosts; else echo none; fi": true,
		"(ls /srv; ls /opt) 2>/dev/null":                                   true,
		"{ ls /srv; } >/dev/null 2>&1":                                     true,
		"ls /etc/*.conf ~/x{1,2}":                                          true,
		`echo "a b" 'c$d' e\ f`:                                            true,
		"! true":                                                           true,
		"pwd # here":                                                       true,

		"":                                      true,
		"cd /tmp":                               false,
		"x=1":                                   false,
		"x=1 ls":                                false,
		"ls $HOME":                              false,
		`echo "$$"`:                             false,
		"echo $(date)":                          false,
		"echo `date`":                           false,
		"diff <(ls /a) <(ls /b)":                false,
		"for f in a b; do cat $f; done":         false,
		"ls | while read -r x; do echo x; done": false,
		"tail -f /var/log/syslog &":             false,
		"sh -c 'tail -f /var/log/syslog &'":     false,
		"grep 'a&b' /etc/hosts":                 false, // it might be a script
		"set -x":                                false,
		"umask":                                 false, // a look at the shell itself
		"type ls":                               false,
		"hash":                                  false,
		"ulimit -n":                             false,
		"command ls":                            false,
		"cat <<E\nx\nE":                         false,
		"exec ls":                               false,
		"exec 3</dev/null":                      false,
		"ls {x}</dev/null":                      false,
		"printf x":                              false, // some have -v
		"f() { ls; }":                           false,
		"f() { ls; }; f":                        false,
		"time ls":                               false,
		"touch x":                               false, // it writes: shells that wait are ended
		"frobnicate":                            false,
		"ls 'open":                              false,
		"coproc ls":                             false,
		"case a in a) ls;; esac":                false,
		"[[ -f x ]]":                            false,
		"ls; exit 3":                            false,
		"$'ls'":                                 false,
	} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: script, Shell: "bash"}).Traceless, "%q", script)
	}
	assert.True(t, judge.Judge(judge.Request{Script: "ls | wc -l"}).Traceless, "in any shell")
	assert.True(t, judge.Judge(judge.Request{Program: "ls", Args: []string{"$x", "; touch y"}}).Traceless)
	assert.False(t, judge.Judge(judge.Request{Program: "sh", Args: []string{"-c", "sleep 9 &"}}).Traceless)
	assert.False(t, judge.Judge(judge.Request{Program: "touch", Args: []string{"x"}}).Traceless)
}

// pieces of scripts, most of which leave something in their shell where they are not within something that keeps it in.
var tracePieces = []string{
	"ls", "ls /us*", "true", "false", "echo a", "test -d /", "[ x = x ]", "pwd", "cat /etc/hosts", "wc -l </etc/hosts", "ls >/dev/null", "grep x /etc/hosts 2>&1",
	"x=1", "x=1 ls", "export X=1", "cd /", "echo ${x:=1}", "echo $((x=1))", "read x </etc/hosts", "set -f", "set -- a b", "umask 077", "f() { ls; }", "alias a=ls",
	"trap : USR1", "exec 3</dev/null", "ulimit -c 0", "for x in a; do ls; done", "printf -v x y", "unset HOME", ": ${x=1}", "echo [a", "ls x=y", "test x=1", "ls ~+", "local x=1",
	"hash", "type ls", "getopts a x", "let x=1", "ls {3}>/dev/null", "case a in a) x=1;; esac", "[[ a =~ (a) ]]", "sleep 0 &", "echo a | read x", "select x in a; do break; done </dev/null",
	"typeset x=1", "shift", "pushd /", "setopt nomatch", "echo $RANDOM", "eval x=1", ". /etc/hosts", "command cd /", "builtin cd /", "env x=1 ls", "test -n 'a[x=1]'", "[ 'x=5' -eq 5 ]", "[ -v x ]",
}

func traceScript(r *rand.Rand, depth int) string {
	if depth == 0 {
		return tracePieces[r.IntN(len(tracePieces))]
	}
	in := func() string { return traceScript(r, depth-1) }
	switch r.IntN(9) {
	case 0:
		return in() + "; " + in()
	case 1:
		return in() + " && " + in()
	case 2:
		return in() + " || " + in()
	case 3:
		return in() + " | " + in()
	case 4:
		return "( " + in() + " )"
	case 5:
		return "{ " + in() + "; } >/dev/null"
	case 6:
		return "if " + in() + "; then " + in() + "; else " + in() + "; fi"
	case 7:
		return "! " + in()
	}
	return in()
}

// What a shell shows of itself, but for what changes by itself.
const traceLook = `
look() {
	{ set; alias; trap; umask; ulimit -a; pwd; echo "$-:$#:$*"; case ${BASH_VERSION-} in (?*) shopt; declare -F; dirs; jobs;; esac
	case ${ZSH_VERSION-}${KSH_VERSION-} in (?*) typeset +f; typeset;; esac; } 2>&1 |
	grep -vE '^(_|[?!$]|PIPESTATUS.[0-9]+.|.[?!$].|RANDOM|SRANDOM|SECONDS|LINENO|BASH_LINENO|BASH_COMMAND|BASH_ARG[CV]|BASH_SOURCE|FUNCNAME|BASHPID|EPOCH[A-Z]*|PIPESTATUS|pipestatus|status|TTYIDLE|ERRNO|HISTCMD|FUNC_LINENO|.sh.*|funcstack|argv|KSH_MATCH|LINES|COLUMNS|PPID)=|^(float|integer)( [0-9]+)? (SECONDS|RANDOM|LINENO|EPOCHREALTIME|TTYIDLE)|^_$|^(integer|typeset|undefined|array|local|readonly|hide|tied|export|-[A-Za-z]*)* ?(RANDOM|SECONDS|LINENO|TTYIDLE|_)\b'
	for n in /proc/$$/fd/*; do echo "${n##*/}"; done
	unset n
}
`

// TestNothingThatLeavesNoTraceChangesARealShell compares what shells show of themselves before and after what is said to leave nothing:
// everyday reads, which find no programs, and scripts of pieces that leave something elsewhere.
func TestNothingThatLeavesNoTraceChangesARealShell(t *testing.T) {
	raw, err := os.ReadFile("testdata/everyday.txt")
	require.NoError(t, err)
	everyday := strings.Split(string(raw), "\n")
	for _, tt := range []struct{ shell, path string }{
		{"bash", "bash"}, {"dash", "dash"}, {"zsh", "zsh"}, {"mksh", "mksh"}, {"ash", "busybox"}, {"ksh", "ksh93"},
	} {
		t.Run(tt.shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(tt.path)
			if err != nil {
				needs.Part(t, "no %s", tt.path)
			}
			r, random := rand.New(rand.NewPCG(17, 26)), 4000
			if needs.Sample {
				random = 400
			}
			var scripts []string
			add := func(script string) {
				if judge.Judge(judge.Request{Script: script, Shell: tt.shell, Dir: "/"}).Traceless {
					scripts = append(scripts, script)
				}
			}
			for _, line := range everyday {
				add(line)
			}
			reads := len(scripts)
			for tries := 0; tries < random; tries++ {
				add(traceScript(r, r.IntN(4)))
			}
			assert.Greater(t, reads, 100, "of the everyday reads")
			assert.Greater(t, len(scripts), reads+random/30)

			var text strings.Builder
			text.WriteString(traceLook)
			for i, script := range scripts {
				quoted, err := framing.Quote(script)
				require.NoError(t, err)
				run := "eval " + quoted + " </dev/null >/dev/null 2>&1"
				if i < reads { // its programs are not there
					run = "p=$PATH; PATH=/nope; " + run + "; PATH=$p; unset p"
				}
				if i%20 == 0 {
					text.WriteString("echo BEFORE; look; echo AFTER\n")
				}
				text.WriteString(run + "\n")
				if i%20 == 19 || i == len(scripts)-1 {
					fmt.Fprintf(&text, "look; echo END %d\n", i)
				}
			}
			file := filepath.Join(t.TempDir(), "script")
			require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
			args := []string{file}
			if tt.path == "busybox" {
				args = []string{"ash", file}
			}
			cmd := exec.Command(path, args...)
			cmd.Dir = "/"
			var out, errOut bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errOut
			require.NoError(t, cmd.Run(), errOut.String())
			looks := strings.Split(out.String(), "BEFORE\n")[1:]
			require.Len(t, looks, (len(scripts)+19)/20)
			for i, look := range looks {
				before, after, ok := strings.Cut(look, "AFTER\n")
				require.True(t, ok)
				after, _, ok = strings.Cut(after, "END ")
				require.True(t, ok, "the shell has ended: %s", strings.Join(scripts[20*i:min(20*i+20, len(scripts))], "\n"))
				require.NotEmpty(t, before)
				require.Empty(t, differing(before, after), "%s", strings.Join(scripts[20*i:min(20*i+20, len(scripts))], "\n"))
			}
		})
	}
}

// differing are the lines that only one of two texts has.
func differing(a, b string) (lines []string) {
	for _, texts := range [][2]string{{a, b}, {b, a}} {
		for line := range strings.Lines(texts[0]) {
			if !strings.Contains("\n"+texts[1], "\n"+line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// A shell's own words are no programs: each that leaves something, or looks at the shell, is known as one.
func TestNoBuiltinPassesForAProgramThatLeavesNothing(t *testing.T) {
	same := map[string]bool{":": true, "true": true, "false": true, "echo": true, "test": true, "[": true, "pwd": true}
	// These only print, as the programs of their names do, or wait.
	for _, name := range []string{"which", "cat", "sleep", "getconf", "uname", "basename", "dirname", "realpath", "head", "wc", "cut", "cmp", "comm", "date", "expr", "id", "logname", "stat", "nproc", "printenv", "tty", "readlink"} {
		same[name] = true
	}
	for _, tt := range []struct {
		shell string
		list  []string
	}{
		{"bash", []string{"bash", "-c", "compgen -b; compgen -k"}},
		{"zsh", []string{"zsh", "-fc", "print -l ${(k)builtins} ${(k)reswords}"}},
		{"ksh", []string{"ksh93", "-c", "builtin"}},
		{"mksh", []string{"mksh", "-c", "typeset +f; alias | sed 's/=.*//'; for b in bind cat realpath rename sleep global mknod print pwd ulimit whence let; do echo $b; done"}},
	} {
		out, err := exec.Command(tt.list[0], tt.list[1:]...).Output()
		if err != nil {
			needs.Part(t, "no %s", tt.list[0])
		}
		names := strings.Fields(string(out))
		require.Greater(t, len(names), 10, tt.shell)
		for _, name := range names {
			if same[name] || strings.HasPrefix(name, "/") {
				continue
			}
			for _, args := range []string{"", " x", " -l", " -p", " 1"} {
				rep := judge.Judge(judge.Request{Script: name + args, Shell: tt.shell})
				assert.False(t, rep.Traceless && rep.Class == policy.ReadOnly, "%s: %s%s", tt.shell, name, args)
			}
		}
	}
}
