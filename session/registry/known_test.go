package registry_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// slowWrites are connections on which a write returns long after the other end has read it, and answered.
type slowWrites struct{ session.Transport }

func (t slowWrites) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	s, err := t.Transport.Open(ctx, p)
	return slowWriter{s}, err
}

type slowWriter struct{ session.Stream }

func (s slowWriter) Write(p []byte) (int, error) {
	defer time.Sleep(time.Second)
	return s.Stream.Write(p)
}

// A command may print before Start has returned, and whoever sees that may ask at once which one it was.
func TestACommandIsKnownBeforeItsOutputIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sessiontest.NewDialer(t)
		d.On(":", reply{})
		d.On("say", reply{Stdout: "said", Stderr: "complained"})
		pool, err := session.NewPool(session.PoolConfig{
			Dial: func(ctx context.Context, h hosts.Host) (session.Transport, error) {
				t, err := d.Dial(ctx, h)
				return slowWrites{t}, err
			},
			IdleTimeout: -1, MaxLifetime: -1, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}},
		})
		require.NoError(t, err)
		defer pool.Close()
		r, err := registry.New(registry.Config{Open: pool.Open})
		require.NoError(t, err)
		defer r.Close()
		e, err := r.Open(t.Context(), registry.OpenRequest{Principal: me, Host: hosts.Host{Name: "web1"}})
		require.NoError(t, err)
		out, complaints := &looking{e: e}, &looking{e: e}
		x, err := e.StartLive(t.Context(), registry.Command{Script: "say"}, registry.Live{Stdout: out, Stderr: complaints})
		require.NoError(t, err)
		require.NoError(t, x.Wait(t.Context()))
		for _, l := range []*looking{out, complaints} {
			require.NotEmpty(t, l.seen)
			assert.Same(t, x, l.seen[0])
		}
		assert.Equal(t, "said", out.text)
		assert.Equal(t, "complained", complaints.text)
	})
}

// looking looks which command runs whenever something is printed.
type looking struct {
	e    *registry.Entry
	text string
	seen []*registry.Exec
}

var _ io.Writer = (*looking)(nil)

func (l *looking) Write(p []byte) (int, error) {
	l.text += string(p)
	l.seen = append(l.seen, l.e.Last())
	return len(p), nil
}
