package approval_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestAnAnswerReachesWhoAskedOnce(t *testing.T) {
	for name, approved := range map[string]bool{"a yes": true, "a no": false} {
		t.Run(name, func(t *testing.T) {
			d := approval.NewDesk(approval.Config{})
			p, done := asks(t, t.Context(), d, question("agent/x"))
			assert.Regexp(t, `^a_[a-z2-7]{26}$`, p.ID)
			require.Len(t, d.List(), 1)
			r := yes(p)
			r.Approved, r.Reason = approved, "because"
			require.NoError(t, d.Answer(r))
			got := <-done
			require.NoError(t, got.err)
			assert.Equal(t, policy.Answer{Approved: approved, ID: p.ID, By: "operator/ada", Proof: "unproven", Reason: "because",
				Digest: string(p.Digest()), Document: string(p.Document())}, got.Answer)

			err := d.Answer(r)
			require.ErrorIs(t, err, approval.ErrSettled)
			assert.ErrorContains(t, err, "by operator/ada")
			_, err = d.Get(p.ID)
			require.ErrorIs(t, err, approval.ErrSettled)
			assert.Empty(t, d.List())
		})
	}
}

func TestAnswersThatAreRefusedLeaveTheQuestion(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	p, done := asks(t, t.Context(), d, question("operator/eve"))
	other, otherDone := asks(t, t.Context(), d, question("agent/x"))
	for name, tt := range map[string]struct {
		change func(r *approval.Response)
		want   error
	}{
		"an unknown id":              {func(r *approval.Response) { r.ID = "a_" }, approval.ErrUnknown},
		"another's digest":           {func(r *approval.Response) { r.Digest = other.Digest() }, approval.ErrMismatch},
		"no digest":                  {func(r *approval.Response) { r.Digest = "" }, approval.ErrMismatch},
		"one's own request":          {func(r *approval.Response) { r.By = "operator/eve" }, approval.ErrForbidden},
		"an agent":                   {func(r *approval.Response) { r.By = "agent/y" }, approval.ErrForbidden},
		"an agent in capitals":       {func(r *approval.Response) { r.By = "AGENT/y" }, approval.ErrForbidden},
		"nobody":                     {func(r *approval.Response) { r.By = "" }, approval.ErrForbidden},
		"a role alone":               {func(r *approval.Response) { r.By = "operator" }, approval.ErrForbidden},
		"a reason that is too long":  {func(r *approval.Response) { r.Reason = strings.Repeat("x", approval.MaxReason+1) }, approval.ErrInvalid},
		"a reason with an escape":    {func(r *approval.Response) { r.Reason = "\x1b[2J" }, approval.ErrInvalid},
		"a reason that is not UTF-8": {func(r *approval.Response) { r.Reason = "\xff" }, approval.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			for _, approved := range []bool{true, false} {
				r := yes(p)
				r.Approved = approved
				tt.change(&r)
				require.ErrorIs(t, d.Answer(r), tt.want)
			}
			_, err := d.Get(p.ID)
			require.NoError(t, err)
		})
	}
	require.NoError(t, d.Answer(yes(p)))
	require.NoError(t, d.Answer(yes(other)))
	<-done
	<-otherDone
}

func TestAQuestionEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(approval.Config{})
		p, done := asks(t, t.Context(), d, question("agent/x"))
		time.Sleep(15*time.Minute - 1)
		synctest.Wait()
		require.Len(t, d.List(), 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, (<-done).err, approval.ErrExpired)
		assert.Empty(t, d.List())
		err := d.Answer(yes(p))
		require.ErrorIs(t, err, approval.ErrSettled)
		assert.ErrorContains(t, err, "it was not answered in time")

		_, err = d.Approve(t.Context(), policy.Question{Principal: "agent/x", Expires: time.Now()})
		require.ErrorIs(t, err, approval.ErrExpired)
	})
}

func TestAQuestionWithoutAnEndWaitsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(approval.Config{})
		q := question("agent/x")
		q.Expires = time.Time{}
		p, done := asks(t, t.Context(), d, q)
		time.Sleep(1000 * time.Hour)
		require.NoError(t, d.Answer(yes(p)))
		assert.True(t, (<-done).Approved)
	})
}

func TestWhoAsksMayGiveItUp(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	p, done := asks(t, ctx, d, question("agent/x"))
	cancel(why)
	require.ErrorIs(t, (<-done).err, why)
	err := d.Answer(yes(p))
	require.ErrorIs(t, err, approval.ErrSettled)
	assert.ErrorContains(t, err, "given it up")
}

// A context that ends no later than the question tells its own cause: a session's says that nobody approved in time.
func TestTheCauseOfTheContextIsToldAtTheEndOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, why := approval.NewDesk(approval.Config{}), errors.New("why")
		q := question("agent/x")
		ctx, cancel := context.WithDeadlineCause(t.Context(), q.Expires, why)
		defer cancel()
		p, done := asks(t, ctx, d, q)
		require.ErrorIs(t, (<-done).err, why)
		_, err := d.Get(p.ID)
		assert.ErrorContains(t, err, "it was not answered in time")
	})
}

func TestQuestionsOfOnePrincipalAreBounded(t *testing.T) {
	d := approval.NewDesk(approval.Config{PerPrincipal: 2})
	ctx, cancel := context.WithCancel(t.Context())
	first, done1 := asks(t, ctx, d, question("agent/x"))
	_, done2 := asks(t, ctx, d, question("agent/x"))
	_, err := d.Approve(ctx, question("agent/x"))
	require.ErrorIs(t, err, approval.ErrFull)
	_, done3 := asks(t, ctx, d, question("agent/y"))
	require.NoError(t, d.Answer(yes(first)))
	<-done1
	_, done4 := asks(t, ctx, d, question("agent/x"))
	cancel()
	for _, done := range []<-chan answered{done2, done3, done4} {
		<-done
	}
	assert.Empty(t, d.List())
}

