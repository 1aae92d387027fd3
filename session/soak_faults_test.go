package session_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

type event struct {
	name string
	run  func()
}

// events are what the worker's site can go through, and uses of a session that the case table does not have.
func (w *worker) events() []event {
	all := []event{
		{"cut while idle", func() { w.cutIdle(w.site.breaker.Cut) }},
		{"cut during a command", func() { w.cutDuring(w.site.breaker.Cut) }},
		{"killed shell", w.killShell},
		{"killed shell during a command", w.killShellDuring},
		{"killed supervisor", w.killSupervisor},
		{"wait, poll, busy", w.poll},
		{"stdin", w.stdin},
		{"stdin that is not read", w.stdinUnread},
		{"interactive", w.interactive},
		{"cancel", w.cancel},
		{"one-off commands", w.oneOffs},
		{"one-off commands again", w.oneOffs},
		{"reset", func() { w.s.Reset(); w.ok() }},
		{"reset during a command", func() { w.endDuring((*session.Session).Reset) }},
		{"close during a command", func() {
			w.endDuring(func(s *session.Session) { assert.NoError(w.t, s.Close()) })
			w.reopen()
		}},
	}
	if n, ok := w.site.breaker.(network); ok {
		all = append(all,
			event{"half-close while idle", func() { w.cutIdle(n.HalfClose) }},
			event{"half-close during a command", func() { w.cutDuring(n.HalfClose) }},
			event{"stall", func() { w.stall(n) }},
			event{"slow", func() { w.slow(n) }})
	}
	if w.site.server != nil {
		all = append(all, event{"refused channel", w.refuse})
	}
	return all
}

// cutIdle cuts the connection between two commands: the next one runs on another one, with the state of before.
func (w *worker) cutIdle(cut func()) {
	n := w.rng.IntN(1000)
	if _, quiet := w.run(session.Command{Script: fmt.Sprintf("cd %s; umask 027; export FL_N=%d", quote(w.dir), n)}); !quiet {
		return
	}
	defer func() { w.settle(); w.run(session.Command{Script: "umask 022; unset FL_N"}) }()
	if _, quiet := w.run(session.Command{Script: ":"}); !quiet { // waits for the snapshot
		return
	}
	cuts, closed, open := w.site.cuts.Load(), w.site.closed.Load(), w.site.breaker.Connections()
	w.site.disturb(cut)
	noticed := time.Now().Add(10 * time.Second)
	for w.site.closed.Load() < closed+int64(open) && time.Now().Before(noticed) {
		time.Sleep(time.Millisecond)
	}
	r, _ := w.run(session.Command{Script: `pwd; umask; echo "$FL_N"`})
	if w.site.cuts.Load() != cuts+2 || cuts%2 == 1 || r.Status == session.StatusLost {
		return // somebody else has cut too, or nothing has told the client yet
	}
	r.Stdout = bytes.Replace(r.Stdout, []byte("\n0027\n"), []byte("\n027\n"), 1)
	w.exited(r, 0, fmt.Sprintf("%s\n027\n%d\n", w.dir, n))
	w.must(r.ShellRestarted && r.Reconnected && slices.Equal(r.Restored, []string{"cwd", "umask", "env"}), r, "what was lost is not told")
}

// cutDuring cuts the connection while a command runs that must never run again.
func (w *worker) cutDuring(cut func()) {
	path := filepath.Join(w.shared, fmt.Sprintf("unlucky%d", w.rng.Uint64()))
	// Not the shell's own echo: one that is hung up as it has just written may write again what it still holds.
	x, before, ok := w.begin(session.Command{Script: "/bin/echo begun >>" + quote(path) + "; sleep 100; echo ended >>" + quote(path)}, func(*session.Exec) bool {
		text, _ := os.ReadFile(path)
		return len(text) > 0
	})
	if !ok {
		return
	}
	w.site.disturb(cut)
	r := w.end(x, before)
	w.must(r.Status == session.StatusLost, r, "want lost")
	w.settle()
	w.ok()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlucky = append(w.unlucky, path) // looked at in the end
}

