package page

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/right"
)

// asleep is what time.Now says instead of now on a machine that was suspended for so long: the monotonic clock stood still.
func asleep(t *testing.T, now time.Time, long time.Duration) time.Time {
	t.Helper()
	wall := (*uint64)(unsafe.Pointer(&now)) // seconds above 30 bits of nanoseconds, as package time describes it
	*wall += uint64(long/time.Second) << 30
	require.Equal(t, long, time.Until(now.Round(0)).Round(time.Minute))
	require.Zero(t, time.Until(now).Round(time.Minute))
	return now
}

func TestWhatIsLetInEndsAtItsTimeOnAMachineThatWasSuspended(t *testing.T) {
	d := NewDoor(addr)
	slept := time.Duration(0)
	d.now = func() time.Time { return asleep(t, time.Now(), slept) }
	cookie, token := enter(t, d, Guest{}, "")
	p, ok := d.Know(with(d, cookie, token))
	require.True(t, ok)
	stream, leave := p.Use(t.Context())
	defer leave()
	idle, itsToken := enter(t, d, Guest{}, "")
	code, _ := d.Invite(Guest{})

	slept = IdleTime
	_, _, ok = d.enter(code, nil)
	assert.False(t, ok, "the link")
	_, ok = d.Know(with(d, idle, itsToken))
	assert.False(t, ok, "the page that did nothing")
	_, ok = d.Know(with(d, cookie, token))
	assert.True(t, ok, "the page that has a stream")
	assert.Empty(t, right.Why(stream))

	slept = SessionTime
	_, ok = d.Know(with(d, cookie, token))
	assert.False(t, ok)
	assert.Equal(t, pageLate, right.Why(stream), "what it does ends too")
}
