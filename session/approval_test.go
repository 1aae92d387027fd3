package session_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// desk is an approver whose answers come from a channel.
type desk struct {
	asked   chan policy.Question
	answers chan policy.Answer
}

func (d desk) Approve(ctx context.Context, q policy.Question) (policy.Answer, error) {
	d.asked <- q
	select {
	case a := <-d.answers:
		return a, nil
	case <-ctx.Done():
		return policy.Answer{}, context.Cause(ctx)
	}
}

var asks = policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
	return policy.Decision{Verdict: policy.Ask, Class: policy.Write, Rule: "test", Needs: policy.NeedsApproval}, nil
})

// memory is a sink that remembers.
type records struct{ c chan audit.Event }

func (r records) Record(_ context.Context, e audit.Event) error { r.c <- e; return nil }

func (r records) kinds() (kinds []string) {
	for {
		select {
		case e := <-r.c:
			kinds = append(kinds, string(e.Kind)+" "+e.Status)
		default:
			return kinds
		}
	}
}

func asking(t *testing.T) (*session.Session, desk, records) {
	d := desk{asked: make(chan policy.Question, 1), answers: make(chan policy.Answer, 1)}
	r := records{make(chan audit.Event, 100)}
	s, err := session.Open(transports[0].open(t), hosts.Host{Name: "host"}, session.Config{Principal: "agent/x", Policy: asks, Approver: d, Audit: r})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, d, r
}

func TestACommandThatAsksWaitsForSomebodysYes(t *testing.T) {
	s, d, rec := asking(t)
	ctx, cancel := context.WithCancel(t.Context())
	x, err := s.Start(ctx, session.Command{Script: "echo yes", Reason: "why not", Timeout: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, session.AwaitingApproval, x.Result().State, "it never runs before")
	cancel() // bounds the start only
	q := <-d.asked
	assert.Equal(t, "echo yes", q.Command)
	assert.Equal(t, "agent/x", q.Principal)
	assert.Equal(t, "why not", q.Reason)
	assert.Equal(t, x.ID(), q.Exec)
	assert.Equal(t, session.AwaitingApproval, x.Result().State)
	r, err := s.Run(t.Context(), session.Command{Script: "echo other"})
	require.ErrorIs(t, err, session.ErrBusy, "the session is held")
	assert.Equal(t, x.ID(), r.Err.Exec)
	d.answers <- policy.Answer{Approved: true, ID: "a_1", By: "operator/ada", Proof: "unproven"}
	r, err = x.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "yes\n", string(r.Stdout))
	assert.Equal(t, "a_1", r.Decision.Approval)
	assert.Equal(t, []string{"approval.request ", "approval.result approved", "command.request ", "command.result ok"}, rec.kinds())
}

// What an operator has forbidden is forbidden, also where it was asked about before.
func TestAnApprovalIsWorthNothingOnceThePolicyDenies(t *testing.T) {
	for name, now := range map[string]struct {
		decision policy.Decision
		err      error
		reason   string // "" is that it runs
	}{
		"it denies":           {policy.Decision{Verdict: policy.Deny, Rule: "new", Reason: "not any more"}, nil, "session: denied since approval was requested: not any more"},
		"it cannot decide":    {policy.Decision{}, errors.New("policy.yaml:3: no"), "session: denied since approval was requested: the policy could not decide: policy.yaml:3: no"},
		"it takes a key":      {policy.Decision{Verdict: policy.Ask, Reason: "touch writes", LeastProof: policy.Passphrase}, nil, "touch writes (the policy has come to require the proof passphrase: request it again)"},
		"it allows":           {policy.Decision{Verdict: policy.Allow, Rule: "new"}, nil, ""},
		"it asks as before":   {policy.Decision{Verdict: policy.Ask, Rule: "test"}, nil, ""},
		"it takes less proof": {policy.Decision{Verdict: policy.Ask, LeastProof: policy.Unproven}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := desk{asked: make(chan policy.Question, 1), answers: make(chan policy.Answer, 1)}
			rec := records{make(chan audit.Event, 100)}
			changed := atomic.Bool{}
			s, err := session.Open(transports[0].open(t), hosts.Host{Name: "host"}, session.Config{Principal: "agent/x", Approver: d, Audit: rec,
				Policy: policy.DeciderFunc(func(ctx context.Context, req policy.Request) (policy.Decision, error) {
					if changed.Load() {
						return now.decision, now.err
					}
					return asks(ctx, req)
				})})
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			x, err := s.Start(t.Context(), session.Command{Script: "echo ran"})
			require.NoError(t, err)
			<-d.asked
			changed.Store(true)
			d.answers <- policy.Answer{Approved: true, ID: "a_1", By: "operator/ada", Proof: policy.Unproven}
			r, err := x.Wait(t.Context())
			require.NoError(t, err)
			if now.reason == "" {
				assert.Equal(t, "ran\n", string(r.Stdout))
				assert.Equal(t, "a_1", r.Decision.Approval)
				return
			}
			require.NotNil(t, r.Err)
			require.ErrorIs(t, r.Err, session.ErrDenied)
			require.ErrorContains(t, r.Err, now.reason)
			assert.Equal(t, session.StatusDenied, r.Status)
			assert.Equal(t, "denied", r.Err.Code)
			assert.Equal(t, policy.Deny, r.Decision.Verdict)
			assert.Empty(t, r.Decision.Approval)
			assert.Empty(t, r.Stdout)
			assert.Equal(t, []string{"approval.request ", "approval.result approved", "command.request ", "command.result denied"}, rec.kinds())
		})
	}
}

