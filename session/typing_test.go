package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// typing decides about what is typed as d says, and allows commands.
func typing(d policy.Decision) policy.Decider {
	return policy.DeciderFunc(func(ctx context.Context, r policy.Request) (policy.Decision, error) {
		if r.Input != "" {
			return d, nil
		}
		return policy.AllowAll.Decide(ctx, r)
	})
}

// talking is an interactive command that has printed something and goes on until it is interrupted.
func talking(t *testing.T, d *sessiontest.Dialer, s *session.Session, cmd session.Command) *session.Exec {
	t.Helper()
	began := make(chan struct{})
	d.OnFunc("talk", func(c *sessiontest.Call) reply {
		close(began)
		select {
		case <-c.Interrupted:
		case <-c.HungUp:
		}
		return reply{Exit: 130}
	})
	cmd.Script, cmd.Interactive = "talk", true
	x, err := s.Start(t.Context(), cmd)
	require.NoError(t, err)
	<-began
	synctest.Wait() // it is known here, too
	return x
}

func TestWhyNothingWasTypedIsSaidOnceWithWhatToDo(t *testing.T) {
	ask := policy.Decision{Verdict: policy.Ask, Class: policy.Unknown, Reason: "nobody can tell what it does"}
	for name, tt := range map[string]struct {
		decision policy.Decision
		approver policy.Approver
		code     string
		is       error
		want     string
	}{
		"denied": {policy.Decision{Reason: "not on a Friday", Hint: "come back on Monday"}, nil, "denied", session.ErrDenied,
			"input web1: session: denied: not on a Friday: come back on Monday; nothing was typed"},
		"nobody to ask": {ask, nil, "denied", session.ErrDenied,
			"input web1: session: denied: nobody can tell what it does (approvals are not available here); nothing was typed"},
		"expired": {ask, late{}, "expired", session.ErrExpired,
			"input web1: session: it was not approved in time; nothing was typed. What is typed is not asked about where the command itself was approved with input: fairlead approvals approve ID --with-input"},
		"rejected": {ask, answers(policy.Answer{By: "operator/ada"}), "rejected", session.ErrRejected,
			"input web1: session: the approval was refused by operator/ada; nothing was typed. What is typed is not asked about where the command itself was approved with input: fairlead approvals approve ID --with-input"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				s := on(t, d, web1, session.Config{Policy: typing(tt.decision), Audit: audit.Discard{}, Approver: tt.approver})
				x := talking(t, d, s, session.Command{})
				typed := d.Typed("web1")
				err := x.Input(t.Context(), []byte("text"))
				require.ErrorIs(t, err, tt.is)
				require.EqualError(t, err, tt.want)
				assert.Equal(t, tt.code, asError(t, err).Code)
				assert.False(t, asError(t, err).Retriable)
				assert.Equal(t, typed, d.Typed("web1"), "bytes on the wire")
			})
		})
	}
}

// answers is an approver that gives one answer at once.
type answers policy.Answer

func (a answers) Approve(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer(a), nil
}

func TestAnApprovalWithInputIsWorthItsProofAndNoDenial(t *testing.T) {
	for name, tt := range map[string]struct {
		decision policy.Decision
		passes   bool
	}{
		"an ask":                        {policy.Decision{Verdict: policy.Ask}, true},
		"an ask that takes this proof":  {policy.Decision{Verdict: policy.Ask, LeastProof: policy.Passphrase}, true},
		"an ask that takes a better":    {policy.Decision{Verdict: policy.Ask, LeastProof: policy.Touch}, false},
		"a denial":                      {policy.Decision{Verdict: policy.Deny}, false},
		"an allow is as without a word": {policy.Decision{Verdict: policy.Allow}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				yes := answers(policy.Answer{Approved: true, ID: "a_1", By: "operator/ada", Proof: policy.Passphrase, WithInput: true})
				s := on(t, d, web1, session.Config{Audit: audit.Discard{}, Policy: policy.DeciderFunc(func(_ context.Context, r policy.Request) (policy.Decision, error) {
					if r.Input != "" {
						return tt.decision, nil
					}
					return policy.Decision{Verdict: policy.Ask}, nil
				}), Approver: answersOnce(yes)})
				x := talking(t, d, s, session.Command{})
				require.True(t, x.Result().Decision.WithInput)
				err := x.Input(t.Context(), []byte("text"))
				if tt.passes {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, session.ErrDenied)
				}
			})
		})
	}
}

