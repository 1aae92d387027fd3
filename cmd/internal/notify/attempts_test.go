package notify_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

var errBusy = errors.New("busy")

func TestPausesBetweenAttemptsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		err := notify.Deliver(t.Context(), time.Minute, time.Second, func(context.Context) (bool, error) {
			at = append(at, time.Since(began))
			return true, errBusy
		})
		assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}, at)
		assert.ErrorIs(t, err, errBusy)
		assert.EqualError(t, err, "busy (given up after 5 attempts)")
	})
}

func TestAnAttemptIsTheLastWhereAnotherWouldNotHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, want := range []error{nil, errBusy} {
			n := 0
			err := notify.Deliver(t.Context(), time.Minute, time.Second, func(context.Context) (bool, error) {
				n++
				return false, want
			})
			assert.Equal(t, want, err)
			assert.Equal(t, 1, n)
		}
		n := 0
		err := notify.Deliver(t.Context(), time.Minute, time.Second, func(context.Context) (bool, error) {
			if n++; n == 3 {
				return true, nil
			}
			return true, errBusy
		})
		assert.NoError(t, err)
		assert.Equal(t, 3, n)
	})
}

func TestTheEndOfTheProgramEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithTimeout(t.Context(), 90*time.Second)
		defer end()
		began, n := time.Now(), 0
		err := notify.Deliver(ctx, time.Minute, time.Minute, func(context.Context) (bool, error) {
			n++
			return true, errBusy
		})
		assert.ErrorIs(t, err, notify.ErrEnded)
		assert.ErrorIs(t, err, errBusy, "why it was to be tried again")
		assert.Equal(t, 2, n)
		assert.Equal(t, 90*time.Second, time.Since(began))
	})
}

func TestAnAttemptThatRunsAtTheEndIsTheLastAndGetsALittleTime(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		fails error
		want  error
		ends  time.Duration
	}{
		"it succeeds in time":   {notify.Closing, nil, nil, notify.Closing},
		"it fails in time":      {time.Second, errBusy, errBusy, time.Second},
		"it takes longer":       {time.Minute, nil, notify.ErrClosing, 10*time.Second + notify.Closing},
		"it ends before all is": {9 * time.Second, nil, nil, 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
				defer end()
				if name == "it fails in time" {
					end()
				}
				began, n, before := time.Now(), 0, goleak.IgnoreCurrent()
				err := notify.Deliver(ctx, time.Hour, time.Second, func(ctx context.Context) (bool, error) {
					n++
					select {
					case <-time.After(c.takes):
						return true, c.fails
					case <-ctx.Done():
						return true, ctx.Err()
					}
				})
				assert.Equal(t, c.want, err)
				assert.Equal(t, 1, n)
				assert.Equal(t, c.ends, time.Since(began))
				goleak.VerifyNone(t, before) // nothing waits for the end of what is over
			})
		})
	}
}

func TestAnAttemptThatTakesTooLongSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		err := notify.Deliver(t.Context(), time.Minute, time.Second, func(ctx context.Context) (bool, error) {
			n++
			<-ctx.Done()
			return n == 1, ctx.Err()
		})
		assert.EqualError(t, err, "it took longer than 1m0s")
		assert.Equal(t, 2, n)
	})
}

func TestWhatWaitsAtTheEndGetsOneAttemptWithinALittleTime(t *testing.T) {
	for name, c := range map[string]struct {
		takes    time.Duration
		fails    error
		attempts int
		dropped  uint64
		ends     time.Duration
	}{
		"all succeed":       {0, nil, 5, 0, 0},
		"all fail":          {0, errBusy, 5, 5, 0},
		"time for two":      {900 * time.Millisecond, nil, 3, 3, notify.Closing},
		"the first hangs":   {time.Hour, nil, 1, 5, notify.Closing},
		"there is time for": {300 * time.Millisecond, nil, 5, 0, 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, n := time.Now(), 0
				dropped := notify.Drain(5, time.Minute, func(ctx context.Context) error {
					n++
					select {
					case <-time.After(c.takes):
						return c.fails
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				assert.Equal(t, c.dropped, dropped, "nothing is lost without being counted")
				assert.Equal(t, c.attempts, n)
				assert.Equal(t, c.ends, time.Since(began))
			})
		})
	}
}

func TestNothingThatWaitedWhenTheProgramEndedIsForgotten(t *testing.T) {
	const waiting = 64
	for fails, dropped := range map[error]uint64{nil: 0, errBusy: waiting} {
		n := 0
		assert.Equal(t, dropped, notify.Follow(waiting, func() error { n++; return fails }))
		assert.Equal(t, waiting, n)
	}
}
