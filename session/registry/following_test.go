package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/registry"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWhoFollowsASessionHearsOfEveryCommand(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("one", reply{})
		w.dialer.On("two", reply{})
		w.dialer.On("elsewhere", reply{})
		e, other := w.open("web1", ""), w.open("web2", "")
		assert.Empty(t, e.Since(nil), "what opened the session is nobody's")
		more := e.Changed()
		w.run(other, "elsewhere")
		assert.False(t, isClosed(more))
		one := w.start(e, registry.Command{Script: "one"})
		assert.True(t, isClosed(more))
		require.NoError(t, one.Wait(t.Context()))
		at, dir := one.Began()
		assert.False(t, at.IsZero())
		assert.Equal(t, e.Dir(), dir)
		more = e.Changed()
		two := w.start(e, registry.Command{Script: "two"})
		require.NoError(t, two.Wait(t.Context()))
		three := w.start(e, registry.Command{Script: "one"})
		require.NoError(t, three.Wait(t.Context()))
		assert.True(t, isClosed(more))
		assert.Equal(t, []*registry.Exec{one, two, three}, e.Since(nil))
		assert.Equal(t, []*registry.Exec{two, three}, e.Since(one))
		two.Forget()
		assert.Equal(t, []*registry.Exec{three}, e.Since(two), "also after one that is not kept any more")
		assert.Empty(t, e.Since(three))
	})
}

func TestASessionIsDoneWhenWhatRanInItHasEnded(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		began := make(chan struct{})
		w.dialer.OnFunc("long", func(c *callT) reply {
			close(began)
			<-c.HungUp
			return reply{}
		})
		e := w.open("web1", "")
		x := w.start(e, registry.Command{Script: "long"})
		<-began
		assert.False(t, isClosed(e.Done()))
		e.Close()
		assert.True(t, isClosed(e.Done()))
		assert.False(t, x.Running())
		assert.Equal(t, []*registry.Exec{x}, e.Since(nil), "which can still be looked at")
	})
}
