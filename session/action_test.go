package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// act is an action that tells what becomes of it.
type act struct {
	log  []string
	open func(t session.Transport) error
	do   func(ctx context.Context, out io.Writer) error
}

func (a *act) Text(hide func(string) string) string {
	if hide == nil {
		hide = func(s string) string { return s }
	}
	return "put /f\n" + hide("secret")
}

func (a *act) Open(_ context.Context, t session.Transport, h hosts.Host) (seam.Deed, error) {
	a.log = append(a.log, "open "+h.Name)
	if a.open != nil {
		if err := a.open(t); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *act) Do(ctx context.Context, out io.Writer) error {
	a.log = append(a.log, "do")
	if a.do == nil {
		return nil
	}
	return a.do(ctx, out)
}

func (a *act) Close() error          { a.log = append(a.log, "close"); return nil }
func (a *act) Record(e *audit.Event) { e.StdinSHA256 = "5ec2e7" }

func TestAnActionPassesTheGateLikeACommand(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		book := &ledger{}
		cfg := session.Config{Audit: book, Policy: says(policy.Allow, ""), Redact: func(string) string { return "hidden" }}
		s := on(t, d, web1, cfg)
		a := &act{do: func(_ context.Context, out io.Writer) error { _, err := io.WriteString(out, "content"); return err }}
		book.before = func(e audit.Event) error { a.log = append(a.log, string(e.Kind)); return nil }
		r, err := s.Run(t.Context(), session.WithAction(session.Command{Script: "cat >/f", Reason: "because"}, a))
		require.NoError(t, err)
		assert.Equal(t, []string{"file.request", "open web1", "do", "close", "file.result"}, a.log)
		assert.Equal(t, session.StatusOK, r.Status)
		assert.Equal(t, "content", string(r.Stdout))
		assert.Nil(t, r.ExitCode, "no program has ended")
		assert.Equal(t, "cat >/f", r.Command)
		events := book.all()
		assert.Equal(t, "put /f\nhidden", events[0].Command)
		assert.Equal(t, "put /f\nsecret", string(events[0].Exact))
		assert.Equal(t, "because", events[0].Reason)
		assert.Equal(t, events[0].ID, events[1].ID)
		assert.Equal(t, "5ec2e7", events[1].StdinSHA256)
		assert.EqualValues(t, 7, events[1].StdoutBytes)
	})
}

func TestAnActionThatIsNotLetThroughIsNotBegun(t *testing.T) {
	for name, c := range map[string]struct {
		policy policy.Decider
		record error
		code   string
	}{
		"denied":             {policy: says(policy.Deny, "no"), code: "denied"},
		"nobody to ask":      {policy: says(policy.Ask, "hm"), code: "denied"},
		"cannot be recorded": {policy: policy.AllowAll, record: errors.New("the disk is full"), code: "audit"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				book := &ledger{before: func(audit.Event) error { return c.record }}
				s := on(t, d, web1, session.Config{Audit: book, Policy: c.policy})
				a := &act{}
				_, err := s.Run(t.Context(), session.WithAction(session.Command{Script: "cat >/f"}, a))
				assert.Equal(t, c.code, asError(t, err).Code)
				assert.Empty(t, a.log)
				assert.Empty(t, d.Ran("web1"))
			})
		})
	}
}

func TestWhatAnActionFindsOnTheHostDecidesWhetherToTryAgain(t *testing.T) {
	for code, again := range map[string]bool{"not_found": false, "permission": false, "directory": false, "special": false, "too_large": false, "error": true} {
		t.Run(code, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				s := on(t, d, web1, session.Config{Audit: audit.Discard{}, Policy: policy.AllowAll})
				a := &act{open: func(session.Transport) error { return &session.Error{Code: code, Err: errors.New("it is so")} }}
				_, err := s.Run(t.Context(), session.WithAction(session.Command{Script: "cat /f"}, a))
				e := asError(t, err)
				assert.Equal(t, code, e.Code)
				assert.Equal(t, again, e.Retriable)
				assert.False(t, e.Sent)
			})
		})
	}
}

func TestAnActionThatAsksShowsItsText(t *testing.T) {
	s, d, _ := asking(t)
	a := &act{}
	x, err := s.Start(t.Context(), session.WithAction(session.Command{Script: "cat >/f"}, a))
	require.NoError(t, err)
	assert.Equal(t, "put /f\nsecret", (<-d.asked).Command)
	_, err = s.Run(t.Context(), session.Command{Script: "true"})
	require.ErrorIs(t, err, session.ErrBusy)
	d.answers <- policy.Answer{Approved: true, ID: "a_1", By: "operator/ada"}
	r, err := x.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, session.StatusOK, r.Status, "%v", r.Err)
	assert.Equal(t, "a_1", r.Decision.Approval)
	assert.Equal(t, []string{"open host", "do", "close"}, a.log)
}

