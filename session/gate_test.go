package session_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// What the gate does not let through: nothing of it may leave, whether the shell is warm or not even dialed.
func TestGateSendsNothingThatItDoesNotLetThrough(t *testing.T) {
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		policy   policy.Decider
		record   error
		status   session.Status
		code     string
		is       error
		recorded []audit.Kind
	}{
		"denied by policy": {
			policy: says(policy.Deny, "not here"), status: session.StatusDenied, code: "denied", is: session.ErrDenied,
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
		"the zero decision denies": {
			policy: says(0, ""), status: session.StatusDenied, code: "denied", is: session.ErrDenied,
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
		"nobody to ask": {
			policy: says(policy.Ask, "a human must approve"), status: session.StatusDenied, code: "denied", is: session.ErrDenied,
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
		"the policy fails": {
			policy: policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
				return policy.Decision{Verdict: policy.Allow}, errors.New("no rules")
			}), status: session.StatusDenied, code: "denied", is: session.ErrDenied,
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
		"the record fails": {
			policy: policy.AllowAll, record: full, status: session.StatusError, code: "audit", is: session.ErrAudit},
		"the record of a denial fails": {
			policy: says(policy.Deny, ""), record: full, status: session.StatusError, code: "audit", is: full},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.On("warm up")
				book := &ledger{}
				decide := policy.AllowAll
				p := poolOn(t, d, session.PoolConfig{Session: session.Config{Audit: book, Policy: policy.DeciderFunc(
					func(ctx context.Context, r policy.Request) (policy.Decision, error) { return decide.Decide(ctx, r) })}})
				cold, warm := mustOpen(t, p, web1), mustOpen(t, p, web1)
				runOK(t, warm, "warm up")
				typed, programs := d.Typed("web1"), len(d.Ran("web1"))
				book.events = nil
				decide, book.before = c.policy, func(audit.Event) error { return c.record }

				for _, s := range []*session.Session{warm, cold} {
					r, err := s.Run(t.Context(), session.Command{Script: "forbidden"})
					e := asError(t, err)
					assert.Same(t, e, r.Err)
					assert.Equal(t, c.status, r.Status)
					assert.Equal(t, session.Done, r.State)
					assert.Equal(t, c.code, e.Code)
					assert.ErrorIs(t, err, c.is)
					assert.False(t, e.Sent)
					assert.Nil(t, r.ExitCode)
					assert.Equal(t, c.recorded, book.kinds())
					book.events = nil
				}
				assert.Equal(t, typed, d.Typed("web1"), "bytes on the wire")
				assert.Len(t, d.Ran("web1"), programs)
				assert.Equal(t, 1, d.Dialed("web1"))
				assert.Equal(t, 1, p.Stats().Sessions, "the cold one took no place")

				decide, book.before = policy.AllowAll, nil
				runOK(t, warm, "warm up")
			})
		})
	}
}

func TestGateRecordsBeforeTheFirstByteAndAfterTheLast(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("work", reply{Stdout: "done", Exit: 4})
		var log []string
		note := func(what string) {
			log = append(log, what)
			if d.Typed("web1") > 0 {
				log = append(log, "sent")
			}
			if len(d.Ran("web1")) > 0 {
				log = append(log, "ran")
			}
		}
		book := &ledger{before: func(e audit.Event) error { note(string(e.Kind)); return nil }}
		p := poolOn(t, d, session.PoolConfig{Session: session.Config{Audit: book, Principal: "operator/ada", Trace: &session.Trace{
			Judged: func(_ context.Context, _ hosts.Host, _ string, _ policy.Decision) { note("judged") },
			Done:   func(context.Context, session.Result) { note("told") },
		}}})
		r, err := p.Run(t.Context(), web1, session.Command{Script: "work", Reason: "because"})
		require.NoError(t, err)
		assert.Equal(t, []string{"judged", "command.request", "command.result", "sent", "ran", "told", "sent", "ran"}, log)

		events := book.all()
		req, res := events[0], events[1]
		assert.Equal(t, []byte("work"), req.Exact)
		assert.Equal(t, "operator/ada", req.Principal)
		assert.Equal(t, "because", req.Reason)
		assert.Equal(t, "allow", req.Verdict)
		assert.Equal(t, r.Exec, req.ID)
		assert.Equal(t, r.Exec, res.ID)
		assert.Equal(t, r.Session, req.Session)
		assert.Empty(t, res.Exact, "bytes of the command belong to the request")
		assert.Empty(t, res.Command)
		assert.Equal(t, "exit", res.Status)
		assert.Equal(t, 4, *res.ExitCode)
		assert.EqualValues(t, 4, res.StdoutBytes)
		assert.Equal(t, "web1:22", res.Address)
		assert.Equal(t, "SHA256:host", res.HostKey)
		assert.Equal(t, "/home/test", res.CWD)
	})
}

