package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestLeaseThatIsNotExtendedIsTakenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hang", reply{Hang: true, Ignores: "INT TERM KILL"})
		p := poolOn(t, d, session.PoolConfig{LeaseTTL: time.Minute})
		l, err := p.Acquire(web1)
		require.NoError(t, err)
		out := running(t.Context(), l.Session().Run, session.Command{Script: "hang"})
		assert.Equal(t, time.Now().Add(time.Minute), l.Expires())
		time.Sleep(50 * time.Second)
		require.NoError(t, l.Extend())
		assert.Equal(t, time.Now().Add(time.Minute), l.Expires())
		time.Sleep(59 * time.Second)
		synctest.Wait()
		assert.Equal(t, 1, p.Stats().Sessions, "taken back early")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, session.StatusCanceled, (<-out).r.Status)
		assert.Zero(t, p.Stats().Sessions)
		assert.Equal(t, 1, p.Stats().Idle, "the connection is kept")
		assert.ErrorIs(t, l.Extend(), session.ErrClosed)
		_, err = l.Session().Run(t.Context(), session.Command{Script: "never"})
		assert.ErrorIs(t, err, session.ErrClosed)
		l.Release()
	})
}

func TestReleasedLeaseIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		l, err := p.Acquire(web1)
		require.NoError(t, err)
		runOK(t, l.Session(), "pwd")
		l.Release()
		l.Release()
		assert.ErrorIs(t, l.Extend(), session.ErrClosed)
		assert.Zero(t, p.Stats().Sessions)
	})
}

func TestLeaseWithoutLimitDoesNotExpire(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{LeaseTTL: -1})
		l, err := p.Acquire(web1)
		require.NoError(t, err)
		assert.Zero(t, l.Expires())
		time.Sleep(24 * time.Hour)
		require.NoError(t, l.Extend())
		runOK(t, l.Session(), "pwd")
		l.Release()
		assert.ErrorIs(t, l.Extend(), session.ErrClosed)
	})
}
