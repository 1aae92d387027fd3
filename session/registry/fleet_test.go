package registry_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

func fleet(names ...string) (hs []hosts.Host) {
	for _, n := range names {
		hs = append(hs, hosts.Host{Name: n})
	}
	return hs
}

func TestAFleetRunsOnAllHostsAndLeavesNoSessions(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("cd -- /srv", reply{Dir: "/srv"})
		w.dialer.OnFunc("work", func(c *callT) reply { return reply{Stdout: "in " + c.Dir} })
		w.dialer.Fault("web2", sessiontestAuth)
		f, err := w.Fleet(t.Context(), registry.FleetRequest{
			Principal: me, Hosts: fleet("web1", "web2", "web3"), Dir: "/srv", Command: registry.Command{Script: "work"},
		})
		require.NoError(t, err)
		<-f.Done()
		for i, m := range f.Members() {
			if i == 1 {
				assert.Equal(t, "auth", codeOf(t, m.Err))
				continue
			}
			require.NoError(t, m.Err)
			assert.Equal(t, "in /srv", string(w.view(m.Exec).Result.Stdout))
		}
		one, err := f.Members()[0].Exec.Sum(registry.Stdout)
		require.NoError(t, err)
		three, err := f.Members()[2].Exec.Sum(registry.Stdout)
		require.NoError(t, err)
		assert.Equal(t, one, three)
		assert.Empty(t, w.List(me))
		assert.Zero(t, w.pool.Stats().Sessions)
		again, err := w.FleetOf(me, f.ID())
		require.NoError(t, err)
		assert.Same(t, f, again)
		_, err = w.FleetOf("agent/other", f.ID())
		assert.Equal(t, registry.CodeNotFound, codeOf(t, err))
	})
}

func TestAFleetGoesForksAtATimeAndCanBeStopped(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		var mu sync.Mutex
		running := 0
		w.dialer.OnFunc("work", func(c *callT) reply {
			mu.Lock()
			running++
			mu.Unlock()
			<-c.Interrupted
			return reply{Exit: 130}
		})
		f, err := w.Fleet(t.Context(), registry.FleetRequest{
			Principal: me, Hosts: fleet("web1", "web2", "web3", "web4"), Command: registry.Command{Script: "work"}, Forks: 2,
		})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		assert.Equal(t, 2, running)
		mu.Unlock()
		f.Stop()
		stopped, never := 0, 0
		for _, m := range f.Members() {
			switch {
			case m.Err != nil:
				assert.Equal(t, "canceled", codeOf(t, m.Err))
				never++
			default:
				assert.Equal(t, session.StatusCanceled, w.view(m.Exec).Result.Status)
				stopped++
			}
		}
		assert.Equal(t, 2, stopped)
		assert.Equal(t, 2, never)
	})
}

func TestCloseOfTheRegistryEndsAFleet(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("work", reply{Hang: true, Ignores: "INT TERM KILL"})
		f, err := w.Fleet(t.Context(), registry.FleetRequest{Principal: me, Hosts: fleet("web1", "web2"), Command: registry.Command{Script: "work"}})
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.NoError(t, w.Close())
		<-f.Done()
		_, err = w.Fleet(t.Context(), registry.FleetRequest{Principal: me, Hosts: fleet("web1"), Command: registry.Command{Script: "work"}})
		assert.Equal(t, registry.CodeClosed, codeOf(t, err))
	})
}

// silent is a permit that nobody gives.
type silent struct{ asked chan struct{} }

func (p silent) Ask(ctx context.Context) error {
	close(p.asked)
	<-ctx.Done()
	return context.Cause(ctx)
}

func (p silent) Approve(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer{}, session.ErrExpired
}

func TestAFleetWaitsForItsPermitAsLongAsItIsTold(t *testing.T) {
	for name, tt := range map[string]struct{ says, want time.Duration }{
		"the usual time": {0, session.DefaultApprovalTimeout},
		"another time":   {2 * time.Hour, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, registry.Config{}, func(t *testing.T, w *world) {
				began, p := time.Now(), silent{make(chan struct{})}
				f, err := w.Fleet(t.Context(), registry.FleetRequest{
					Principal: me, Hosts: fleet("web1", "web2"), Command: registry.Command{Script: "work"}, ApprovalTimeout: tt.says,
					Permit: p, Asking: func(hosts.Host) bool { return false },
				})
				require.NoError(t, err)
				<-p.asked
				<-f.Done()
				assert.Equal(t, tt.want, time.Since(began))
				for _, m := range f.Members() {
					require.ErrorIs(t, m.Err, session.ErrExpired)
					assert.Equal(t, "expired", codeOf(t, m.Err))
				}
			})
		})
	}
}
