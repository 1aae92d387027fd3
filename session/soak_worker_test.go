package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// worker drives one session of the soak.
type worker struct {
	*soak
	t     *testing.T
	site  *site
	shell string
	rng   *rand.Rand
	dir   string // its own, on the host

	s        *session.Session
	seen     int64  // the site's cuts when the last command that was answered began
	doing    string // for messages
	past     []string
	failed   bool // told already
	holds    bool // the host can hold a shell to reading
	outdated bool // a new shell has the variables of some time before
}

func (w *worker) work() {
	defer func() { w.s.Close() }()
	defer w.tell()
	w.reopen()
	_, err := w.s.HeldBy(w.t.Context())
	w.holds = err == nil
	all := append(cases(w.dir), stopping()...)
	events := w.events()
	for w.more() {
		w.settle()
		if w.outdated {
			w.freshen()
		}
		if w.rng.IntN(4) == 0 {
			e := events[w.rng.IntN(len(events))]
			w.doing = e.name
			w.fault(e.name)
			e.run()
		} else if c := all[w.rng.IntN(len(all))]; w.fits(c) {
			w.doing = c.name
			if held, ok := heldCase(c); ok && w.holds && w.rng.IntN(4) == 0 {
				w.doing, c = c.name+", held", held
			}
			w.runCase(c)
		}
		w.tell()
	}
	w.doing = "the end"
	w.settle()
	w.ok()
}

// tell says once what the worker was doing when something was found.
func (w *worker) tell() {
	if w.t.Failed() && !w.failed {
		w.failed = true
		w.t.Logf("after %s (seed %d)", strings.Join(w.past, "; "), w.seed)
	}
}

// heavy cases take a second and more.
var heavy = map[string]int{"a flood on output": 20, "lines in order": 60, "both streams at once": 5, "a flood on errors": 5, "ignores INT and TERM": 3, "a loop that ignores INT and TERM": 3, "ignores INT": 3, "a loop of builtins": 3}

func (w *worker) fits(c sessionCase) bool {
	if c.only != "" && !contains(c.only, w.shell) {
		return false
	}
	if !w.site.roomy && c.name == "a loop that ignores INT and TERM" {
		return false // nobody can send KILL there, and a new shell does not know the variable
	}
	rare := heavy[c.name]
	return rare == 0 || w.rng.IntN(rare) == 0
}

// dirty cases leave a shell in which others do not give what they say.
var dirty = map[string]bool{
	"errexit and nounset": true, "pipefail": true, "xtrace": true, "verbose": true, "IFS": true, "PATH": true, "options": true,
	"functions and aliases in the way": true, "a trap on exit": true, "a trap on every command": true, "a trap that prints commands": true,
	"prompts": true, "closed descriptors": true, "umask and options are kept": true, "a directory that is deleted": true,
	"state is kept": true, "a command that takes too long": true,
}

// clean makes the shell a plain one again, in one of the ways that there are.
func (w *worker) clean() {
	switch w.rng.IntN(4) {
	case 0:
		w.s.Reset()
	case 1:
		w.run(session.Command{Script: "exit 0"})
	case 2:
		w.run(session.Command{Script: "kill -9 $$"})
	default:
		w.reopen()
	}
	w.freshen()
}

// freshen gives the session what every case begins with.
func (w *worker) freshen() {
	const plain = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH; unset A LC_ALL; umask 022; cd "
	for range 100 {
		w.outdated = false
		if r, _ := w.run(session.Command{Script: plain + quote(w.dir)}); r.Status == session.StatusOK && !w.outdated {
			return
		}
		w.settle()
	}
}

// reopen closes the session and opens another one.
func (w *worker) reopen() {
	if w.s != nil {
		require.NoError(w.t, w.s.Close())
	}
	s, err := w.site.pool.Open(w.site.on(w.shell))
	require.NoError(w.t, err)
	w.s = s
}

// run runs one command and checks what must hold whatever happens. It reports whether the host answered, and nothing
// broke meanwhile.
func (w *worker) run(cmd session.Command) (session.Result, bool) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 90*time.Second)
	defer cancel()
	before := w.site.cuts.Load()
	r, err := w.s.Run(ctx, cmd)
	assert.NoError(w.t, ctx.Err(), "%s: the session hangs: %s", w.doing, short(cmd.Script))
	return r, w.judge(before, r, err)
}

// judge checks a Result on its own terms.
func (w *worker) judge(before int64, r session.Result, err error) (quiet bool) {
	w.commands.Add(1)
	w.past = append(w.past[max(0, len(w.past)-7):], fmt.Sprintf("%s: %s: %s", w.doing, short(r.Command), r.Status))
	if r.Held == "kernel" {
		w.held.Add(1)
	}
	if r.ShellRestarted {
		w.restarts.Add(1)
	}
	if r.Reconnected {
		w.reconnects.Add(1)
	}
	w.mu.Lock()
	w.statuses[r.Status]++
	w.mu.Unlock()
	w.outdated = w.outdated || slices.Contains(r.Restored, session.RestoredStale)
	quiet = w.quiet(before)
	w.must(r.State == session.Done, r, "not done")
	for _, text := range [][]byte{r.Stdout, r.Stderr, r.Stray} {
		w.must(!framed.Match(text) || tellsOfItself(r.Command), r, "framing in the output")
	}
	switch r.Status {
	case session.StatusOK, session.StatusExit, session.StatusSignal:
		w.must(err == nil, r, "an answer with an error: %v", err)
		if before%2 == 0 {
			w.seen = before
		}
	case session.StatusLost:
		w.lost.Add(1)
		w.must(!quiet, r, "lost without a cut")
		w.must(r.Err.Sent && !r.Err.Retriable, r, "lost, but it was not sent, or may be sent again")
	case session.StatusTimeout, session.StatusCanceled:
		w.must(err != nil, r, "stopped without an error")
	case session.StatusUnreachable, session.StatusError:
		w.unsent.Add(1)
		w.must(!quiet, r, "an error without a cut")
		w.must(!r.Err.Sent, r, "an error after something was sent")
		return false // it has been told, and nothing else can be expected
	default:
		w.must(false, r, "an unknown status")
	}
	return quiet
}

