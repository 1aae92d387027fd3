package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestAnAnswerCountsOnceAndOnlyForWhatWasShown(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		cases := map[string]struct {
			before func(t *testing.T, id string)
			answer func(d *store.Decision)
			want   error
		}{
			"of another document":   {answer: func(d *store.Decision) { d.Digest = store.Digest([]byte("other")) }, want: store.ErrMismatch},
			"of no document":        {answer: func(d *store.Decision) { d.Digest = "" }, want: store.ErrMismatch},
			"of nobody":             {answer: func(d *store.Decision) { d.By = "" }, want: store.ErrInvalid},
			"of who asked":          {answer: func(d *store.Decision) { d.By = asker }, want: store.ErrForbidden},
			"of another agent":      {answer: func(d *store.Decision) { d.By = "agent/other" }, want: store.ErrForbidden},
			"with a NUL in its key": {answer: func(d *store.Decision) { d.Fingerprint = "a\x00" }, want: store.ErrInvalid},
			"after a yes": {want: store.ErrNotPending, before: func(t *testing.T, id string) {
				_, err := s.Decide(t.Context(), id, yes())
				require.NoError(t, err)
			}},
			"after a no": {want: store.ErrNotPending, before: func(t *testing.T, id string) {
				no := yes()
				no.Approve = false
				_, err := s.Decide(t.Context(), id, no)
				require.NoError(t, err)
			}},
			"after it was withdrawn": {want: store.ErrNotPending, before: func(t *testing.T, id string) {
				_, err := s.Withdraw(t.Context(), id, "canceled", "the asker left")
				require.NoError(t, err)
			}},
			"after its time": {want: store.ErrExpired, before: func(*testing.T, string) { clock.Add(16 * time.Minute) }},
		}
		for name, tt := range cases {
			t.Run(name, func(t *testing.T) {
				c := wait(t, s, func(n *store.NewCommand) { n.Expires = clock.Now().Add(15 * time.Minute) })
				if tt.before != nil {
					tt.before(t, c.ID)
				}
				before, err := s.Command(t.Context(), c.ID)
				require.NoError(t, err)
				d := yes()
				if tt.answer != nil {
					tt.answer(&d)
				}
				_, err = s.Decide(t.Context(), c.ID, d)
				require.ErrorIs(t, err, tt.want)
				assert.NotContains(t, err.Error(), "hunter2")
				after, err := s.Command(t.Context(), c.ID)
				require.NoError(t, err)
				assert.Equal(t, before, after, "an error changes nothing")
			})
		}
		_, err := s.Decide(t.Context(), "c_none", yes())
		assert.ErrorIs(t, err, store.ErrNotFound)
	})
}

func TestANoEndsACommandWithItsReasonAndWipesWhatWasSealed(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := wait(t, s, nil)
		exact, err := s.Exact(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, pending().Exact, exact)
		a, err := s.Approval(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, pending().Document, a.Document)
		assert.Empty(t, a.Decision)

		no := yes()
		no.Approve, no.Reason = false, "not on a Friday\x00"
		c, err = s.Decide(t.Context(), c.ID, no)
		require.NoError(t, err)
		assert.Equal(t, store.Rejected, c.Status)
		assert.Equal(t, store.OutcomeDenied, c.Outcome)
		assert.Equal(t, no.Reason, c.Reason)
		assert.Empty(t, c.ApprovedBy)

		_, err = s.Exact(t.Context(), c.ID)
		assert.ErrorIs(t, err, store.ErrNotPending)
		b, err := s.Approval(t.Context(), a.ID)
		require.NoError(t, err)
		assert.Equal(t, store.Rejected, b.Decision)
		assert.Equal(t, ada, b.By)
		assert.Equal(t, no.Reason, b.Reason)
		assert.Nil(t, b.Document)
		_, _, err = s.Begin(t.Context(), c.ID, keeperID)
		assert.ErrorIs(t, err, store.ErrNotApproved)
		_, err = s.Approval(t.Context(), "a_none")
		assert.ErrorIs(t, err, store.ErrNotFound)
	})
}

func TestWhoAskedMayTakeItBackWithANo(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := wait(t, s, nil)
		no := yes()
		no.Approve, no.By = false, asker
		_, err := s.Decide(t.Context(), c.ID, no)
		assert.NoError(t, err)
	})
}

func TestWhatWaitsOrWasNotBegunExpires(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		soon := func(n *store.NewCommand) { n.Expires = clock.Now().Add(time.Minute) }
		waits, approved, begun := wait(t, s, soon), wait(t, s, soon), wait(t, s, soon)
		forever := wait(t, s, nil)
		later := wait(t, s, func(n *store.NewCommand) { n.Expires = clock.Now().Add(time.Hour) })
		for _, id := range []string{approved.ID, begun.ID} {
			_, err := s.Decide(t.Context(), id, yes())
			require.NoError(t, err)
		}
		_, _, err := s.Begin(t.Context(), begun.ID, keeperID)
		require.NoError(t, err)

		ids, err := s.Expire(t.Context())
		require.NoError(t, err)
		assert.Empty(t, ids)
		clock.Add(time.Minute)
		_, _, err = s.Begin(t.Context(), approved.ID, keeperID)
		require.ErrorIs(t, err, store.ErrExpired)
		ids, err = s.Expire(t.Context())
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{waits.ID, approved.ID}, ids)
		ids, err = s.Expire(t.Context())
		require.NoError(t, err)
		assert.Empty(t, ids)

		want := map[string]store.Status{waits.ID: store.Rejected, approved.ID: store.Rejected, begun.ID: store.Approved, forever.ID: store.Pending, later.ID: store.Pending}
		for id, status := range want {
			c, err := s.Command(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, status, c.Status)
			if status == store.Rejected {
				assert.Equal(t, store.OutcomeExpired, c.Outcome)
				_, err = s.Exact(t.Context(), id)
				assert.ErrorIs(t, err, store.ErrNotPending)
			}
		}
	})
}

func TestNothingIsTakenAfterTheContextHasEnded(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := wait(t, s, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := context.DeadlineExceeded
		cancel(why)
		_, err := s.Decide(ctx, c.ID, yes())
		require.ErrorIs(t, err, why)
		_, _, err = s.Create(ctx, pending())
		require.ErrorIs(t, err, why)
		after, err := s.Command(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, c, after)
	})
}
