package session_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

var (
	soakSeed     = flag.Uint64("soak.seed", 1, "what the soak draws from; 0 takes the clock")
	soakCommands = flag.Int64("soak.commands", 120, "how many commands the soak runs")
	soakSessions = flag.Int("soak.sessions", 6, "on how many sessions")
	soakTime     = flag.Duration("soak.time", 20*time.Second, "it ends after this time in any case")
)

// soak is what all its sessions share.
type soak struct {
	seed  uint64
	mark  sessiontest.Mark
	end   time.Time
	limit int64

	shared string // a directory that outlives the sessions

	commands, oneOff, held, restarts, reconnects, lost, unsent, abandoned atomic.Int64

	mu       sync.Mutex // guards what follows
	faults   map[string]int
	sent     map[string]int // execs by how often they were sent
	open     map[string]int // execs on record without a result
	unlucky  []string       // files of commands that were cut off
	statuses map[session.Status]int
}

// TestSoak runs commands drawn from the whole case table, on sessions that stay, while everything breaks that can. With
// the same seed every session draws the same; what meets what is up to the scheduler.
//
//	go test ./session -run TestSoak -v -soak.commands 10000 -soak.sessions 20 -soak.time 30m -timeout 1h
func TestSoak(t *testing.T) {
	for _, shell := range shells {
		needShell(t, shell)
	}
	k := &soak{seed: *soakSeed, mark: sessiontest.NewMark(t), limit: *soakCommands, shared: t.TempDir(), faults: map[string]int{}, sent: map[string]int{}, open: map[string]int{}, statuses: map[session.Status]int{}}
	if k.seed == 0 {
		k.seed = uint64(time.Now().UnixNano())
	}
	t.Logf("soak.seed=%d", k.seed)
	goroutines, descriptors := goleak.IgnoreCurrent(), openFiles(t)
	began := time.Now()
	k.end = began.Add(*soakTime)
	t.Run("sessions", k.run)
	took := time.Since(began)

	goleak.VerifyNone(t, goroutines)
	assert.Eventually(t, func() bool { return openFiles(t) <= descriptors }, 10*time.Second, 50*time.Millisecond, "descriptors leak: %d before", descriptors)
	assert.Eventually(t, func() bool { return len(k.mark.Processes(t)) == 0 }, 10*time.Second, 50*time.Millisecond, "processes are left on the hosts")
	if t.Failed() {
		t.Log(k.mark.Describe(t))
	}
	assert.Empty(t, k.mark.Files(t), "files are left on the hosts")
	for _, path := range k.unlucky {
		text, err := os.ReadFile(path)
		assert.NoError(t, err)
		assert.Equal(t, "begun\n", string(text), "a command that was lost ran again, or to its end: %s", path)
	}
	for id, n := range k.sent {
		assert.Equal(t, 1, n, "%s was sent more than once", id)
	}
	assert.Empty(t, k.open, "commands on record without a result")
	t.Log(k.figures(took))
}

// run is the soak itself; when it returns, all it has made is gone.
func (k *soak) run(t *testing.T) {
	cfg := session.Config{
		Policy: soakPolicy, Audit: audit.SinkFunc(k.record),
		Trace: &session.Trace{Sent: func(_ context.Context, _ hosts.Host, exec string, _ int) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.sent[exec]++
		}},
	}
	sites := []*site{serverSite(t, cfg, k.mark, 0), sshdSite(t, cfg, k.mark), localSite(t, cfg, k.mark), serverSite(t, cfg, k.mark, 1)}
	var wg sync.WaitGroup
	for i := range *soakSessions {
		site, shell := sites[i%len(sites)], shells[i%len(shells)]
		wg.Go(func() { // not t.Parallel, which runs as many at once as there are processors
			t.Run(fmt.Sprintf("%d %s %s", i, site.name, shell), func(t *testing.T) {
				w := &worker{soak: k, t: t, site: site, shell: shell, rng: rand.New(rand.NewPCG(k.seed, uint64(i))), dir: t.TempDir()}
				w.work()
			})
		})
	}
	wg.Wait()
	for _, s := range sites {
		require.NoError(t, s.pool.Close())
	}
}

func (k *soak) more() bool { return k.commands.Load() < k.limit && time.Now().Before(k.end) }

// record checks that requests and results come in pairs.
func (k *soak) record(_ context.Context, e audit.Event) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch e.Kind {
	case audit.CommandRequest:
		k.open[e.ID]++
	case audit.CommandResult:
		if k.open[e.ID]--; k.open[e.ID] == 0 {
			delete(k.open, e.ID)
		}
	}
	return nil
}

func (k *soak) fault(kind string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults[kind]++
}

func (k *soak) figures(took time.Duration) string {
	var kinds []string
	total := 0
	for kind, n := range k.faults {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, n))
		total += n
	}
	slices.Sort(kinds)
	var ends []string
	for s, n := range k.statuses {
		ends = append(ends, fmt.Sprintf("%s %d", s, n))
	}
	slices.Sort(ends)
	return fmt.Sprintf("soak: seed %d, %d sessions, %d commands, %d of them one-off and %d held (%s), %d events (%s), %d restarts, %d reconnects, %d lost, %d refused before sending, %d cases cut short, %.1f s",
		k.seed, *soakSessions, k.commands.Load(), k.oneOff.Load(), k.held.Load(), strings.Join(ends, ", "), total, strings.Join(kinds, ", "),
		k.restarts.Load(), k.reconnects.Load(), k.lost.Load(), k.unsent.Load(), k.abandoned.Load(), took.Seconds())
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}