func TestANoAndASilenceAndACancelRunNothing(t *testing.T) {
	s, d, rec := asking(t)
	d.answers <- policy.Answer{By: "operator/ada", Reason: "not today"}
	r, err := s.Run(t.Context(), session.Command{Script: "echo no"})
	require.ErrorIs(t, err, session.ErrRejected)
	require.ErrorContains(t, err, "operator/ada: not today")
	assert.Equal(t, session.StatusDenied, r.Status)
	assert.Equal(t, "rejected", r.Err.Code)
	assert.False(t, r.Err.Retriable, "it takes a new request to ask again")
	assert.Equal(t, []string{"approval.request ", "approval.result rejected"}, rec.kinds())
	<-d.asked

	x, err := s.Start(t.Context(), session.Command{Script: "echo no"})
	require.NoError(t, err)
	<-d.asked
	x.Stop()
	assert.Equal(t, session.StatusCanceled, x.Result().Status)
	assert.Equal(t, []string{"approval.request ", "approval.result canceled"}, rec.kinds())

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-d.asked; cancel() }()
	r, err = s.Run(ctx, session.Command{Script: "echo no"})
	require.Error(t, err)
	assert.Equal(t, session.StatusCanceled, r.Status)

	x, err = s.Start(t.Context(), session.Command{Script: "echo no"})
	require.NoError(t, err)
	<-d.asked
	require.NoError(t, s.Close())
	assert.Equal(t, session.StatusCanceled, x.Result().Status)
	for _, k := range rec.kinds() {
		assert.NotContains(t, k, "command.")
	}
}

func TestAnApprovalThatNobodyGivesExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := desk{asked: make(chan policy.Question, 1), answers: make(chan policy.Answer, 1)}
		s, err := session.Open(nothing{}, hosts.Host{Name: "host"}, session.Config{Principal: "agent/x", Policy: asks, Approver: d, Audit: audit.Discard{}})
		require.NoError(t, err)
		began := time.Now()
		r, err := s.Run(t.Context(), session.Command{Script: "echo no"})
		require.ErrorIs(t, err, session.ErrExpired)
		assert.Equal(t, session.StatusExpired, r.Status)
		assert.Equal(t, session.DefaultApprovalTimeout, time.Since(began))
		assert.Equal(t, began.Add(session.DefaultApprovalTimeout), (<-d.asked).Expires)
		require.NoError(t, s.Close())
	})
}

// late is an approver whose own clock says first that the time is over.
type late struct{}

func (late) Approve(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer{}, fmt.Errorf("late: %w", policy.ErrExpired)
}

func TestAnApproverMaySayThatTheTimeIsOver(t *testing.T) {
	s, err := session.Open(nothing{}, hosts.Host{Name: "host"}, session.Config{Principal: "agent/x", Policy: asks, Approver: late{}, Audit: audit.Discard{}})
	require.NoError(t, err)
	r, err := s.Run(t.Context(), session.Command{Script: "echo no"})
	require.ErrorIs(t, err, session.ErrExpired)
	assert.Equal(t, session.StatusExpired, r.Status)
	require.NoError(t, s.Close())
}

// nothing is a transport that nobody may use.
type nothing struct{ session.Transport }

func (nothing) Peer() session.Peer { return session.Peer{} }

func TestNobodyIsAskedAboutAHostThatMustNotBeLoggedInTo(t *testing.T) {
	d := desk{asked: make(chan policy.Question, 1), answers: make(chan policy.Answer, 1)}
	d.answers <- policy.Answer{Approved: true}
	r := records{make(chan audit.Event, 100)}
	h := hosts.Host{Name: "host", NoLogin: "agent/x has no key for it"}
	s, err := session.Open(transports[0].open(t), h, session.Config{Principal: "agent/x", Policy: asks, Approver: d, Audit: r})
	require.NoError(t, err)
	defer s.Close()
	res, err := s.Run(t.Context(), session.Command{Script: "touch x"})
	require.ErrorIs(t, err, session.ErrAuth)
	assert.EqualError(t, err, "run host: agent/x has no key for it")
	assert.Equal(t, session.StatusAuth, res.Status)
	assert.Equal(t, "auth", res.Err.Code)
	assert.False(t, res.Err.Retriable)
	assert.Empty(t, d.asked)
	assert.Equal(t, []string{"command.request ", "command.result auth"}, r.kinds())
}
