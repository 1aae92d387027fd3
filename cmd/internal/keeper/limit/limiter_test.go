package limit

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWhoAsksTooOftenWaitsAndNobodyElseDoes(t *testing.T) {
	l := NewLimiter()
	now := time.Unix(1, 0)
	for range 5 {
		assert.Zero(t, l.Admit("a", 2, 5, now))
	}
	assert.Equal(t, 500*time.Millisecond, l.Admit("a", 2, 5, now))
	assert.Zero(t, l.Admit("b", 2, 5, now), "another's bucket is full")
	now = now.Add(500 * time.Millisecond)
	assert.Zero(t, l.Admit("a", 2, 5, now))
	assert.Positive(t, l.Admit("a", 2, 5, now))
	assert.Positive(t, l.Admit("a", 2, 5, now.Add(-time.Hour)), "a clock that is set back fills nothing")
	now = now.Add(time.Hour)
	for range 5 {
		assert.Zero(t, l.Admit("a", 2, 5, now))
	}
	assert.Positive(t, l.Admit("a", 2, 5, now), "no more than a bucket holds")
	for i := range 2 * maxBuckets {
		l.Admit(fmt.Sprint(i), 2, 5, now)
	}
	assert.LessOrEqual(t, len(l.buckets), maxBuckets)
}
