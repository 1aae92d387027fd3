package registry_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

func sizes(t *testing.T, text string) []rollout.Size {
	t.Helper()
	all, err := rollout.ParseSizes(text)
	require.NoError(t, err)
	return all
}

func TestAFleetGoesInBatchesAndStopsAtItsLimit(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.OnFunc("work", func(c *callT) reply {
			if c.Host == "web2" {
				return reply{Exit: 3}
			}
			return reply{}
		})
		most, err := rollout.ParseLimit("0")
		require.NoError(t, err)
		f, err := w.Fleet(t.Context(), registry.FleetRequest{
			Principal: me, Hosts: fleet("web1", "web2", "web3", "web4"), Command: registry.Command{Script: "work"},
			Plan: &rollout.Plan{Batches: sizes(t, "1"), MaxFail: most},
		})
		require.NoError(t, err)
		<-f.Done()
		m := f.Members()
		assert.Equal(t, session.StatusOK, w.view(m[0].Exec).Result.Status)
		assert.Equal(t, session.StatusExit, w.view(m[1].Exec).Result.Status)
		for _, m := range m[2:] {
			assert.Nil(t, m.Exec)
			assert.Equal(t, rollout.CodeNotRun, codeOf(t, m.Err))
		}
		require.NotNil(t, f.Rollout())
		assert.Equal(t, rollout.MaxFail, f.Rollout().Reason)
		assert.Len(t, f.Rollout().NotRun(), 2)
		assert.Empty(t, w.List(me))

		_, err = w.Fleet(t.Context(), registry.FleetRequest{
			Principal: me, Hosts: fleet("web1"), Command: registry.Command{Script: "work"}, Plan: &rollout.Plan{Batches: []rollout.Size{{}}},
		})
		assert.Equal(t, registry.CodeInvalid, codeOf(t, err))
	})
}

func TestAFleetIsVerifiedWhereItSucceeded(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		var mu sync.Mutex
		verified := map[string]int{}
		w.dialer.OnFunc("work", func(c *callT) reply {
			if c.Host == "web1" {
				return reply{Exit: 1}
			}
			return reply{}
		})
		w.dialer.OnFunc("verify", func(c *callT) reply {
			mu.Lock()
			defer mu.Unlock()
			verified[c.Host]++
			if c.Host == "web3" {
				return reply{Exit: 7}
			}
			return reply{}
		})
		f, err := w.Fleet(t.Context(), registry.FleetRequest{
			Principal: me, Hosts: fleet("web1", "web2", "web3"), Command: registry.Command{Script: "work"},
			Plan: &rollout.Plan{Verify: &session.Command{Script: "verify"}},
		})
		require.NoError(t, err)
		<-f.Done()
		assert.Equal(t, map[string]int{"web2": 1, "web3": 1}, verified)
		m := f.Members()
		assert.Nil(t, m[0].Verified)
		assert.Equal(t, session.StatusOK, m[1].Verified.Status)
		require.NotNil(t, m[2].Verified.ExitCode)
		assert.Equal(t, 7, *m[2].Verified.ExitCode)
		assert.Len(t, f.Rollout().Failed(), 2)
	})
}

func TestADeadlineAndAConnectionThatIsTriedAgain(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.Fault("web1", faultsT{Dial: session.ErrUnreachable})
		w.dialer.OnFunc("work", func(c *callT) reply {
			<-c.Interrupted
			return reply{Exit: 130}
		})
		began := time.Now()
		f, err := w.Fleet(t.Context(), registry.FleetRequest{
			Principal: me, Hosts: fleet("web1", "web2", "web3"), Command: registry.Command{Script: "work"}, Forks: 2,
			Plan: &rollout.Plan{Retry: 1, Deadline: time.Minute},
		})
		require.NoError(t, err)
		<-f.Done()
		assert.GreaterOrEqual(t, time.Since(began), time.Minute)
		assert.Equal(t, rollout.Deadline, f.Rollout().Reason)
		m := f.Members()
		assert.True(t, m[1].Late)
		assert.Equal(t, session.StatusCanceled, w.view(m[1].Exec).Result.Status)
		assert.Len(t, f.Rollout().Failed(), 3, "one was not reached, two were stopped")
	})
}
