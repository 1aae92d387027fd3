package session_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

var (
	pairsN    = flag.Int("pairs.n", 32, "how many pairs of one-off commands are run, over all shells and transports")
	pairsSeed = flag.Uint64("pairs.seed", 0, "the seed of the pairs; 0 is the time")
)

// Nothing leaks from one one-off command to the next: a command gives the same after any other, in a shell that was started ahead,
// as it gives alone, in a shell of its own. For a long run:
//
//	go test ./session -run TestNothingLeaks -pairs.n 100000 -timeout 0
func TestNothingLeaksFromOneOneOffToTheNext(t *testing.T) {
	seed := *pairsSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	places := 0
	for _, via := range transports {
		places += len(shellsOver(via.name))
	}
	for i, via := range transports {
		connect := dialers[via.name](t)
		for j, shell := range shellsOver(via.name) {
			t.Run(via.name+"/"+shell, func(t *testing.T) {
				needShell(t, shell)
				p := newPairs(t, func() session.Transport { return connect(t) }, shell, rand.New(rand.NewPCG(seed, uint64(i*len(shells)+j))))
				for range max(1, *pairsN/places) {
					p.pair()
				}
				t.Logf("%d pairs", max(1, *pairsN/places))
			})
		}
	}
}

// pairs runs commands on a pool that starts shells ahead, and on one that does not.
type pairs struct {
	t          *testing.T
	rng        *rand.Rand
	host       hosts.Host
	warm, cold *session.Pool
	alone      map[string]answer // by script
	last       answer            // on the warm pool
}

// answer is what must not depend on the commands before.
type answer struct {
	status              session.Status
	code                int
	out, err, stray, by string
	own                 []string // what each shell has for itself: its process id and what is random
}

func newPairs(t *testing.T, dial func() session.Transport, shell string, rng *rand.Rand) *pairs {
	pool := func(warm int) *session.Pool {
		cfg := session.Config{Audit: permissive().Audit, Grace: 300 * time.Millisecond,
			Policy: policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) { // what changes the host ends shells that wait
				rep := judge.Judge(judge.Request{Script: req.Command, Shell: shell})
				return policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: "test", Traceless: rep.Traceless}, nil
			})}
		p, err := session.NewPool(session.PoolConfig{MaxWarm: warm, Session: cfg, Dial: func(context.Context, hosts.Host) (session.Transport, error) {
			return dial(), nil
		}})
		require.NoError(t, err)
		t.Cleanup(func() { p.Close() })
		return p
	}
	return &pairs{t: t, rng: rng, host: hosts.Host{Name: "host", Shell: shell}, warm: pool(0), cold: pool(-1), alone: map[string]answer{}}
}

// pair runs one command, then another, and compares.
func (p *pairs) pair() {
	var a, b []string
	from := leavings
	if p.rng.IntN(3) == 0 {
		from = reads
	}
	for range 1 + p.rng.IntN(3) {
		a = append(a, from[p.rng.IntN(len(from))])
	}
	for range 1 + p.rng.IntN(3) {
		b = append(b, looks[p.rng.IntN(len(looks))])
	}
	before, script := strings.Join(a, "\n"), strings.Join(b, "\n")
	want, ok := p.alone[script]
	if !ok {
		want = p.run(p.cold, session.Command{Script: script, Timeout: time.Minute})
		p.alone[script] = want
	}
	cmd := session.Command{Script: before, Timeout: time.Minute}
	switch p.rng.IntN(10) {
	case 3, 4, 5: // a shell that is kept, and then looked at no more
		for range 1 + p.rng.IntN(3) {
			p.run(p.warm, cmd)
		}
	case 0:
		cmd.Stdin = strings.NewReader("one\ntwo\nthree\n")
	case 1:
		cmd.Script, cmd.Timeout = before+"\n/bin/sleep 30", 100*time.Millisecond
	case 2:
		cmd.Script, cmd.Timeout = before+"\ntrap '' INT TERM HUP\nwhile :; do /bin/sleep 30; done", 100*time.Millisecond
	}
	p.run(p.warm, cmd)
	got := p.run(p.warm, session.Command{Script: script, Timeout: time.Minute})
	for i := range min(len(got.own), len(p.last.own)) {
		assert.NotEqual(p.t, p.last.own[i], got.own[i], "what a shell has for itself\nafter %q\n%q", before, script)
	}
	p.last, got.own, want.own = got, nil, nil
	assert.Equal(p.t, want, got, "after %q\n%q", before, script)
}

var ownValue = regexp.MustCompile(`<[0-9 ]+>`)

func (p *pairs) run(pool *session.Pool, cmd session.Command) answer {
	r, err := pool.Run(p.t.Context(), p.host, cmd)
	if err != nil {
		require.Contains(p.t, []session.Status{session.StatusTimeout, session.StatusLost}, r.Status, "%v", err) // it stopped or killed itself
	}
	a := answer{status: r.Status, code: -1, err: string(r.Stderr), stray: string(r.Stray), by: r.StoppedBy + fmt.Sprint(r.MayRun, r.ShellRestarted, r.Reconnected, r.Restored)}
	if r.ExitCode != nil {
		a.code = *r.ExitCode
	}
	a.own = ownValue.FindAllString(string(r.Stdout), -1)
	a.out = ownValue.ReplaceAllString(string(r.Stdout), "<>")
	return a
}