func TestSixtyFourQuestionsOfOnePrincipalMayWait(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan answered
	for range 64 {
		_, done := asks(t, ctx, d, question("agent/x"))
		all = append(all, done)
	}
	_, err := d.Approve(ctx, question("agent/x"))
	require.ErrorIs(t, err, approval.ErrFull)
	cancel()
	for _, done := range all {
		<-done
	}
}

func TestThePendingDocumentsAreBoundedInBytes(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	long := func(who string) policy.Question {
		q := question(who)
		q.Command = "echo " + strings.Repeat("x", 100_000)
		return q
	}
	var all []<-chan answered
	for who := range 4 {
		for range 10 {
			_, done := asks(t, ctx, d, long(fmt.Sprint("agent/", who)))
			all = append(all, done)
		}
		_, err := d.Approve(ctx, long(fmt.Sprint("agent/", who)))
		require.ErrorIs(t, err, approval.ErrFull, "of one")
	}
	_, last := asks(t, ctx, d, long("agent/4"))
	all = append(all, last)
	_, err := d.Approve(ctx, long("agent/other"))
	require.ErrorIs(t, err, approval.ErrFull, "of all")
	_, done := asks(t, ctx, d, question("agent/other"))
	cancel()
	for _, done := range append(all, done) {
		<-done
	}
}

func TestTheDefaultBoundIs64(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan answered
	for range 64 {
		_, done := asks(t, ctx, d, question("agent/x"))
		all = append(all, done)
	}
	_, err := d.Approve(ctx, question("agent/x"))
	require.ErrorIs(t, err, approval.ErrFull)
	cancel()
	for _, done := range all {
		<-done
	}
}

func TestQuestionsThatNobodyCanJudgeAreNotAsked(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	for name, change := range map[string]func(q *policy.Question){
		"without an asker":              func(q *policy.Question) { q.Principal = "" },
		"too long":                      func(q *policy.Question) { q.Command = strings.Repeat("x", approval.MaxDocument) },
		"with a time that is not shown": func(q *policy.Question) { q.Expires = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		t.Run(name, func(t *testing.T) {
			q := question("agent/x")
			change(&q)
			_, err := d.Approve(t.Context(), q)
			require.ErrorIs(t, err, approval.ErrInvalid)
			assert.NotContains(t, err.Error(), "systemctl")
		})
	}
}

func TestOnlyOneOfManyAnswersCounts(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	p, done := asks(t, t.Context(), d, question("agent/x"))
	var wg sync.WaitGroup
	errs := make(chan error, 16)
	for i := range 16 {
		r := yes(p)
		r.Approved = i%2 == 0
		wg.Go(func() { errs <- d.Answer(r) })
	}
	wg.Wait()
	close(errs)
	taken := 0
	for err := range errs {
		if err == nil {
			taken++
		} else {
			assert.ErrorIs(t, err, approval.ErrSettled)
		}
	}
	assert.Equal(t, 1, taken)
	require.NoError(t, (<-done).err)
}

func TestReadersHearWhatHappens(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	events, stop := d.Subscribe(10)
	slow, stopSlow := d.Subscribe(0)
	defer stopSlow()
	p, done := asks(t, t.Context(), d, question("agent/x"))
	require.NoError(t, d.Answer(yes(p)))
	<-done
	stop()
	stop()
	var kinds []approval.EventKind
	for e := range events {
		assert.Equal(t, p.ID, e.ID)
		assert.Equal(t, "agent/x", e.Principal)
		kinds = append(kinds, e.Kind)
	}
	assert.Equal(t, []approval.EventKind{approval.Asked, approval.Approved}, kinds)
	assert.Equal(t, approval.Asked, (<-slow).Kind, "and the rest was lost to it")
	assert.Empty(t, slow)
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	first := approval.Pending{}
	for i := range approval.MaxSettled + 1 {
		p, done := asks(t, t.Context(), d, question("agent/x"))
		if i == 0 {
			first = p
		}
		require.NoError(t, d.Answer(yes(p)))
		<-done
	}
	require.ErrorIs(t, d.Answer(yes(first)), approval.ErrUnknown)
}

func TestAQuestionCanBeAnsweredAsSoonAsItIsAsked(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	for range 100 {
		asked, err := d.Ask(question("agent/x"))
		require.NoError(t, err)
		waiting := d.List()
		require.Len(t, waiting, 1)
		require.NoError(t, d.Answer(yes(waiting[0])))
		a, err := asked.Wait(t.Context())
		require.NoError(t, err)
		assert.True(t, a.Approved)
		assert.Empty(t, d.List())
	}
}

// Whoever looks at a request on a machine that was suspended finds it expired. Who made it must not wait for timers that stood still.
func TestWhoAsksHearsThatTheTimeIsOverOnAMachineThatWasSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asleep atomic.Int64
		d := approval.NewDesk(approval.Config{Now: func() time.Time { return time.Now().Round(0).Add(time.Duration(asleep.Load())) }})
		ctx, cancel := context.WithTimeoutCause(t.Context(), 15*time.Minute, errors.New("its own timer"))
		defer cancel()
		q := question("restart")
		q.Expires = time.Now().Add(15 * time.Minute)
		p, answer := asks(t, ctx, d, q)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, d.List(), 1)

		asleep.Store(int64(time.Hour))
		assert.Empty(t, d.List())
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case a := <-answer:
			assert.ErrorIs(t, a.err, approval.ErrExpired)
		default:
			t.Error("it still waits")
		}
		assert.ErrorContains(t, d.Answer(yes(p)), "it was not answered in time")
	})
}
