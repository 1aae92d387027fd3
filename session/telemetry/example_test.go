package telemetry_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/telemetry"
)

// Count commands for Prometheus, and log how they end.
func Example() {
	registry := prometheus.NewRegistry()
	metrics, err := telemetry.Metrics(registry)
	if err != nil {
		log.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.LevelKey, slog.MessageKey, "host", "status", "exit_code":
			return a
		}
		return slog.Attr{} // what differs from run to run
	}}))
	pool, err := session.NewPool(session.PoolConfig{
		Dial: localpty.Dial,
		Session: session.Config{
			Policy: policy.AllowAll, Audit: audit.Discard{},
			Trace: telemetry.Join(metrics, &session.Trace{Done: telemetry.Log(logger).Done}),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	pool.Run(context.Background(), hosts.Host{Name: "here", Transport: hosts.Local}, session.Command{Script: "exit 3"})

	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "fairlead_commands_total" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	// Output:
	// level=INFO msg="command ended" host=here status=exit exit_code=3
	// fairlead_commands_total 1
}
