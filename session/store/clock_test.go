package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// A database whose clock is far from this machine's says what is over, to all its stores alike.
func TestInPostgresTheDatabaseSaysWhatTimeItIs(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"ahead": 30 * time.Hour, "behind": -30 * time.Hour, "alike": 0} {
		t.Run(name, func(t *testing.T) {
			cfg := inPostgres(t)
			cfg.URL = postgres.Ahead(t, ahead)
			a, b := open(t, cfg), open(t, cfg)
			assert.WithinDuration(t, time.Now().Add(ahead), a.Now(), time.Minute)
			assert.WithinDuration(t, a.Now(), b.Now(), time.Second)

			c := wait(t, a, func(n *store.NewCommand) { n.Expires = a.Now().Add(time.Hour) })
			assert.WithinDuration(t, a.Now(), c.Created, time.Minute)
			ids, err := b.Expire(t.Context())
			require.NoError(t, err)
			assert.Empty(t, ids)
			_, err = b.Decide(t.Context(), c.ID, yes())
			require.NoError(t, err)

			c = wait(t, a, func(n *store.NewCommand) { n.Expires = a.Now().Add(-time.Second) }) // their clocks agree within that
			_, err = b.Decide(t.Context(), c.ID, yes())
			require.ErrorIs(t, err, store.ErrExpired)
			w, err := b.Sweep(t.Context(), keeperID)
			require.NoError(t, err)
			assert.Equal(t, []string{c.ID}, w.Expired)
		})
	}
}

// A clock that was wrong, as after the sleep of a machine, is right with the next sign of life.
func TestEachSignOfLifeSetsTheClock(t *testing.T) {
	t.Parallel()
	s := open(t, inPostgres(t))
	store.SetClock(s, time.Now().Add(-8*time.Hour))
	require.WithinDuration(t, time.Now().Add(-8*time.Hour), s.Now(), time.Minute)
	_, err := s.Sweep(t.Context(), keeperID)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), s.Now(), time.Minute)
}

// An answer that took long says little about the time, and changes it only as far as it proves it to be wrong.
func TestASlowAnswerDoesNotSetTheClock(t *testing.T) {
	s := &store.Store{}
	at := time.Now()
	store.Said(s, at, at, at)
	store.Said(s, at.Add(5*time.Second), at, at.Add(10*time.Second)) // said at any moment of these ten seconds
	assert.Equal(t, at.Add(10*time.Second), store.By(s, at.Add(10*time.Second)))
	store.Said(s, at.Add(time.Hour), at, at.Add(10*time.Second))
	assert.Equal(t, at.Add(time.Hour+5*time.Second), store.By(s, at.Add(10*time.Second)))
}

func TestAFileHasThisMachinesClock(t *testing.T) {
	t.Parallel()
	s := open(t, inSQLite(t))
	assert.WithinDuration(t, time.Now(), s.Now(), time.Minute)
}