func TestGateTellsThatAResultIsNotOnRecord(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("work", reply{Stdout: "done"})
		book := &ledger{before: func(e audit.Event) error {
			if e.Kind == audit.CommandResult {
				return errors.New("the disk is full")
			}
			return nil
		}}
		s := on(t, d, web1, session.Config{Policy: policy.AllowAll, Audit: book})
		r, err := s.Run(t.Context(), session.Command{Script: "work"})
		assert.ErrorIs(t, err, session.ErrAudit)
		assert.Equal(t, session.StatusError, r.Status)
		assert.ErrorContains(t, err, "the command ended (exit code 0), and its result is missing from the audit log: the disk is full")
		assert.True(t, asError(t, err).Sent)
		assert.Equal(t, 0, *r.ExitCode, "the host's answer is still there")
		assert.Equal(t, "done", string(r.Stdout))
	})
}

// A caller may go away at any moment before the first byte leaves: then nothing does.
func TestCallerWhoGoesAwayEarlySendsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		faults   faults
		decide   func(ctx context.Context) error
		record   func(cancel func())
		recorded []audit.Kind
		dialed   int
	}{
		"before anything":    {decide: func(ctx context.Context) error { return ctx.Err() }},
		"while it is judged": {decide: func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }},
		"while it is judged by a policy that does not notice": {
			decide:   func(ctx context.Context) error { <-ctx.Done(); return nil },
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
		"while it is recorded": {
			record:   func(cancel func()) { cancel() },
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
		"while it is dialed for": {
			faults:   faults{Slow: make(chan struct{})},
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
		"while the shell starts": {
			faults: faults{Mute: true}, dialed: 1,
			recorded: []audit.Kind{audit.CommandRequest, audit.CommandResult}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				if c.faults.Slow != nil {
					c.faults.Slow = make(chan struct{}) // of this bubble
				}
				d.Fault("web1", c.faults)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				book := &ledger{before: func(e audit.Event) error {
					if e.Kind == audit.CommandRequest && c.record != nil {
						c.record(cancel)
					}
					return nil
				}}
				p := poolOn(t, d, session.PoolConfig{Session: session.Config{Audit: book, Policy: policy.DeciderFunc(
					func(ctx context.Context, _ policy.Request) (policy.Decision, error) {
						if c.decide != nil {
							if err := c.decide(ctx); err != nil {
								return policy.Decision{}, err
							}
						}
						return policy.Decision{Verdict: policy.Allow}, nil
					})}})
				s := mustOpen(t, p, web1)
				if name == "before anything" {
					cancel()
				}
				out := running(ctx, s.Run, session.Command{Script: "never"})
				time.Sleep(time.Second)
				cancel()
				end := <-out
				e := asError(t, end.err)
				assert.Equal(t, session.StatusCanceled, end.r.Status)
				assert.Equal(t, "canceled", e.Code)
				assert.False(t, e.Sent)
				assert.True(t, e.Retriable)
				assert.ErrorIs(t, e, context.Canceled)
				assert.Equal(t, c.recorded, book.kinds())
				assert.Zero(t, d.Typed("web1"))
				assert.Equal(t, c.dialed, d.Dialed("web1"))
			})
		})
	}
}

func TestCallerWhoGoesAwayLateStopsTheCommand(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("sleep", reply{Stdout: "half", Hang: true})
		d.On("next")
		book := &ledger{}
		s := on(t, d, web1, session.Config{Policy: policy.AllowAll, Audit: book})
		ctx, cancel := context.WithCancel(t.Context())
		out := running(ctx, s.Run, session.Command{Script: "sleep"})
		cancel()
		end := <-out
		assert.Equal(t, session.StatusCanceled, end.r.Status)
		assert.Equal(t, "INT", end.r.StoppedBy)
		assert.True(t, asError(t, end.err).Sent)
		assert.Equal(t, 130, *end.r.ExitCode)
		assert.Equal(t, "half", string(end.r.Stdout))
		assert.False(t, end.r.MayRun)
		assert.Equal(t, []audit.Kind{audit.CommandRequest, audit.CommandResult}, book.kinds())
		r := runOK(t, s, "next")
		assert.False(t, r.ShellRestarted)
	})
}

// A command may hold a password. What people paste into tickets must not.
func TestNoErrorTextHoldsTheCommand(t *testing.T) {
	const secret = "hunter2"
	commands := map[string]struct {
		cfg    func(*session.Config)
		faults faults
		reply  *reply
		cmd    session.Command
		code   string
	}{
		"denied": {cfg: func(c *session.Config) { c.Policy = says(policy.Deny, "no") }, code: "denied"},
		"audit": {cfg: func(c *session.Config) {
			c.Audit = &ledger{before: func(audit.Event) error { return errors.New("no") }}
		}, code: "audit"},
		"invalid":     {cmd: session.Command{Script: secret + "\x00"}, code: "invalid"},
		"unreachable": {faults: faults{Dial: errors.New("refused")}, code: "unreachable"},
		"shell":       {faults: faults{Nologin: "This account is not available."}, code: "shell"},
		"not ready":   {faults: faults{Mute: true}, code: "shell"},
		"deaf":        {faults: faults{Deaf: true}, code: "lost"},
		"timeout":     {reply: &reply{Hang: true}, cmd: session.Command{Script: secret, Timeout: time.Second}, code: "timeout"},
		"stuck":       {reply: &reply{Hang: true, Ignores: "INT TERM KILL"}, cmd: session.Command{Script: secret, Timeout: time.Second}, code: "timeout"},
		"broken":      {reply: &reply{Wire: "^@FS^@FS"}, code: "broken"},
		"writer":      {reply: &reply{Stdout: "x"}, cmd: session.Command{Script: secret, Stdout: failingWriter{}}, code: "write"},
	}
	for name, c := range commands {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.Fault("web1", c.faults)
				if c.reply != nil {
					d.On(secret, *c.reply)
				}
				cfg := permissive()
				book := &ledger{}
				cfg.Audit = book
				if c.cfg != nil {
					c.cfg(&cfg)
				}
				if c.cmd.Script == "" {
					c.cmd.Script = secret
				}
				p := poolOn(t, d, session.PoolConfig{Session: cfg})
				r, err := p.Run(t.Context(), web1, c.cmd)
				e := asError(t, err)
				assert.Equal(t, c.code, e.Code)
				assert.NotContains(t, err.Error(), secret)
				assert.Contains(t, err.Error(), "web1")
				assert.NotContains(t, err.Error(), "\n")
				for inner := error(e); inner != nil; inner = errors.Unwrap(inner) {
					assert.NotContains(t, inner.Error(), secret)
				}
				for _, ev := range book.all() {
					assert.NotContains(t, ev.Error.Message, secret)
				}
				assert.NotEmpty(t, r.Status)
			})
		})
	}
}