// leavings are what a command may leave behind.
var leavings = []string{
	"cd /usr", "cd /; PWD=/nowhere", "CDPATH=/usr", "d=/tmp/pairs-$$; mkdir $d; cd $d; rmdir $d",
	"LEAK=1", "export LEAK=1", "readonly LEAK=1", "unset HOME", "PATH=/nope", "IFS=x", "ENV=/nope; export ENV", "set -- a b c", "PS4=leak",
	"f() { echo leaked; }", "cat() { echo leaked; }", "cd() { echo leaked; }", "alias ll='echo leaked'", "alias pwd='echo leaked'", "unalias -a",
	"set -f", "set -u", "set -C", "set -x", "set -e", "set -a", "set -n", "set -e; false",
	"umask 077", "umask 0", "ulimit -n 60", "ulimit -c 0", "ulimit -S -s 4096",
	"trap 'echo leaked' EXIT", "trap '' INT", "trap '' HUP TERM", "trap 'echo leaked >&2' EXIT; exit 3", "trap 'echo leaked' USR1; kill -USR1 $$",
	"exec 3</dev/null", "exec 5>&1", "exec >/dev/null", "exec 2>&1", "exec <&-", "exec >&-", "exec 2>&-", "exec 8>&-", "exec 9>&-",
	"/bin/sleep 3 &", "(/bin/sleep .05; echo LATE) &", "(/bin/sleep .05; echo LATE >&2) &", "(/bin/sleep .05; echo LATE >/dev/tty) &",
	"(trap '' HUP TERM; /bin/sleep .2; echo LATE) &", "(while :; do echo FLOOD; done) &", "/bin/sleep 3 | cat &", "(read x </dev/tty; echo $x) &",
	"stty -echo </dev/tty", "stty sane </dev/tty", "stty rows 7 cols 9 </dev/tty", "stty -isig </dev/tty", "printf '\\033[2J' >/dev/tty",
	"echo $RANDOM", "RANDOM=42", "true foo bar", "read x; echo $x", "cat", "head -c 2", "printf 'no newline'", "printf '\\377\\000\\036'",
	"exec true", "exec sh -c 'echo other; exit 4'", "exit 7", "kill -9 $$", "kill -TERM $$", "kill -INT $$", "kill -HUP $$", "kill -TERM 0", "kill -INT 0",
	"echo 'open", "if", "}", "[[", "echo \"$(", "cat <<X", "nosuchprogram", "echo err >&2", "eval 'f() {'", "break", "return 3",
	"yes | head -c 100000", "$(kill -9 $$)", "command exec 7</dev/null", "set -o noglob", "hash -r", "shopt -s extdebug", "trap 'echo D' DEBUG", "setopt errexit",
}

// reads leave nothing, and so their shell is kept.
var reads = []string{
	"uname -a", "ls / | true | false", "{ cat /etc/hosts | ls x=y; } >/dev/null", "ls /etc | wc -l", "ls /nonexistent", "true a b c", "false", "test -f /etc/passwd && echo yes", "cat /proc/self/status | grep Name", "ls >/dev/null 2>&1",
	"sh -c 'kill -9 $$'", "sh -c 'exit 77'", "(ls /; false)", "yes | head -n 30000", "head -c 300 /dev/zero", "echo 'no newline' | tr -d '\\n'", "! true", "if false; then ls; else id; fi",
	"sh -c 'trap \"\" INT; ulimit -c 0; cd /; umask 0; exec 7</dev/null; x=1; export x'", "stty -a </dev/null", "{ echo a; nosuchprogram; } 2>/dev/null", "awk 'BEGIN { exit 3 }'", "sort </dev/null",
}

// looks are what a command may see of another. ksh93 exports _ or _AST_FEATURES, as it happens. Descriptors are listed without a child, to which some shells have a pipe for a moment. What is killed is
// waited for: whether jobs still shows it would be chance.
var looks = []string{
	`echo "$_"`, `echo "$?"`, `case ${KSH_VERSION-}${BASH_VERSION-}${ZSH_VERSION-} in (?*) eval 'echo "[${PIPESTATUS[*]-}${pipestatus[*]-}]"';; esac`, "hash 2>&1 | grep -c -e uname -e head -e sort", "type uname ls", "command -v ls", "nosuchprogram", "(", "pwd", `echo "$PWD ${OLDPWD-none}"`, "cd; pwd", "cd /usr; cd -", "ls -d /usr",
	`echo "${LEAK-none} ${HOME-none} $PATH ${CDPATH-none} ${ENV-none} $#"`, `printf '%s' "$IFS" | od -An -c`, "LEAK=mine; echo $LEAK",
	"export -p | sed '/SSH_/d;/XDG_SESSION/d;/ _=/d;/ _AST_FEATURES=/d' | sort", "f", "command -V f", "cat </dev/null", "alias", "ll", "trap",
	"case $- in (*[fueaCnx]*) echo $-;; esac", "echo /us*", `x=$(echo "$nope"); echo "[$x]"`, "umask", "ulimit -n; ulimit -c; ulimit -s",
	"for n in /proc/$$/fd/*; do echo ${n##*/}; done", "cat", "read x; echo $?", "jobs", "wait; echo $?", `echo "${!:+set}"`, "true; echo \"$_\"",
	"stty -a </dev/tty", "stty size </dev/tty", "echo \"<$$>\"", "/bin/sleep 9 & echo \"<$!>\"; kill $!; wait $! 2>/dev/null; :", "test -z \"${RANDOM-}\" || echo \"<$RANDOM $RANDOM $RANDOM>\"",
	"set -- $(ls /proc/$$/task/$$/children) $(cat /proc/$$/task/$$/children | wc -w); echo $#", "/bin/sleep .1; echo waited", "echo err >&2", "exit 5", "exec sh -c 'exit 6'", "(exit 8)",
	"trap 'echo mine' EXIT; exit 2", "kill -INT $$; echo on", "sh -c 'trap' ", "test -t 0; echo $?; test -t 1; echo $?", "printf tail",
}
