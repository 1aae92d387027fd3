package keeper_test

import (
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// metricsOf reads /metrics as Prometheus does.
func metricsOf(w *keepertest.World) map[string]*dto.MetricFamily {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), "GET", "http://localhost/metrics", nil)
	require.NoError(w.T, err)
	resp, err := w.HTTP().Do(req)
	require.NoError(w.T, err)
	defer resp.Body.Close()
	require.Equal(w.T, http.StatusOK, resp.StatusCode)
	assert.True(w.T, strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4"), resp.Header.Get("Content-Type"))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, err := parser.TextToMetricFamilies(resp.Body)
	require.NoError(w.T, err)
	return all
}

// value is that of a metric with these labels, and no others.
func value(t *testing.T, all map[string]*dto.MetricFamily, name string, labels map[string]string) float64 {
	t.Helper()
	require.Contains(t, all, name)
	for _, m := range all[name].GetMetric() {
		got := map[string]string{}
		for _, l := range m.GetLabel() {
			got[l.GetName()] = l.GetValue()
		}
		if !assert.ObjectsAreEqual(labels, got) {
			continue
		}
		switch {
		case m.GetGauge() != nil:
			return m.GetGauge().GetValue()
		case m.GetCounter() != nil:
			return m.GetCounter().GetValue()
		default:
			return float64(m.GetHistogram().GetSampleCount())
		}
	}
	t.Errorf("%s has no sample with %v", name, labels)
	return -1
}

func TestMetricsAreCounted(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r := w.RunIn(w.Client, s.ID, "exit 3")
	none := map[string]string{}
	all := metricsOf(w)
	assert.EqualValues(t, 1, value(t, all, "fairlead_sessions", none))
	assert.EqualValues(t, 0, value(t, all, "fairlead_approvals_waiting", none))
	assert.EqualValues(t, 1, value(t, all, "fairlead_requests_in_progress", none), "the one that asks")
	assert.Positive(t, value(t, all, "fairlead_goroutines", none))
	assert.EqualValues(t, 1, value(t, all, "fairlead_dials_total", map[string]string{"outcome": "ok"}))
	assert.EqualValues(t, 1, value(t, all, "fairlead_dial_seconds", none))
	assert.EqualValues(t, 1, value(t, all, "fairlead_commands_total", map[string]string{"status": "exit", "class": string(r.Decision.Class)}))
	assert.EqualValues(t, 2, value(t, all, "fairlead_command_seconds", none))

	status, _, _ := w.Send("GET", "/metrics", "", wire.Principal, "agent/a")
	assert.Equal(t, http.StatusForbidden, status)
	status, _, _ = w.Send("GET", "/v1/hosts", "", "Fairlead-Nonsense", "x")
	assert.Equal(t, http.StatusBadRequest, status)
	assert.EqualValues(t, 1, value(t, metricsOf(w), "fairlead_refused_requests_total", map[string]string{"reason": "header"}))
}

// The spans of a request are below the one that its traceparent names, whether that one is sampled or not.
func TestCommandsAreSpansOfTheCallersTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	w := keepertest.Start(t, func(c *keeper.Config) {
		c.Spans = trace.NewTracerProvider(trace.WithSpanProcessor(recorder), trace.WithSampler(trace.AlwaysSample()))
	})
	s := w.OpenSession("here", "")
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	status, _, body := w.Send("POST", "/v1/sessions/"+s.ID+"/execs", `{"command":"exit 3","wait_s":30}`, "Traceparent", "00-"+id+"-"+parent+"-00")
	require.Equal(t, http.StatusOK, status, body)
	var names []string
	for _, span := range recorder.Ended() {
		if span.SpanContext().TraceID().String() != id {
			continue
		}
		names = append(names, span.Name())
		if span.Name() == "fairlead.command" {
			assert.Equal(t, parent, span.Parent().SpanID().String())
		}
	}
	assert.Contains(t, names, "fairlead.command")
}