// must tells in few lines what is wrong with a Result.
func (w *worker) must(ok bool, r session.Result, format string, args ...any) {
	if ok {
		return
	}
	code := "none"
	if r.ExitCode != nil {
		code = fmt.Sprint(*r.ExitCode)
	}
	w.t.Errorf("%s: %s\n%s: status %s, code %s, signal %q, %v, dir %q, restarted %v, reconnected %v, restored %v, stopped by %q\nstdout %.300q\nstderr %.300q\nstray %.300q",
		w.doing, fmt.Sprintf(format, args...), short(r.Command), r.Status, code, r.Signal, r.Err, r.Dir, r.ShellRestarted, r.Reconnected, r.Restored, r.StoppedBy, r.Stdout, r.Stderr, r.Stray)
}

// exited checks an exit code and standard output.
func (w *worker) exited(r session.Result, code int, out string) {
	w.must(r.ExitCode != nil && *r.ExitCode == code && (r.Status == session.StatusOK) == (code == 0), r, "want code %d", code)
	w.must(string(r.Stdout) == out, r, "want output %.300q", out)
}

// framed is what only frames hold: a mark with a token, or a name of the driver's.
var framed = regexp.MustCompile(`\x1e(?:~?[A-Za-z0-9_-]{8,}|$)|_fl_`)

// tellsOfItself says that a command prints such a thing on purpose.
func tellsOfItself(script string) bool {
	return strings.Contains(script, `\036`) || strings.Contains(script, "/proc/$$/environ") || strings.Contains(script, "BASH_COMMAND")
}

// settle makes sure that the session has noticed every cut so far, so that what comes after is told of new ones only.
func (w *worker) settle() {
	w.doing = "settling after " + strings.TrimPrefix(w.doing, "settling after ")
	for end := time.Now().Add(time.Minute); w.site.cuts.Load() != w.seen; {
		if r, _ := w.run(session.Command{Script: "echo ok"}); r.Status != session.StatusOK {
			require.True(w.t, time.Now().Before(end), "bricked: nothing works for a minute, at last %s (%v)", r.Status, r.Err)
			time.Sleep(10 * time.Millisecond) // the network is down, and whoever has taken it down needs the processor
		}
	}
}

// ok runs what every session must be able to run at any time.
func (w *worker) ok() {
	r, quiet := w.run(session.Command{Script: "echo ok"})
	if quiet {
		w.exited(r, 0, "ok\n")
	}
}

// runCase runs the steps of a case until something else breaks the connection.
func (w *worker) runCase(c sessionCase) {
	if dirty[c.name] {
		defer w.clean()
	}
	for i, st := range c.steps {
		r, quiet := w.run(st.cmd)
		if !quiet {
			w.abandoned.Add(1)
			return
		}
		w.must(st.status == "*" || st.status == r.Status, r, "step %d: want %s", i+1, st.status)
		w.must(st.out == "*" || st.out == string(r.Stdout), r, "step %d: want output %.300q", i+1, st.out)
		w.must(st.err == "*" || st.err == string(r.Stderr), r, "step %d: want errors %.300q", i+1, st.err)
		w.must(st.status != session.StatusExit || st.code < 0 || r.ExitCode != nil && *r.ExitCode == st.code, r, "step %d: want code %d", i+1, st.code)
		w.must(st.dir == "" || st.dir == r.Dir, r, "step %d: want directory %q", i+1, st.dir)
		if r.Status != st.status && st.status != "*" {
			return // a check may count on it
		}
		if st.cmd.Timeout > 0 {
			w.stopped(c.name, r)
		} else if st.check != nil && c.name != "nothing to learn from the shell" {
			if r.ShellRestarted { // a session that has run more than the case's steps has more state
				w.must(len(r.Restored) > 0 && r.Restored[0] == "cwd", r, "step %d: the directory is not restored", i+1)
				r.Restored = []string{"cwd"}
			}
			st.check(w.t, r)
		}
	}
}

// stopped checks a command whose time is up. Which step works depends on how busy the machine is, but a new shell is only
// needed where nothing else can work.
func (w *worker) stopped(name string, r session.Result) {
	w.must(r.Status == session.StatusTimeout, r, "want a timeout")
	switch name {
	case "ignores INT", "a loop of builtins", "reading the terminal":
	default:
		builtin := w.shell == "ksh" && strings.HasPrefix(r.Command, "sleep") // has no process to signal
		w.must(r.StoppedBy != "shell" || !w.site.roomy || builtin, r, "want a step that keeps the shell")
	}
}

func short(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
