package session_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// heldReads allows everything, and what begins with "read" only held to reading.
var heldReads = policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
	d := policy.Decision{Verdict: policy.Allow, Class: policy.Unknown, Rule: "a test"}
	command, isRead := strings.CutPrefix(req.Command, ": read; ")
	if isRead {
		d.Class = policy.ReadOnly
		d.Unheld = &policy.Decision{Verdict: policy.Ask, Class: policy.ReadOnly, Rule: "builtin/reads-held", Reason: "reads are held", Needs: policy.NeedsApproval}
	}
	d.Taints = strings.Contains(command, "=")
	if strings.Contains(command, "ss -p") {
		d.Unheld, d.Unfit = nil, "ss -p sees no other processes there"
	}
	return d, nil
})

// holding returns a session on this machine, which a test needs that can hold a shell.
func holding(t *testing.T, host hosts.Host, cfg session.Config) *session.Session {
	t.Helper()
	s := onThisMachine(t, host, cfg)
	if _, err := s.HeldBy(t.Context()); err != nil {
		assert.ErrorIs(t, err, session.ErrNotHeld)
		needs.Part(t, "this machine holds no shell: %v", err)
	}
	return s
}

func onThisMachine(t *testing.T, host hosts.Host, cfg session.Config) *session.Session {
	t.Helper()
	tr, err := localpty.New(localpty.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	if cfg.Audit == nil {
		cfg.Audit = audit.Discard{}
	}
	s, err := session.Open(tr, host, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

var bashHere = hosts.Host{Name: "here", Transport: "local", Shell: "bash"}

// What a policy wants held runs so, and says by what; the rest runs as always, in the same directory.
func TestReadsThatAPolicyWantsHeldAreHeld(t *testing.T) {
	book := &ledger{}
	s := holding(t, bashHere, session.Config{Policy: heldReads, Audit: book})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	run := func(script string) session.Result {
		t.Helper()
		r, err := s.Run(t.Context(), session.Command{Script: script})
		require.NoError(t, err)
		return r
	}
	r := run(": read; cd " + dir + "; echo a")
	assert.Equal(t, "a\n", string(r.Stdout))
	assert.Equal(t, []string{"held", "kernel", ""}, []string{r.Lane, r.Held, r.NotHeld})
	assert.Regexp(t, "^landlock [0-9]+, seccomp$", r.HeldBy)
	assert.Equal(t, "kernel: "+r.HeldBy, book.events[len(book.events)-1].Held)
	assert.Equal(t, "kernel: "+r.HeldBy, book.events[len(book.events)-2].Held)

	assert.Equal(t, 1, *run(": read; touch f").ExitCode)
	assert.NoFileExists(t, filepath.Join(dir, "f"))
	r = run("touch f; x=own; pwd")
	assert.Equal(t, dir+"\n", string(r.Stdout), "the session's own shell follows")
	assert.Equal(t, []string{"session", "", "", ""}, []string{r.Lane, r.Held, r.HeldBy, r.NotHeld})
	assert.FileExists(t, filepath.Join(dir, "f"))

	pid := string(run(": read; echo $$").Stdout)
	assert.Equal(t, pid, string(run(": read; echo $$").Stdout), "reads share a shell")
	assert.Equal(t, "held\n", string(run(": read; x=held; echo $x").Stdout))
	assert.Equal(t, "\n", string(run(": read; echo $x").Stdout), "one that sets a variable has it for itself")
	assert.NotEqual(t, pid, string(run(": read; echo $$").Stdout))
	assert.Equal(t, "own\n", string(run("echo $x").Stdout))

	r = run(": read; ss -p || :")
	assert.Equal(t, []string{"session", "no", "", "ss -p sees no other processes there"}, []string{r.Lane, r.Held, r.HeldBy, r.NotHeld})
	assert.Equal(t, "no: "+r.NotHeld, book.events[len(book.events)-1].Held)
}

// What asks a service through a local socket gets exactly that while it is held, and the next command has none of it. Where the host
// cannot hold it, it runs as it is judged.
func TestACommandHasItsSocketsWhileItIsHeld(t *testing.T) {
	perl, err := exec.LookPath("perl")
	if err != nil {
		needs.Part(t, "perl is not installed")
	}
	dir, err := os.MkdirTemp("/tmp", "fairlead-sockets-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("answered\n"))
			c.Close()
		}
	}()
	ask := perl + ` -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un(q(` + path + `))) || die "$!\n"; print <S>'`
	asks := policy.DeciderFunc(func(ctx context.Context, req policy.Request) (policy.Decision, error) {
		d, err := heldReads.Decide(ctx, req)
		if strings.Contains(req.Command, ": ask; ") {
			d.Sockets = []string{path}
			if d.Unheld == nil {
				d.Class, d.Unfit = policy.ReadOnly, "it asks a service through a socket"
			}
		}
		return d, err
	})
	s := holding(t, bashHere, session.Config{Policy: asks})
	run := func(s *session.Session, script string) session.Result {
		t.Helper()
		r, err := s.Run(t.Context(), session.Command{Script: script})
		require.NoError(t, err)
		return r
	}
	for range 2 {
		for _, script := range []string{": ask; " + ask, ": read; : ask; " + ask} {
			r := run(s, script)
			assert.Equal(t, []string{"answered\n", "", "held", "kernel", ""}, []string{string(r.Stdout), string(r.Stderr), r.Lane, r.Held, r.NotHeld}, script)
		}
		r := run(s, ": read; "+ask)
		assert.Equal(t, []string{"", "Operation not permitted\n", "held"}, []string{string(r.Stdout), string(r.Stderr), r.Lane})
		assert.Equal(t, []held.Refusal{{Call: "connect", Path: path}}, r.Refused)
	}
	// What the command leaves running ends with it.
	r := run(s, ": ask; sleep 1000 >/dev/null 2>&1 & echo $!")
	pid := strings.TrimSpace(string(r.Stdout))
	assert.Eventually(t, func() bool { _, err := os.Stat("/proc/" + pid); return err != nil }, time.Minute, 10*time.Millisecond)

	host := bashHere
	host.Env = []string{"PATH=" + withoutPerl(t)}
	s = onThisMachine(t, host, session.Config{Policy: asks})
	r = run(s, ": ask; "+ask)
	assert.Equal(t, []string{"answered\n", "session", "no", "", "it asks a service through a socket; it has neither perl nor python3"}, []string{string(r.Stdout), r.Lane, r.Held, r.HeldBy, r.NotHeld})
	_, err = s.Run(t.Context(), session.Command{Script: ": read; : ask; " + ask})
	require.ErrorIs(t, err, session.ErrDenied)
}

// A command may ask for it, whatever the policy says: it does what it can, and nothing of it stays.
func TestACommandThatAsksToBeHeldChangesNothing(t *testing.T) {
	book := &ledger{}
	s := holding(t, bashHere, session.Config{Policy: policy.AllowAll, Audit: book})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(file, []byte("kept"), 0o600))
	r, err := s.Run(t.Context(), session.Command{Script: "x=1; rm " + file + "; echo b >" + file + "; echo $x", Held: true})
	require.NoError(t, err)
	assert.Equal(t, "1\n", string(r.Stdout))
	assert.Contains(t, string(r.Stderr), "rm: ")
	assert.Equal(t, "kernel", r.Held)
	assert.Equal(t, []held.Refusal{{Call: "remove", Path: file}, {Call: "open for writing", Path: file}}, r.Refused)
	assert.Equal(t, []string{"remove " + file, "open for writing " + file}, book.events[len(book.events)-1].Refused)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(text))
	r, err = s.Run(t.Context(), session.Command{Script: "echo x$x", Held: true})
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(r.Stdout), "each has a shell of its own")

	r, _ = s.Run(t.Context(), session.Command{Script: "echo a", Held: true, Interactive: true})
	require.ErrorIs(t, r.Err, session.ErrNotHeld)
	assert.Equal(t, []string{"no", "not_held"}, []string{r.Held, r.Err.Code})
}

