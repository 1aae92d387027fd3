package keeper

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
)

// metrics counts, and tells it in the text format of Prometheus (version 0.0.4). The labels are words of ours, never
// anything that a caller or a host has said, so that there are few of them.
type metrics struct {
	sessions, waiting, callers func() int

	mu       sync.Mutex // guards what follows
	commands map[[2]string]uint64
	dials    map[string]uint64
	refusals map[string]uint64
	took     histogram
	dialTook histogram
}

func newMetrics(sessions, waiting, callers func() int) *metrics {
	return &metrics{
		sessions: sessions, waiting: waiting, callers: callers,
		commands: map[[2]string]uint64{}, dials: map[string]uint64{}, refusals: map[string]uint64{},
		took: newHistogram(0.0005, 4, 10), dialTook: newHistogram(0.001, 4, 8),
	}
}

func (m *metrics) done(r *session.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commands[[2]string{string(r.Status), string(r.Decision.Class)}]++
	m.took.observe(r.Duration)
}

func (m *metrics) dialed(took time.Duration, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dials[outcome]++
	m.dialTook.observe(took)
}

func (m *metrics) refused(reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusals[reason]++
}

func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	var b bytes.Buffer
	m.write(&b)
	_, _ = b.WriteTo(w) // the reader may be gone
}

func (m *metrics) write(w io.Writer) {
	gauge := func(name, help string, v int) {
		fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s gauge\n%[1]s %[3]d\n", name, help, v)
	}
	counter := func(name, help string) { fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s counter\n", name, help) }
	gauge("fairlead_sessions", "Sessions that are open.", m.sessions())
	gauge("fairlead_approvals_waiting", "Asks that wait for an answer.", m.waiting())
	gauge("fairlead_requests_in_progress", "Requests that are being answered.", m.callers())
	gauge("fairlead_goroutines", "Goroutines of the process.", runtime.NumGoroutine())
	m.mu.Lock()
	defer m.mu.Unlock()
	counter("fairlead_commands_total", "Commands that have ended, by status and class.")
	byLabels := func(a, b [2]string) int { return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1]) }
	for _, l := range slices.SortedFunc(maps.Keys(m.commands), byLabels) {
		fmt.Fprintf(w, "fairlead_commands_total{status=%q,class=%q} %d\n", l[0], l[1], m.commands[l])
	}
	counter("fairlead_dials_total", "Connections that were tried, by outcome.")
	for _, l := range slices.Sorted(maps.Keys(m.dials)) {
		fmt.Fprintf(w, "fairlead_dials_total{outcome=%q} %d\n", l, m.dials[l])
	}
	counter("fairlead_refused_requests_total", "Requests that were refused before they were looked at, by reason.")
	for _, l := range slices.Sorted(maps.Keys(m.refusals)) {
		fmt.Fprintf(w, "fairlead_refused_requests_total{reason=%q} %d\n", l, m.refusals[l])
	}
	m.took.write(w, "fairlead_command_seconds", "How long commands took.")
	m.dialTook.write(w, "fairlead_dial_seconds", "How long connecting took.")
}

// histogram counts durations by upper bound.
type histogram struct {
	bounds []float64 // seconds
	counts []uint64  // of those in each bucket alone; the last has no bound
	sum    float64
}

func newHistogram(first, factor float64, n int) histogram {
	h := histogram{counts: make([]uint64, n+1)}
	for i := range n {
		h.bounds = append(h.bounds, first*math.Pow(factor, float64(i)))
	}
	return h
}

func (h *histogram) observe(d time.Duration) {
	s := d.Seconds()
	i, _ := slices.BinarySearch(h.bounds, s)
	h.counts[i]++
	h.sum += s
}

func (h *histogram) write(w io.Writer, name, help string) {
	fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s histogram\n", name, help)
	var n uint64
	for i, c := range h.counts {
		n += c
		le := "+Inf"
		if i < len(h.bounds) {
			le = fmt.Sprint(h.bounds[i])
		}
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", name, le, n)
	}
	fmt.Fprintf(w, "%s_sum %g\n%s_count %d\n", name, h.sum, name, n)
}
