package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// begun keeps a command that a keeper has begun.
func begun(t *testing.T, s *store.Store, keeper string) store.Command {
	t.Helper()
	n := allowed()
	n.Claim = keeper
	c, _, err := s.Create(t.Context(), n)
	require.NoError(t, err)
	return c
}

func TestARestartTellsWhatWasBegunAsLostAndLeavesTheRest(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		waits := wait(t, s, nil)
		approved := wait(t, s, nil)
		_, err := s.Decide(t.Context(), approved.ID, yes())
		require.NoError(t, err)
		mine, other := begun(t, s, keeperID), begun(t, s, "keeper/two")
		for id, keeper := range map[string]string{"s_mine": keeperID, "s_other": "keeper/two"} {
			_, err := s.OpenSession(t.Context(), store.Session{ID: id, Name: "deploy", Principal: asker, Host: "web01", Keeper: keeper})
			require.NoError(t, err)
		}

		r, err := s.Recover(t.Context(), keeperID)
		require.NoError(t, err)
		assert.Equal(t, store.Recovered{Lost: []string{mine.ID}, Approved: []string{approved.ID}, Pending: []string{waits.ID}, Sessions: []string{"s_mine"}}, r)
		c, err := s.Command(t.Context(), mine.ID)
		require.NoError(t, err)
		assert.Equal(t, store.Failed, c.Status)
		assert.Equal(t, store.OutcomeLost, c.Outcome)
		_, _, err = s.Begin(t.Context(), mine.ID, keeperID)
		require.ErrorIs(t, err, store.ErrClaimed, "never again")
		_, err = s.Finish(t.Context(), mine.ID, "keeper/two", store.End{Status: store.Executed, Outcome: "ok"})
		require.ErrorIs(t, err, store.ErrNotClaimed)
		n, err := s.Session(t.Context(), "s_mine")
		require.NoError(t, err)
		assert.Equal(t, clock.Now(), n.Ended)
		assert.NotEmpty(t, n.EndReason)

		c, err = s.Command(t.Context(), other.ID)
		require.NoError(t, err)
		assert.Equal(t, store.Approved, c.Status, "its keeper lives")
		n, err = s.Session(t.Context(), "s_other")
		require.NoError(t, err)
		assert.Zero(t, n.Ended)

		_, exact, err := s.Begin(t.Context(), approved.ID, keeperID)
		require.NoError(t, err)
		assert.Equal(t, pending().Exact, exact, "the answer was not lost")
	})
}

func TestAKeeperThatGivesNoSignOfLifeLosesWhatItHasBegun(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		cfg.KeeperTTL = time.Minute
		s := open(t, cfg)
		silent, alive := begun(t, s, "keeper/silent"), begun(t, s, "keeper/alive")
		_, err := s.OpenSession(t.Context(), store.Session{ID: "s_silent", Principal: asker, Host: "web01", Keeper: "keeper/silent"})
		require.NoError(t, err)
		soon := wait(t, s, func(n *store.NewCommand) { n.Expires = clock.Now().Add(50 * time.Second) })
		for range 4 {
			w, err := s.Sweep(t.Context(), "keeper/alive")
			require.NoError(t, err)
			assert.Equal(t, store.Swept{}, w)
			clock.Add(15 * time.Second)
		}
		w, err := s.Sweep(t.Context(), keeperID)
		require.NoError(t, err)
		assert.Equal(t, store.Swept{Lost: []string{silent.ID}, Expired: []string{soon.ID}, Sessions: []string{"s_silent"}}, w)
		c, err := s.Finish(t.Context(), silent.ID, "keeper/silent", store.End{Status: store.Executed, Outcome: "ok"})
		require.NoError(t, err, "it lives, and knows better")
		assert.Equal(t, store.Executed, c.Status)
		assert.Empty(t, c.Reason)
		_, err = s.Finish(t.Context(), alive.ID, "keeper/alive", store.End{Status: store.Executed, Outcome: "ok"})
		require.NoError(t, err)
	})
}

func TestAKeeperThatLeavesTakesItsSessionsAlong(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		_, err := s.Recover(t.Context(), keeperID)
		require.NoError(t, err)
		c := begun(t, s, keeperID)
		_, err = s.OpenSession(t.Context(), store.Session{ID: "s_1", Principal: asker, Host: "web01", Keeper: keeperID})
		require.NoError(t, err)
		w, err := s.Leave(t.Context(), keeperID)
		require.NoError(t, err)
		assert.Equal(t, store.Swept{Lost: []string{c.ID}, Sessions: []string{"s_1"}}, w)
		w, err = s.Leave(t.Context(), keeperID)
		require.NoError(t, err)
		assert.Equal(t, store.Swept{}, w)
	})
}
