package sshconn

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
		c := newClock(t.Context(), 10*time.Second)
		defer c.stop()
		time.Sleep(4 * time.Second)
		c.pause()
		time.Sleep(time.Hour)
		c.pause() // two people are asked
		c.resume()
		time.Sleep(time.Hour)
		require.NoError(t, c.Err())
		c.resume()
		<-c.Done()
		assert.Equal(t, 2*time.Hour+10*time.Second, time.Since(began))
		assert.ErrorIs(t, context.Cause(c), context.DeadlineExceeded)
		assert.ErrorContains(t, context.Cause(c), "no answer within 10s")
	})
}

func TestAClockStandsStillWithTheOneItFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jump, c := newClock(t.Context(), -1), newClock(t.Context(), 10*time.Second)
		defer jump.stop()
		defer c.stop()
		began := time.Now()
		jump.pause()
		unfollow := jump.follow(c)
		time.Sleep(time.Hour)
		require.NoError(t, c.Err())
		unfollow()
		time.Sleep(3 * time.Second)
		unfollow = jump.follow(c)
		jump.resume()
		time.Sleep(2 * time.Second)
		unfollow()
		jump.pause() // nobody follows any more
		<-c.Done()
		jump.resume()
		// One hour with the jump host, three seconds alone while it was still paused, then the rest.
		assert.Equal(t, time.Hour+10*time.Second, time.Since(began))
	})
}

func TestAClockWithoutALimitEndsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := newClock(ctx, -1)
		defer c.stop()
		time.Sleep(1000 * time.Hour)
		require.NoError(t, c.Err())
		cancel(assert.AnError)
		<-c.Done()
		assert.Equal(t, assert.AnError, context.Cause(c))
	})
}
