package session_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// memory returns the bytes of heap and stacks in use.
func memory() int64 {
	runtime.GC()
	runtime.GC() // pools give back in two steps
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

func TestTenThousandSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	n := 10_000
	if needs.Detector { // whose own memory is much of what there is
		n = 1_000
	}
	d := sessiontest.NewDialer(t)
	d.On("uname -a", reply{Stdout: "Linux\n"})
	p := poolOn(t, d, session.PoolConfig{MaxDials: 64})
	before := memory()
	sessions := make([]*session.Session, n)
	var wg sync.WaitGroup
	for part := range 16 {
		wg.Go(func() {
			for i := part; i < n; i += 16 {
				s, err := p.Open(hosts.Host{Name: fmt.Sprintf("web%d", i/4)})
				if !assert.NoError(t, err) {
					return
				}
				sessions[i] = s
				r, err := s.Run(t.Context(), session.Command{Script: "uname -a"})
				if !assert.NoError(t, err) || !assert.Equal(t, "Linux\n", string(r.Stdout)) {
					return
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, n, p.Stats().Sessions)
	require.Equal(t, n/4, p.Stats().Used)
	each := (memory() - before) / int64(n)
	t.Logf("%d idle sessions on %d connections: %d bytes of heap and stack each, the scripted far side included", n, n/4, each)
	assert.Less(t, each, int64(64<<10))
	runtime.KeepAlive(sessions)
}