func TestWhatBecomesOfAnActionIsTold(t *testing.T) {
	waits := func(ctx context.Context, _ io.Writer) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		do      func(ctx context.Context, out io.Writer) error
		timeout time.Duration
		stop    bool
		status  session.Status
		code    string
	}{
		"its own error": {
			do: func(context.Context, io.Writer) error {
				return fmt.Errorf("write: %w", &session.Error{Code: "conflict", Err: errors.New("changed")})
			}, status: session.StatusError, code: "conflict"},
		"any error": {do: func(context.Context, io.Writer) error { return io.ErrNoProgress }, status: session.StatusError, code: "error"},
		"not known": {
			do: func(context.Context, io.Writer) error { return session.ErrUnknownOutcome }, status: session.StatusLost, code: "lost"},
		"the connection ends": {
			do: func(context.Context, io.Writer) error { return session.ErrClosed }, status: session.StatusUnreachable, code: "unreachable"},
		"its time is up": {do: waits, timeout: time.Minute, status: session.StatusTimeout, code: "timeout"},
		"it is stopped":  {do: waits, stop: true, status: session.StatusCanceled, code: "canceled"},
		"it is stopped too late": {
			do: func(ctx context.Context, _ io.Writer) error { <-ctx.Done(); return nil }, stop: true, status: session.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.On("true")
				s := on(t, d, web1, permissive())
				x, err := s.Start(t.Context(), session.WithAction(session.Command{Script: "cat >/f", Timeout: c.timeout}, &act{do: c.do}))
				require.NoError(t, err)
				if c.stop {
					synctest.Wait()
					x.Stop()
				}
				r, err := x.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, c.status, r.Status)
				if c.code != "" {
					assert.Equal(t, c.code, r.Err.Code)
				} else {
					assert.Nil(t, r.Err)
				}
				runOK(t, s, "true")
			})
		})
	}
}

func TestALostConnectionIsSaidOnceOfAnAction(t *testing.T) {
	for _, tt := range []struct {
		err  error
		says string
	}{
		{session.ErrClosed, "the connection was lost before it was done"},
		{fmt.Errorf("the connection was lost: %w", session.ErrClosed), "the connection was lost before it was done"},
		{fmt.Errorf("the server hung up: %w", session.ErrClosed), "the connection was lost before it was done: the server hung up"},
	} {
		inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
			a := &act{do: func(context.Context, io.Writer) error { return tt.err }}
			_, err := on(t, d, web1, permissive()).Run(t.Context(), session.WithAction(session.Command{Script: "cat >/f"}, a))
			assert.ErrorIs(t, err, session.ErrClosed)
			assert.Equal(t, tt.says, asError(t, err).Err.Error())
		})
	}
}

func TestTheEndOfTheCallersContextIsInTheErrorOfAnAction(t *testing.T) {
	mine, a := errors.New("enough"), &act{}
	for says, action := range map[string]seam.Action[session.Transport]{"nothing has changed": a, "no other file has changed": several{a}} {
		inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
			ctx, cancel := context.WithCancelCause(t.Context())
			a.do = func(ctx context.Context, _ io.Writer) error { cancel(mine); <-ctx.Done(); return ctx.Err() }
			_, err := on(t, d, web1, permissive()).Run(ctx, session.WithAction(session.Command{Script: "cat >/f"}, action))
			for _, is := range []error{session.ErrCanceled, context.Canceled, mine} {
				assert.ErrorIs(t, err, is)
			}
			assert.ErrorContains(t, err, says)
		})
	}
}

// several is an act on several files.
type several struct{ *act }

func (several) Several() bool { return true }

func TestCloseEndsAnAction(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		s := on(t, d, web1, permissive())
		x, err := s.Start(t.Context(), session.WithAction(session.Command{Script: "cat >/f"}, &act{do: func(ctx context.Context, _ io.Writer) error {
			<-ctx.Done()
			return ctx.Err()
		}}))
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, s.Close())
		r, err := x.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, session.StatusCanceled, r.Status)
	})
}

func TestAnActionFindsAnotherConnectionWhereItsOwnIsOfNoUse(t *testing.T) {
	for name, why := range map[string]error{"full": session.ErrFull, "gone": session.ErrClosed} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				p := poolOn(t, d, session.PoolConfig{})
				s := mustOpen(t, p, web1)
				var first session.Transport
				a := &act{open: func(tr session.Transport) error {
					if first == nil {
						first = tr
						if errors.Is(why, session.ErrClosed) {
							tr.Close()
						}
						return fmt.Errorf("no: %w", why)
					}
					if first == tr {
						return fmt.Errorf("again: %w", why)
					}
					return nil
				}}
				r, err := s.Run(t.Context(), session.WithAction(session.Command{Script: "cat >/f"}, a))
				require.NoError(t, err)
				assert.Equal(t, session.StatusOK, r.Status)
				log := strings.Join(a.log, ",")
				assert.True(t, strings.HasPrefix(log, "open web1,open web1,") && strings.HasSuffix(log, ",do,close"), log)
			})
		})
	}
}