// Standard input, time limits and the shell's end are as everywhere.
func TestHeldCommandsAreStoppedAndFedLikeOthers(t *testing.T) {
	s := holding(t, bashHere, session.Config{Policy: policy.AllowAll})
	r, err := s.Run(t.Context(), session.Command{Script: "wc -c", Held: true, Stdin: strings.NewReader(strings.Repeat("x", 300_000))})
	require.NoError(t, err)
	assert.Equal(t, "300000", strings.TrimSpace(string(r.Stdout)))
	r, _ = s.Run(t.Context(), session.Command{Script: "sleep 1000; echo never", Held: true, Timeout: 300 * time.Millisecond})
	assert.Equal(t, session.StatusTimeout, r.Status)
	assert.False(t, r.MayRun)
	r, err = s.Run(t.Context(), session.Command{Script: "exit 3", Held: true})
	require.NoError(t, err)
	assert.Equal(t, 3, *r.ExitCode)
}

// Where the host cannot hold it, the command asks; without somebody to ask it is refused at once.
func TestReadsNeedApprovalWhereTheHostCannotHoldThem(t *testing.T) {
	host := bashHere
	host.Env = []string{"PATH=" + withoutPerl(t)}
	book := &ledger{}
	s := onThisMachine(t, host, session.Config{Policy: heldReads, Audit: book})
	_, err := s.HeldBy(t.Context())
	require.ErrorIs(t, err, session.ErrNotHeld)
	r, err := s.Run(t.Context(), session.Command{Script: ": read; echo a"})
	require.ErrorIs(t, err, session.ErrDenied)
	assert.Equal(t, "builtin/reads-held", r.Decision.Rule)
	assert.Equal(t, "reads are held, and here cannot hold this: it has neither perl nor python3", r.Decision.Reason)
	assert.Equal(t, []string{"no", "it has neither perl nor python3"}, []string{r.Held, r.NotHeld})
	r, err = s.Run(t.Context(), session.Command{Script: "echo a", Held: true})
	require.ErrorIs(t, err, session.ErrNotHeld)
	assert.ErrorContains(t, err, "it has neither perl nor python3")
	assert.False(t, r.Err.Sent)
	r, err = s.Run(t.Context(), session.Command{Script: "echo a"})
	require.NoError(t, err)
	assert.Equal(t, "a\n", string(r.Stdout))

	approved := onThisMachine(t, host, session.Config{Policy: heldReads, Approver: yes{}})
	r, err = approved.Run(t.Context(), session.Command{Script: ": read; echo a"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a\n", "session", "no", "approval"}, []string{string(r.Stdout), r.Lane, r.Held, r.Decision.Approval})
}

// Where there is no perl, python3 holds: a session and its Results say so as they do with perl.
func TestAHostWithoutPerlHoldsByPython3(t *testing.T) {
	python := python(t)
	holding(t, bashHere, session.Config{Policy: policy.AllowAll}) // skips where that cannot be
	host := bashHere
	path := withoutPerl(t)
	require.NoError(t, os.Symlink(python, filepath.Join(path, "python3")))
	host.Env = []string{"PATH=" + path}
	s := onThisMachine(t, host, session.Config{Policy: policy.AllowAll})
	by, err := s.HeldBy(t.Context())
	require.NoError(t, err)
	assert.Regexp(t, `^landlock [0-9]+, seccomp$`, by)
	file := filepath.Join(t.TempDir(), "f")
	r, err := s.Run(t.Context(), session.Command{Script: "echo a; echo b >" + file, Held: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"a\n", "kernel", by, ""}, []string{string(r.Stdout), r.Held, r.HeldBy, r.RefusedUnknown})
	assert.Equal(t, []held.Refusal{{Call: "open for writing", Path: file}}, r.Refused)
	r, err = s.Run(t.Context(), session.Command{Script: "cat", Held: true, Stdin: strings.NewReader(strings.Repeat("x", 10_000))})
	require.NoError(t, err)
	assert.Equal(t, 10_000, len(r.Stdout))
}

// python is a python3 that needs no PATH: not what a version manager puts before it.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	needs.Part(t, "python3 is not installed")
	return ""
}

// A python3 that does not start, or lacks a library, holds nothing, and that is why reads need approval.
func TestAPython3OfNoUseHoldsNothing(t *testing.T) {
	python := python(t)
	for script, want := range map[string]string{
		"echo python3 is not configured; exit 127":                                  `^it has no perl, and its python3 does not start; it printed "python3 is not configured`,
		"exec " + python + ` -ISBc "import sys; sys.modules['_ctypes'] = None; $2"`: "^(import of _ctypes halted|No module named .?_ctypes)",
	} {
		host := bashHere
		path := withoutPerl(t)
		require.NoError(t, os.WriteFile(filepath.Join(path, "python3"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		host.Env = []string{"PATH=" + path}
		s := onThisMachine(t, host, session.Config{Policy: heldReads, Audit: &ledger{}})
		r, err := s.Run(t.Context(), session.Command{Script: ": read; echo a"})
		require.ErrorIs(t, err, session.ErrDenied)
		assert.Equal(t, "builtin/reads-held", r.Decision.Rule)
		assert.Regexp(t, want, r.NotHeld)
	}
}

type yes struct{}

func (yes) Approve(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer{Approved: true, ID: "approval", By: "operator/ada"}, nil
}

// withoutPerl is a directory of programs that has neither perl nor python3.
func withoutPerl(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "bash", "stty", "env", "sed", "id", "cat", "head", "tr", "hexdump"} {
		if path, err := exec.LookPath(name); err == nil {
			require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
		}
	}
	return dir
}
