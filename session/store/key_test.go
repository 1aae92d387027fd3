package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestAKeyBelongsToOneRequestForADay(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		k := store.Key{Principal: asker, Key: "k1", Request: []byte("a"), Target: "e_1"}
		other, later, hers := k, k, k
		other.Request, later.Target, hers.Principal = []byte("b"), "e_2", ada
		claim := func(k store.Key) store.KeyClaim {
			t.Helper()
			c, err := s.ClaimKey(t.Context(), k)
			require.NoError(t, err)
			return c
		}
		assert.Equal(t, store.KeyClaim{State: store.KeyNew, Target: "e_1"}, claim(k))
		require.NoError(t, s.Close())
		s = open(t, cfg)
		assert.Equal(t, store.KeyClaim{State: store.KeySame, Target: "e_1"}, claim(later))
		assert.Equal(t, store.KeyClaim{State: store.KeyConflict, Target: "e_1"}, claim(other))
		assert.Equal(t, store.KeyClaim{State: store.KeyNew, Target: "e_1"}, claim(hers), "keys are each principal's own")

		clock.Add(24*time.Hour - time.Microsecond)
		assert.Equal(t, store.KeySame, claim(k).State)
		clock.Add(time.Microsecond)
		assert.Equal(t, store.KeyClaim{State: store.KeyNew, Target: "e_2"}, claim(later))

		assert.ErrorIs(t, s.ReleaseKey(t.Context(), k), store.ErrNotFound, "it is another request's now")
		assert.ErrorIs(t, s.AimKey(t.Context(), k, "e_3"), store.ErrNotFound)
		require.NoError(t, s.AimKey(t.Context(), later, "e_3"))
		assert.Equal(t, store.KeyClaim{State: store.KeySame, Target: "e_3"}, claim(later))
		later.Target = "e_3"
		require.NoError(t, s.ReleaseKey(t.Context(), later))
		assert.Equal(t, store.KeyNew, claim(other).State)
		_, err := s.ClaimKey(t.Context(), store.Key{Principal: asker, Target: "e_1"})
		assert.ErrorIs(t, err, store.ErrInvalid)
	})
}

func TestTheSameRequestMakesTheSameCommand(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		n := pending()
		n.Key = store.Key{Key: "k1", Request: []byte("a")}
		c, made, err := s.Create(t.Context(), n)
		require.NoError(t, err)
		require.True(t, made)
		decided, err := s.Decide(t.Context(), c.ID, yes())
		require.NoError(t, err)
		again, made, err := s.Create(t.Context(), n)
		require.NoError(t, err)
		assert.False(t, made)
		assert.Equal(t, decided, again)
		n.Key.Request = []byte("b")
		_, _, err = s.Create(t.Context(), n)
		require.ErrorIs(t, err, store.ErrKeyReused)

		n.Key, n.Sandbox = store.Key{Key: "k2", Request: []byte("a")}, "b_none"
		_, _, err = s.Create(t.Context(), n)
		require.ErrorIs(t, err, store.ErrNotFound)
		n.Sandbox = ""
		_, made, err = s.Create(t.Context(), n)
		require.NoError(t, err)
		assert.True(t, made, "a request that came to nothing took no key")
	})
}

func TestLookingAtAKeyTakesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		k := store.Key{Principal: "agent/a", Key: "k", Request: []byte("one"), Target: "e_1"}
		look := func(k store.Key) store.KeyClaim {
			c, err := s.LookKey(t.Context(), k)
			require.NoError(t, err)
			return c
		}
		for range 2 {
			assert.Equal(t, store.KeyClaim{State: store.KeyNew}, look(k))
		}
		_, err := s.ClaimKey(t.Context(), k)
		require.NoError(t, err)
		assert.Equal(t, store.KeyClaim{State: store.KeySame, Target: "e_1"}, look(k))
		other := k
		other.Request = []byte("two")
		assert.Equal(t, store.KeyClaim{State: store.KeyConflict, Target: "e_1"}, look(other))
		other = k
		other.Principal = "agent/b"
		assert.Equal(t, store.KeyNew, look(other).State)
	})
}