// begin starts a command and waits until runs says that it does; false if it ended before that.
func (w *worker) begin(cmd session.Command, runs func(x *session.Exec) bool) (x *session.Exec, before int64, ok bool) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 90*time.Second)
	defer cancel()
	before = w.site.cuts.Load()
	x, err := w.s.Start(ctx, cmd)
	if err != nil {
		w.judge(before, x.Result(), err)
		return nil, 0, false
	}
	for !runs(x) {
		select {
		case <-x.Done():
			w.end(x, before)
			return nil, 0, false
		case <-ctx.Done():
			require.Fail(w.t, "hangs", "%s: %+v", w.doing, x.Result())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return x, before, true
}

// end waits for the end of what begin began.
func (w *worker) end(x *session.Exec, before int64) session.Result {
	ctx, cancel := context.WithTimeout(w.t.Context(), 90*time.Second)
	defer cancel()
	r, err := x.Wait(ctx)
	require.NoError(w.t, err, "%s: hangs: %+v", w.doing, r)
	if r.Err != nil {
		err = r.Err
	}
	w.judge(before, r, err)
	return r
}

func printed(text string) func(*session.Exec) bool {
	return func(x *session.Exec) bool { return strings.Contains(string(x.Result().Stdout), text) }
}

// pid asks the shell for a process id.
func (w *worker) pid(name string) (pid int, ok bool) {
	r, quiet := w.run(session.Command{Script: "echo $" + name})
	pid, err := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
	return pid, quiet && err == nil && pid > 1
}

func (w *worker) killShell() {
	pid, ok := w.pid("$")
	if !ok {
		return
	}
	cuts := w.seen
	w.kill(pid)
	r, _ := w.run(session.Command{Script: "echo ok"})
	if cuts == w.site.cuts.Load() && r.Status == session.StatusOK {
		w.exited(r, 0, "ok\n")
		w.must(r.ShellRestarted && (!r.Reconnected || !w.site.roomy), r, "want a new shell on the same connection")
	}
}

// kill kills one process of the session, unless a fault of another worker's was quicker. A command that is sent before
// that is noticed is rightly lost.
func (w *worker) kill(pid int) {
	w.seen = -1
	if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		assert.NoError(w.t, err)
	}
	for end := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func (w *worker) killShellDuring() {
	pid, ok := w.pid("$")
	if !ok {
		return
	}
	x, before, ok := w.begin(session.Command{Script: "echo begun; sleep 100"}, printed("begun\n"))
	if !ok {
		return
	}
	quiet := before == w.seen
	w.kill(pid)
	r := w.end(x, before)
	if quiet && before == w.site.cuts.Load() {
		w.must(r.Status == session.StatusSignal && r.Signal == "KILL", r, "want the signal KILL")
	}
	w.settle()
	w.ok()
}

// killSupervisor kills the process that relays what the shell prints: nobody can say any more how the command ended.
func (w *worker) killSupervisor() {
	pid, ok := w.pid("PPID")
	if !ok {
		return
	}
	// A shell that is about to start a program takes the hangup for itself, and the program stays.
	x, before, ok := w.begin(session.Command{Script: "/bin/sleep 100 & echo $!; wait"}, func(x *session.Exec) bool {
		name, err := os.ReadFile("/proc/" + strings.TrimSpace(string(x.Result().Stdout)) + "/comm")
		return err == nil && string(name) == "sleep\n"
	})
	if !ok {
		return
	}
	w.kill(pid)
	r := w.end(x, before)
	w.must(r.Status == session.StatusLost, r, "want lost")
	w.settle()
	w.ok()
}

// poll looks at a running command in all the ways that there are.
func (w *worker) poll() {
	x, before, ok := w.begin(session.Command{Script: "echo begun; sleep 0.2; echo ended; (exit 4)"}, printed("begun\n"))
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Millisecond)
	defer cancel()
	if r, err := x.Wait(ctx); err != nil {
		w.must(r.State == session.Running, r, "want a running command")
		if r, err := w.s.Run(w.t.Context(), session.Command{Script: "echo never"}); r.Status == session.StatusError {
			w.must(errors.Is(err, session.ErrBusy) && r.Err.Exec == x.ID(), r, "want busy with %s", x.ID())
		} else {
			w.judge(before, r, err) // the first one had just ended
		}
	}
	r := w.end(x, before)
	if w.quiet(before) {
		w.exited(r, 4, "begun\nended\n")
	}
}

// quiet says that nothing has broken since then.
func (w *worker) quiet(before int64) bool {
	return before%2 == 0 && before == w.site.cuts.Load() && before == w.seen
}

func (w *worker) stdin() {
	data := make([]byte, w.rng.IntN(300_000))
	for i := range data {
		data[i] = byte(w.rng.Uint32())
	}
	r, quiet := w.run(session.Command{Script: "sha256sum", Stdin: bytes.NewReader(data)})
	if quiet {
		w.exited(r, 0, fmt.Sprintf("%x  -\n", sha256.Sum256(data)))
	}
}

func (w *worker) stdinUnread() {
	r, quiet := w.run(session.Command{Script: "head -c 3; (exit 6)", Stdin: bytes.NewReader(bytes.Repeat([]byte("abc"), 100_000))})
	if quiet {
		w.exited(r, 6, "abc")
	}
}

func (w *worker) interactive() {
	x, before, ok := w.begin(session.Command{Interactive: true, Script: `sh -c 'printf "Name: "; read x; echo "<$x>"; exit 5'`}, printed("Name: "))
	if !ok {
		return
	}
	_ = x.Input(w.t.Context(), []byte("ada\n"))
	r := w.end(x, before)
	if w.quiet(before) {
		w.must(r.ExitCode != nil && *r.ExitCode == 5 && strings.Contains(string(r.Stdout), "<ada>\r\n"), r, "want <ada> and code 5")
	}
	w.ok()
}

// cancel ends the caller's context while a command runs.
func (w *worker) cancel() {
	x, before, ok := w.begin(session.Command{Script: "echo begun; sleep 100"}, printed("begun\n"))
	if !ok {
		return
	}
	x.Stop()
	r := w.end(x, before)
	if w.quiet(before) {
		w.must(r.Status == session.StatusCanceled, r, "want canceled")
	}
	w.ok()
}

// endDuring ends the shell, or the session, from outside while a command runs.
func (w *worker) endDuring(end func(*session.Session)) {
	x, before, ok := w.begin(session.Command{Script: "echo begun; sleep 100"}, printed("begun\n"))
	if !ok {
		return
	}
	end(w.s)
	r := w.end(x, before)
	if w.quiet(before) {
		w.must(r.Status == session.StatusCanceled, r, "want canceled")
	}
}

// stall lets nothing through for a while, while a command runs.
func (w *worker) stall(n network) {
	x, before, ok := w.begin(session.Command{Script: "echo begun; i=0; while [ $i -lt 300 ]; do echo line $i; echo e >&2; i=$((i+1)); done; (exit 3)"}, func(*session.Exec) bool { return true })
	if !ok {
		return
	}
	var want strings.Builder
	want.WriteString("begun\n")
	for i := range 300 {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	w.site.drag(func() {
		n.Stall()
		time.Sleep(time.Duration(w.rng.IntN(200)) * time.Millisecond) // is the fault itself
		n.Resume()
	})
	r := w.end(x, before)
	if w.quiet(before) {
		w.exited(r, 3, want.String())
		w.must(string(r.Stderr) == strings.Repeat("e\n", 300), r, "want 300 lines of errors")
	}
}

// slow makes every packet late.
func (w *worker) slow(n network) {
	w.site.drag(func() {
		n.Slow(time.Duration(1+w.rng.IntN(10)) * time.Millisecond)
		defer n.Slow(0)
		r, quiet := w.run(session.Command{Script: "cd /tmp; echo out; echo err >&2; (exit 9)"})
		if quiet {
			w.exited(r, 9, "out\n")
			w.must(string(r.Stderr) == "err\n", r, "want err")
		}
		w.ok()
	})
}

// refuse makes the server take connections but no programs, for one command.
func (w *worker) refuse() {
	w.site.disturb(func() {
		w.site.server.SetFaults(sshserver.Faults{RefuseOpen: true})
		w.site.breaker.Cut()
		r, _ := w.run(session.Command{Script: "echo ok"})
		assert.NotEqual(w.t, session.StatusTimeout, r.Status)
		w.site.server.SetFaults(sshserver.Faults{})
		w.site.breaker.Cut()
	})
	w.settle()
	w.ok()
}
