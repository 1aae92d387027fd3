package clock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These are inside the package because a clock is, and what it does must hold to the second.

func TestAClockEndsWhenItsTimeIsUpAndNotWhileItStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := New(t.Context(), 10*time.Second)
		defer c.Stop()
		time.Sleep(4 * time.Second)
		c.Pause()
		time.Sleep(time.Hour)
		c.Pause() // two people are asked
		c.Resume()
		time.Sleep(time.Hour)
		require.NoError(t, c.Err())
		c.Resume()
		<-c.Done()
		assert.Equal(t, 2*time.Hour+10*time.Second, time.Since(began))
		assert.ErrorIs(t, context.Cause(c), context.DeadlineExceeded)
		assert.ErrorContains(t, context.Cause(c), "no answer within 10s")
	})
}

func TestAClockThatStoodStillInVainSaysForHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(t.Context(), 2*time.Second)
		defer c.Stop()
		c.Pause()
		time.Sleep(time.Minute)
		c.Waited(time.Minute)
		c.Resume()
		<-c.Done()
		assert.EqualError(t, context.Cause(c), "no answer within 2s, and 1m0s more in which a person could act")
	})
}

func TestAClockStandsStillWithTheOneItFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jump, c := New(t.Context(), -1), New(t.Context(), 10*time.Second)
		defer jump.Stop()
		defer c.Stop()
		began := time.Now()
		jump.Pause()
		unfollow := jump.Follow(c)
		time.Sleep(time.Hour)
		require.NoError(t, c.Err())
		unfollow()
		time.Sleep(3 * time.Second)
		unfollow = jump.Follow(c)
		jump.Resume()
		time.Sleep(2 * time.Second)
		unfollow()
		jump.Pause() // nobody follows any more
		<-c.Done()
		jump.Resume()
		// One hour with the jump host, three seconds alone while it was still paused, then the rest.
		assert.Equal(t, time.Hour+10*time.Second, time.Since(began))
	})
}

func TestAClockWithoutALimitEndsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := New(ctx, -1)
		defer c.Stop()
		time.Sleep(1000 * time.Hour)
		require.NoError(t, c.Err())
		cancel(assert.AnError)
		<-c.Done()
		assert.Equal(t, assert.AnError, context.Cause(c))
	})
}
