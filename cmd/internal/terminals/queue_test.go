package terminals_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/stretchr/testify/assert"
)

const most = 64 << 10

func TestAQueueHoldsOnlySoMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := terminals.NewQueue(most)
		assert.True(t, q.Put([]byte(strings.Repeat("x", most))))
		done := make(chan bool, 1)
		go func() { done <- q.Put([]byte("y")) }()
		synctest.Wait()
		assert.Empty(t, done, "put waits for room")
		buf := make([]byte, most)
		assert.Equal(t, most, q.Take(buf))
		assert.True(t, <-done)
		assert.Equal(t, 1, q.Take(buf))
		assert.Equal(t, "y", string(buf[:1]))

		assert.True(t, q.Offer(buf))
		assert.False(t, q.Offer([]byte("z")), "there is no room")
		assert.Equal(t, most, q.Take(buf))
		assert.True(t, q.Offer([]byte("z")))
		q.Close()
		assert.False(t, q.Offer([]byte("z")))
	})
}

func TestAClosedQueueFreesEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty, full := terminals.NewQueue(most), terminals.NewQueue(most)
		full.Put(make([]byte, most))
		took, put := make(chan int, 1), make(chan bool, 1)
		go func() { took <- empty.Take(make([]byte, 1)) }()
		go func() { put <- full.Put([]byte("y")) }()
		synctest.Wait()
		empty.Close()
		full.Close()
		assert.Zero(t, <-took)
		assert.False(t, <-put)
		assert.Zero(t, full.Take(make([]byte, 1)), "what was left is gone")
	})
}
