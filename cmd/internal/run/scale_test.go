package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// newScale is a world of many hosts, whose shells are scripted; made is how many connections there were.
func newScale(t testing.TB, n int) (w *world, made func() int) {
	t.Helper()
	d := sessiontest.NewDialer(t)
	d.On("uname -s", sessiontest.Reply{Stdout: "Linux\n"})
	names := numbered("web", n)
	w = newWorld(t, names...)
	w.Pool = func(o cmdutil.PoolOptions) (*session.Pool, error) {
		pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Forks: o.Forks, MaxConnsPerHost: 1, IdleTimeout: time.Millisecond, Session: session.Config{ // as the program has it
			Principal: w.Caller().Principal, Policy: o.Policy, Audit: w.audit, Redact: cmdutil.Redactor(o.Redact),
		}})
		if err == nil {
			t.Cleanup(func() { pool.Close() })
		}
		return pool, err
	}
	return w, func() (sum int) {
		for _, name := range names {
			sum += d.Dialed(name)
		}
		return sum
	}
}

func numbered(name string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s%05d", name, i+1))
	}
	return all
}

// cost is how many bytes f allocates.
func cost(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Four times the hosts cost about four times as much, not sixteen times. Allocations are counted, because time is not the
// same on any two runs.
func TestWhatARunCostsGrowsWithTheNumberOfHosts(t *testing.T) {
	const few, many = 500, 2000
	for name, args := range map[string][]string{
		"lines": {"web*"}, "batches": {"web*", "--fold", "--batch", "1,10%", "--max-fail", "5%"},
	} {
		t.Run(name, func(t *testing.T) {
			var size [2]uint64
			for i, n := range []int{few, many} {
				w, made := newScale(t, n)
				size[i] = cost(func() {
					code, err := w.run(t.Context(), append(args, "--", "uname -s")...)
					require.NoError(t, err)
					require.Zero(t, code, w.err.String())
				})
				assert.Equal(t, n, made())
			}
			t.Logf("%d hosts: %d KB, %d hosts: %d KB", few, size[0]>>10, many, size[1]>>10)
			assert.Less(t, size[1], size[0]*many/few*2)
		})
	}
}

// peakSink is an audit log that looks at the memory in use from time to time.
type peakSink struct {
	audit.Discard
	events atomic.Int64
	peak   atomic.Int64
}

func (s *peakSink) Record(context.Context, audit.Event) error {
	if s.events.Add(1)%256 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if now := int64(m.HeapAlloc + m.StackInuse); now > s.peak.Load() {
			s.peak.Store(now)
		}
	}
	return nil
}

// What has been printed is not kept, and a connection that nobody needs is closed.
func TestTheMemoryOfARunOnTwoThousandHostsIsFlat(t *testing.T) {
	peak := func(n int) int64 {
		w, made := newScale(t, n)
		sink := &peakSink{}
		w.audit = sink
		code, err := w.run(t.Context(), "all", "--fold", "--", "uname -s")
		require.NoError(t, err)
		require.Zero(t, code, w.err.String())
		require.Equal(t, n, made())
		return sink.peak.Load()
	}
	peak(500) // what is made once
	few, many := peak(500), peak(2000)
	t.Logf("at most %d KB with 500 hosts, %d KB with 2000", few>>10, many>>10)
	assert.Less(t, many-few, int64(1500*16<<10), "bytes for 1500 more hosts")
}

// Ten thousand hosts are selected, judged, run on where none can be reached, and written down, at a cost that grows as they do.
func TestTenThousandTargets(t *testing.T) {
	const few, many = 2500, 10_000
	for name, tt := range map[string]struct {
		args []string
		code int
		more int // lines
	}{
		"a dry run":         {[]string{"down*&!~none", "--dry-run"}, 0, 0},
		"a dry run as JSON": {[]string{"down*", "--dry-run", "--json"}, 0, 1},
		"JSON":              {[]string{"~^down", "--json"}, 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var size [2]uint64
			for i, n := range []int{few, many} {
				w := newWorld(t, numbered("down", n)...)
				sink := &peakSink{}
				w.audit = sink
				size[i] = cost(func() {
					code, err := w.run(t.Context(), append(tt.args, "--", "uname -s")...)
					require.NoError(t, err)
					require.Equal(t, tt.code, code)
				})
				if tt.more > 0 {
					lines := strings.SplitAfter(w.out.String(), "\n")
					assert.Len(t, lines, n+tt.more+1)
					var last struct{ Summary struct{ Hosts int } }
					require.NoError(t, json.Unmarshal([]byte(lines[n]), &last))
					assert.Equal(t, n, last.Summary.Hosts)
				}
				if tt.code != 0 {
					assert.EqualValues(t, 2*n, sink.events.Load(), "an entry before and after each")
				}
			}
			t.Logf("%d hosts: %d KB, %d hosts: %d KB", few, size[0]>>10, many, size[1]>>10)
			assert.Less(t, size[1], size[0]*many/few*2)
		})
	}
}
