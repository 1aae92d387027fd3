package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Metrics registers these metrics with reg and returns the Trace that feeds them:
//
//	fairlead_commands_total{status,class}  commands that have ended
//	fairlead_command_seconds               how long they took
//	fairlead_dials_total{outcome}          connections that were tried: ok or failed
//	fairlead_dial_seconds                  how long connecting took
//
// The labels are words of Fairlead's own, never anything that a caller or a host has said, so that there are few of them.
// The Trace may serve several pools. The error is that of reg, and then nothing is registered.
func Metrics(reg prometheus.Registerer) (*session.Trace, error) {
	commands := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairlead_commands_total", Help: "Commands that have ended, by status and class.",
	}, []string{"status", "class"})
	dials := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairlead_dials_total", Help: "Connections that were tried, by outcome.",
	}, []string{"outcome"})
	took := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "fairlead_command_seconds", Help: "How long commands took.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10),
	})
	dialTook := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "fairlead_dial_seconds", Help: "How long connecting took.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
	})
	if err := register(reg, commands, dials, took, dialTook); err != nil {
		return nil, err
	}
	return &session.Trace{
		DialDone: func(_ context.Context, _ hosts.Host, _ session.Peer, d time.Duration, err error) {
			outcome := "ok"
			if err != nil {
				outcome = "failed"
			}
			dials.WithLabelValues(outcome).Inc()
			dialTook.Observe(d.Seconds())
		},
		Done: func(_ context.Context, r session.Result) {
			commands.WithLabelValues(string(r.Status), string(r.Decision.Class)).Inc()
			took.Observe(r.Duration.Seconds())
		},
	}, nil
}

// register registers all, or none.
func register(reg prometheus.Registerer, all ...prometheus.Collector) error {
	for i, c := range all {
		if err := reg.Register(c); err != nil {
			for _, done := range all[:i] {
				reg.Unregister(done)
			}
			return errors.Join(errors.New("telemetry: the metrics cannot be registered"), err)
		}
	}
	return nil
}
