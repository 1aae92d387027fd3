package keeper

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/telemetry"
)

// metrics are what /metrics shows: those of sessions, and the keeper's own. The labels are words of Fairlead's own, never
// anything that a caller or a host has said, so that there are few of them.
type metrics struct {
	http.Handler
	sessions *session.Trace // feeds those of all realms
	refusals *prometheus.CounterVec
}

func newMetrics(sessions, waiting, callers func() int) (*metrics, error) {
	reg := prometheus.NewRegistry()
	m := &metrics{Handler: promhttp.HandlerFor(reg, promhttp.HandlerOpts{})}
	var err error
	if m.sessions, err = telemetry.Metrics(reg); err != nil {
		return nil, err
	}
	m.refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairlead_refused_requests_total", Help: "Requests that were refused before they were read, by reason.",
	}, []string{"reason"})
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	for _, c := range []prometheus.Collector{
		m.refusals,
		gauge("fairlead_sessions", "Open sessions.", sessions),
		gauge("fairlead_approvals_waiting", "Pending approvals.", waiting),
		gauge("fairlead_requests_in_progress", "Requests in progress.", callers),
		gauge("fairlead_goroutines", "Goroutines of the process.", runtime.NumGoroutine),
	} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }
