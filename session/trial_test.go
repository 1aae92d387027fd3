package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// triesFirst wants approval for everything, after it was tried held to reading.
var triesFirst = policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
	first := &policy.First{Shapes: strings.Contains(req.Command, "=")}
	for _, s := range judge.Secrets() {
		first.Closed = append(first.Closed, held.Closed(s.Patterns, s.Except))
	}
	d := policy.Decision{Verdict: policy.Ask, Class: policy.Unknown, Rule: "builtin/unknown", Reason: "no table knows this program", Needs: policy.NeedsApproval, First: first}
	if strings.HasPrefix(req.Command, ": own;") {
		d = policy.Decision{Verdict: policy.Allow, Class: policy.Unknown, Sets: []string{"x"}}
	}
	return d, nil
})

// asked approves what it is asked about, and remembers that.
type asked struct{ questions []policy.Question }

func (a *asked) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	a.questions = append(a.questions, q)
	return policy.Answer{Approved: true, ID: "approval", By: "operator/ada"}, nil
}

// settled is an approver that has its answer.
type settled struct{ asked }

func (*settled) Settled() bool { return true }

// waiting is a writer that takes nothing before it may.
type waiting struct {
	until <-chan struct{}
	strings.Builder
}

func (w *waiting) Write(p []byte) (int, error) {
	<-w.until
	return w.Builder.Write(p)
}

// A writer may wait for whoever starts the command, as with any command.
func TestWritersOfACommandThatIsTriedMayWaitForItsStart(t *testing.T) {
	s := holding(t, bashHere, session.Config{Policy: triesFirst, Approver: &asked{}})
	known := make(chan struct{})
	out := &waiting{until: known}
	x, err := s.Start(t.Context(), session.Command{Script: "perl -e 'print 6*7'", Stdout: out})
	require.NoError(t, err)
	close(known)
	r, err := x.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"42", "42", "builtin/held-first"}, []string{out.String(), string(r.Stdout), r.Decision.Rule})
}

// What needs approval and only reads is done when it was tried; nobody is asked.
func TestACommandThatOnlyReadsIsDoneWhenItWasTried(t *testing.T) {
	book, by := &ledger{}, &asked{}
	s := holding(t, bashHere, session.Config{Policy: triesFirst, Audit: book, Approver: by})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	var out, errs strings.Builder
	r, err := s.Run(t.Context(), session.Command{Script: "cd " + dir + "; echo out; echo err >&2; perl -e 'print 6*7'; (exit 3)", Stdout: &out, Stderr: &errs})
	require.NoError(t, err)
	assert.Empty(t, by.questions)
	assert.Equal(t, []string{"out\n42", "err\n", "out\n42", "err\n"}, []string{string(r.Stdout), string(r.Stderr), out.String(), errs.String()})
	assert.Equal(t, 3, *r.ExitCode)
	assert.Equal(t, dir, r.Dir)
	assert.Equal(t, []string{"held", "kernel", "builtin/held-first", "allow"}, []string{r.Lane, r.Held, r.Decision.Rule, r.Decision.Verdict.String()})
	assert.Empty(t, r.Refused)
	require.Len(t, book.events, 2)
	for i, kind := range []audit.Kind{audit.CommandRequest, audit.CommandResult} {
		e := book.events[i]
		assert.Equal(t, kind, e.Kind)
		assert.Equal(t, []string{r.Exec, "kernel: " + r.HeldBy}, []string{e.ID, e.Held})
	}
	assert.Equal(t, "builtin/held-first", book.events[0].Rule)

	r, err = s.Run(t.Context(), session.Command{Script: "pwd; echo $?; exit 5"})
	require.NoError(t, err)
	assert.Equal(t, dir+"\n0\n", string(r.Stdout), "the session has moved")
	assert.Equal(t, 5, *r.ExitCode)
	r, err = s.Run(t.Context(), session.Command{Script: "echo $?; kill -9 $$"})
	require.NoError(t, err)
	assert.Equal(t, []string{"5\n", "KILL"}, []string{string(r.Stdout), r.Signal})
	r, err = s.Run(t.Context(), session.Command{Script: "echo a; echo b >&2; echo c", Merged: true})
	require.NoError(t, err)
	assert.Equal(t, "a\nb\nc\n", string(r.Stdout))
	assert.Empty(t, by.questions)
}

// Nothing of what was refused something is returned as done; the question says what it tried, and an approval runs it as ever.
func TestACommandThatIsRefusedSomethingAsksAndSaysWhatItTried(t *testing.T) {
	book, by := &ledger{}, &asked{}
	s := holding(t, bashHere, session.Config{Policy: triesFirst, Audit: book, Approver: by})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "file")
	var out strings.Builder
	r, err := s.Run(t.Context(), session.Command{Script: "echo $$ >>" + file + "; cat " + file, Stdout: &out})
	require.NoError(t, err)
	require.Len(t, by.questions, 1)
	q := by.questions[0].Decision
	assert.Equal(t, "no table knows this program; it was tried held to reading, and the kernel refused: open for writing "+file, q.Reason)
	assert.Equal(t, "builtin/unknown", q.Rule)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(r.Stdout))
	assert.Equal(t, 1, strings.Count(out.String(), "\n"), "what was tried printed nothing")
	assert.Equal(t, []string{"session", "", "builtin/unknown", "approval"}, []string{r.Lane, r.Held, r.Decision.Rule, r.Decision.Approval})
	assert.Empty(t, r.Refused)
	var kinds []string
	for _, e := range book.events {
		assert.Equal(t, r.Exec, e.ID)
		kinds = append(kinds, string(e.Kind))
	}
	assert.Equal(t, "command.request command.result approval.request approval.result command.request command.result", strings.Join(kinds, " "))
	trial := book.events[1]
	assert.Equal(t, []string{"denied", "held_first", "open for writing " + file}, []string{trial.Status, trial.Error.Code, strings.Join(trial.Refused, ";")})

	alone := onThisMachine(t, bashHere, session.Config{Policy: triesFirst, Audit: book})
	r, err = alone.Run(t.Context(), session.Command{Script: "echo secret; rm " + file})
	require.ErrorIs(t, err, session.ErrDenied)
	assert.ErrorContains(t, err, "the kernel refused: remove "+file+" (approvals are not available here)")
	assert.Empty(t, string(r.Stdout)+string(r.Stderr))
	assert.FileExists(t, file)
}

// What cannot be tried truly is not, and asks as ever.
func TestWhatCannotBeTriedTrulyAsks(t *testing.T) {
	temporary := fmt.Sprintf("fairlead-trial-%d", os.Getpid()) // it is approved, and runs
	t.Cleanup(func() { assert.NoError(t, os.Remove(filepath.Join(os.TempDir(), temporary))) })
	for name, c := range map[string]struct {
		cmd  session.Command
		once bool
		own  string
		by   policy.Approver
	}{
		"input":                       {cmd: session.Command{Script: "cat", Stdin: strings.NewReader("a")}},
		"what shapes a shell":         {cmd: session.Command{Script: "x=1"}},
		"a session with variables":    {cmd: session.Command{Script: "true"}, own: ": own; export x=1"},
		"what was approved before":    {cmd: session.Command{Script: "true"}, by: &settled{}},
		"interactive":                 {cmd: session.Command{Script: "true", Interactive: true}},
		"what runs when it has ended": {cmd: session.Command{Script: "sleep 1000 & true"}},
		"a temporary file":            {cmd: session.Command{Script: "f() { : >${TMPDIR:-/tmp}/" + temporary + "; }; f"}},
		"what does not end":           {cmd: session.Command{Script: "sleep 1; echo a", Timeout: 700 * time.Millisecond}},
		"what prints without end":     {cmd: session.Command{Script: "yes | head -c 5000000 | tail -c 4500000 && false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := c.by
			if by == nil {
				by = &asked{}
			}
			s := holding(t, bashHere, session.Config{Policy: triesFirst, Approver: by, OneOff: c.once})
			if c.own != "" {
				_, err := s.Run(t.Context(), session.Command{Script: c.own})
				require.NoError(t, err)
			}
			if r, err := s.Run(t.Context(), c.cmd); err != nil {
				assert.Equal(t, session.StatusTimeout, r.Status)
			}
			var questions []policy.Question
			switch by := by.(type) {
			case *asked:
				questions = by.questions
			case *settled:
				questions = by.questions
			}
			require.Len(t, questions, 1)
			t.Log(questions[0].Decision.Reason)
		})
	}
}

// A one-off command may set what it likes: its shell goes.
func TestAOneOffMaySetVariablesWhenItIsTried(t *testing.T) {
	by := &asked{}
	s := holding(t, bashHere, session.Config{Policy: triesFirst, Approver: by, OneOff: true})
	r, err := s.Run(t.Context(), session.Command{Script: "x=1; echo $x"})
	require.NoError(t, err)
	assert.Equal(t, "1\n", string(r.Stdout))
	assert.Empty(t, by.questions)
}

// Unknown programs that mean harm change nothing, print nothing, and the question says what they tried.
func TestHostileCommandsThatAreTriedDoNothing(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range map[string]string{"kept": "kept", ".env": "SECRET", "id_rsa": "SECRET", "plain": "plain"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	before := stateOf(t, dir)
	for what, c := range map[string]struct{ script, want string }{
		"writes":           {"perl -e 'open F, q(>), q(kept); print F 1'", "open for writing " + dir + "/kept"},
		"connects":         {"perl -MSocket -e 'socket S, 2, 1, 0; connect S, sockaddr_in(9, INADDR_LOOPBACK)'", "connect 127.0.0.1:9"},
		"signals":          {fmt.Sprintf("kill -9 %d", os.Getppid()), fmt.Sprintf("signal 9 to %d", os.Getppid())},
		"floods":           {"echo SECRET; for i in $(seq 300); do : >f$i; done 2>/dev/null", "and 290 more"},
		"forks a daemon":   {"perl -MPOSIX -e 'fork && exit; POSIX::setsid(); fork && exit; open STDOUT, q(>/dev/null); open STDERR, q(>/dev/null); sleep 1000'", "left processes running"},
		"reads a password": {"cat /etc/shadow", "read /etc/shadow"},
		"reads a key":      {"cat id_rsa", "read " + dir + "/id_rsa"},
		"reads .env":       {"perl -e 'open F, q(<), q(.env); print <F>'", "read " + dir + "/.env"},
		"reads a process":  {fmt.Sprintf("cat /proc/%d/environ", os.Getppid()), fmt.Sprintf("read /proc/%d/environ", os.Getppid())},
		"hides its errors": {"echo SECRET; rm kept 2>/dev/null; exit 0", "remove " + dir + "/kept"},
		"overrides exit":   {"exit() { :; }; echo SECRET", "how it ended is not known"},
		"acts at its exit": {"trap 'rm kept' EXIT; echo SECRET", "remove " + dir + "/kept"},
		"acts later":       {"echo SECRET; (sleep 0.1; rm kept) 2>/dev/null &", "it was tried held to reading, and "},
	} {
		t.Run(what, func(t *testing.T) {
			s := holding(t, bashHere, session.Config{Policy: triesFirst, OneOff: true})
			r, err := s.Run(t.Context(), session.Command{Script: "cd " + dir + "; " + c.script})
			require.ErrorIs(t, err, session.ErrDenied)
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, string(r.Stdout)+string(r.Stderr)+string(r.Stray)+err.Error(), "SECRET")
			assert.Equal(t, before, stateOf(t, dir))
		})
	}
	left, err := filepath.Glob("/dev/shm/.fairlead-*")
	require.NoError(t, err)
	for _, path := range left {
		t.Log("left:", path)
	}
}

// stateOf is what a directory holds.
func stateOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		all[e.Name()] = fmt.Sprint(string(text), info.Mode(), info.ModTime())
	}
	return all
}
