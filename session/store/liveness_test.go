package store_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// Two keepers whose clocks differ, and step, look every ten seconds for twenty minutes. What each runs stays its own.
func TestKeepersWithOtherClocksDoNotTakeEachOtherForDead(t *testing.T) {
	day := 24 * time.Hour
	for name, step := range map[string]func(r *rand.Rand) time.Duration{
		"an hour apart":      func(*rand.Rand) time.Duration { return 0 },
		"stepping forward":   func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(2 * time.Hour))) },
		"stepping at random": func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(day))) - day/2 },
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, cfg store.Config, here *clock) {
				cfg.KeeperTTL = time.Minute
				there := newClock()
				there.Add(time.Hour)
				other := cfg
				other.Now = there.Now
				a, b := open(t, cfg), open(t, other)
				mine, theirs := begun(t, a, "keeper/a"), begun(t, b, "keeper/b")
				r := rand.New(rand.NewPCG(1, 2))
				for range 120 {
					for s, id := range map[*store.Store]string{a: "keeper/a", b: "keeper/b"} {
						w, err := s.Sweep(t.Context(), id)
						require.NoError(t, err)
						require.Empty(t, w.Lost)
					}
					here.Add(10 * time.Second)
					there.Add(10*time.Second + step(r))
				}
				_, err := a.Finish(t.Context(), mine.ID, "keeper/a", store.End{Status: store.Executed, Outcome: "ok"})
				require.NoError(t, err)

				// A keeper that is really gone is found also by a clock that stands still or steps, in a few minutes.
				for range 60 {
					w, err := a.Sweep(t.Context(), "keeper/a")
					require.NoError(t, err)
					if len(w.Lost) > 0 {
						assert.Equal(t, []string{theirs.ID}, w.Lost)
						return
					}
					here.Add(10 * time.Second)
				}
				t.Fatal("a keeper that was gone for ten minutes was not noticed")
			})
		})
	}
}

// One look after a long pause says nothing: the machine, or this process, was stopped as well.
func TestAKeeperThatWasStoppedItselfCallsNobodyDead(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		cfg.KeeperTTL = time.Minute
		s := open(t, cfg)
		c := begun(t, s, "keeper/other")
		_, err := s.Sweep(t.Context(), keeperID)
		require.NoError(t, err)
		clock.Add(24 * time.Hour)
		w, err := s.Sweep(t.Context(), keeperID)
		require.NoError(t, err)
		assert.Empty(t, w.Lost)
		_, err = s.Finish(t.Context(), c.ID, "keeper/other", store.End{Status: store.Executed, Outcome: "ok"})
		require.NoError(t, err)
	})
}