func TestWhatWasApprovedIsNotTypedOnceThePolicyDenies(t *testing.T) {
	for name, tt := range map[string]struct {
		now    policy.Decision
		reason string // "" is that it is typed
	}{
		"it denies":         {policy.Decision{Verdict: policy.Deny, Reason: "not any more"}, "denied: not any more; nothing was typed"},
		"it takes a key":    {policy.Decision{Verdict: policy.Ask, LeastProof: policy.Touch}, "has come to require the proof touch"},
		"it asks as before": {policy.Decision{Verdict: policy.Ask}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				changed := atomic.Bool{}
				s := on(t, d, web1, session.Config{Audit: audit.Discard{}, Policy: policy.DeciderFunc(func(ctx context.Context, r policy.Request) (policy.Decision, error) {
					switch {
					case r.Input == "":
						return policy.AllowAll.Decide(ctx, r)
					case changed.Load():
						return tt.now, nil
					}
					return policy.Decision{Verdict: policy.Ask}, nil
				}), Approver: approverFunc(func() policy.Answer {
					changed.Store(true)
					return policy.Answer{Approved: true, ID: "a_1", By: "operator/ada", Proof: policy.Passphrase}
				})})
				x := talking(t, d, s, session.Command{})
				typed := d.Typed("web1")
				err := x.Input(t.Context(), []byte("text"))
				if tt.reason == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, session.ErrDenied)
				require.ErrorContains(t, err, tt.reason)
				assert.Equal(t, typed, d.Typed("web1"), "bytes on the wire")
			})
		})
	}
}

// approverFunc gives an answer when it is asked.
type approverFunc func() policy.Answer

func (f approverFunc) Approve(context.Context, policy.Question) (policy.Answer, error) {
	return f(), nil
}

// answersOnce gives its answer about commands, and none about what is typed.
type answersOnce policy.Answer

func (a answersOnce) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	if q.Typed != "" {
		return policy.Answer{}, errors.New("asked about what is typed")
	}
	return policy.Answer(a), nil
}

func TestNothingIsTypedAndNobodyAskedThatIsNotOnRecord(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		full := errors.New("the disk is full")
		book := &ledger{}
		s := on(t, d, web1, session.Config{Policy: typing(policy.Decision{Verdict: policy.Ask}), Audit: book,
			Approver: answers(policy.Answer{Approved: true, ID: "a_1", By: "operator/ada"})})
		x := talking(t, d, s, session.Command{})
		typed := d.Typed("web1")
		for _, kind := range []audit.Kind{audit.ApprovalRequest, audit.CommandInput} {
			book.before = func(e audit.Event) error {
				if e.Kind == kind {
					return full
				}
				return nil
			}
			err := x.Input(t.Context(), []byte("text"))
			require.ErrorIs(t, err, session.ErrAudit, kind)
			assert.ErrorIs(t, err, full)
			assert.Equal(t, typed, d.Typed("web1"), "bytes on the wire")
		}
		book.before = nil
	})
}

func TestTheClocksOfACommandStandStillWhileAPersonIsAsked(t *testing.T) {
	for name, cmd := range map[string]session.Command{"timeout": {Timeout: 10 * time.Minute}, "idle": {Idle: 10 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				desk := desk{asked: make(chan policy.Question, 1), answers: make(chan policy.Answer, 1)}
				s := on(t, d, web1, session.Config{Policy: typing(policy.Decision{Verdict: policy.Ask}), Audit: audit.Discard{}, Approver: desk})
				x := talking(t, d, s, cmd)
				began := time.Now()
				time.Sleep(4 * time.Minute)
				waits := x.Type(t.Context(), []byte("text"))
				q := <-desk.asked
				assert.Equal(t, session.DefaultApprovalTimeout, q.Expires.Sub(q.Asked))
				time.Sleep(14 * time.Minute)
				require.True(t, waits.Awaiting())
				desk.answers <- policy.Answer{By: "operator/ada"}
				<-waits.Done()
				<-x.Done()
				left := 6 * time.Minute
				if name == "idle" {
					left = 10 * time.Minute // it begins again
				}
				assert.Equal(t, 18*time.Minute+left, time.Since(began))
				assert.Equal(t, session.StatusTimeout, x.Result().Status)
			})
		})
	}
}

// What was answered is typed before what comes next: a caller may have seen what it led to, and is not told that it waits.
func TestWhatWasAnsweredIsTypedBeforeWhatComesNext(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		book, release := &ledger{}, make(chan struct{})
		s := on(t, d, web1, session.Config{Policy: typing(policy.Decision{Verdict: policy.Ask}), Audit: book,
			Approver: answers(policy.Answer{Approved: true, ID: "a_1", By: "operator/ada"})})
		x := talking(t, d, s, session.Command{})
		book.before = func(e audit.Event) error {
			if e.Kind == audit.CommandInput {
				<-release
			}
			return nil
		}
		one := x.Type(t.Context(), []byte("one"))
		synctest.Wait()
		require.True(t, one.Awaiting(), "it was approved, and is being put on record")

		given, giveUp := context.WithCancel(t.Context())
		giveUp()
		assert.ErrorIs(t, x.Type(given, []byte("never")).Err(), context.Canceled)

		next := make(chan *session.Typing, 1)
		go func() { next <- x.Type(t.Context(), []byte("two")) }()
		synctest.Wait()
		assert.Empty(t, next)
		close(release)
		two := <-next
		<-two.Done()
		require.NoError(t, one.Err())
		require.NoError(t, two.Err())
	})
}
