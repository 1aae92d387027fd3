package shell

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

func TestAQueueHoldsOnlySoMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		assert.True(t, q.put([]byte(strings.Repeat("x", maxTyped))))
		done := make(chan bool, 1)
		go func() { done <- q.put([]byte("y")) }()
		synctest.Wait()
		assert.Empty(t, done, "put waits for room")
		buf := make([]byte, maxTyped)
		assert.Equal(t, maxTyped, q.take(buf))
		assert.True(t, <-done)
		assert.Equal(t, 1, q.take(buf))
		assert.Equal(t, "y", string(buf[:1]))
	})
}

func TestAClosedQueueFreesEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty, full := newQueue(), newQueue()
		full.put(make([]byte, maxTyped))
		took, put := make(chan int, 1), make(chan bool, 1)
		go func() { took <- empty.take(make([]byte, 1)) }()
		go func() { put <- full.put([]byte("y")) }()
		synctest.Wait()
		empty.close()
		full.close()
		assert.Zero(t, <-took)
		assert.False(t, <-put)
		assert.Zero(t, full.take(make([]byte, 1)), "what was left is gone")
	})
}
