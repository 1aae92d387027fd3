package limit

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoryIsSharedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget()
		take := func(who string, own bool, size int64) (free func(), ok bool) {
			free, p := b.Take(context.Background(), who, own, size, time.Second)
			if p != nil {
				assert.Equal(t, http.StatusServiceUnavailable, p.Status)
				assert.True(t, p.Retriable)
			}
			return free, p == nil
		}
		one, ok := take("agent/a", false, 100*budgetOfAll)
		require.True(t, ok, "a large one, alone")
		_, ok = take("agent/a", false, smallBody+1)
		assert.False(t, ok, "its share is used")
		_, ok = take("agent/a", false, smallBody)
		assert.True(t, ok, "small ones count for nothing")
		other, ok := take("agent/b", false, budgetOfAll-budgetOfOne)
		require.True(t, ok, "there is room for others")
		_, ok = take("agent/c", false, smallBody+1)
		assert.False(t, ok, "all is used")
		own, ok := take("operator/ada", true, budgetOfOne)
		assert.True(t, ok, "the account has its own")

		waits := make(chan bool)
		go func() {
			free, ok := take("agent/a", false, budgetOfOne)
			if ok {
				free()
			}
			waits <- ok
		}()
		synctest.Wait()
		one()
		one() // counts once
		assert.True(t, <-waits)
		other()
		own()
		assert.Empty(t, b.per)
		_, ok = take("agent/d", false, budgetOfOne)
		assert.True(t, ok, "all is free again")
	})
}
