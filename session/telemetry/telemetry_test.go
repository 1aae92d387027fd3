package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
	"github.com/fairlead-ssh/fairlead/session/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "hunter2-in-a-command"

// served returns a pool over real SSH that is traced, and its host.
func served(t *testing.T, tr *session.Trace) (*session.Pool, hosts.Host) {
	t.Helper()
	server := sessiontest.Server(t, sshserver.Config{})
	d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, sessiontest.HostKeys(t, server.Addr(), server.HostKey()))
	require.NoError(t, err)
	p, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}, Trace: tr}})
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	h := sessiontest.Host(t, "web1", server.Addr())
	h.Tier = "dev"
	return p, h
}

func attributes(all []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for _, a := range all {
		m[string(a.Key)] = a.Value.AsInterface()
	}
	return m
}

func TestACommandAndItsDialAreSpansBelowTheCallers(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tp := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	p, h := served(t, telemetry.Spans(tp))

	ctx, caller := tp.Tracer("test").Start(t.Context(), "caller")
	r, err := p.Run(ctx, h, session.Command{Script: "echo " + secret + "; exit 3"})
	require.NoError(t, err)
	caller.End()

	ended := recorder.Ended()
	require.Len(t, ended, 3)
	dial, command := ended[0], ended[1]
	assert.Equal(t, "fairlead.dial", dial.Name())
	assert.Equal(t, "fairlead.command", command.Name())
	assert.Equal(t, caller.SpanContext().SpanID(), command.Parent().SpanID())
	assert.Equal(t, command.SpanContext().SpanID(), dial.Parent().SpanID(), "the dial is for the command")
	assert.Equal(t, caller.SpanContext().TraceID(), dial.SpanContext().TraceID())

	got := attributes(command.Attributes())
	assert.Equal(t, "web1", got["fairlead.host"])
	assert.Equal(t, "dev", got["fairlead.tier"])
	assert.Equal(t, r.Exec, got["fairlead.exec"])
	assert.Equal(t, "exit", got["fairlead.status"])
	assert.EqualValues(t, 3, got["process.exit.code"])
	assert.Equal(t, codes.Unset, command.Status().Code, "a non-zero exit is an answer, and no error")
	assert.Equal(t, []string{"sent", "first_byte"}, events(command))
	assert.Equal(t, []string{"host_key", "auth_tried"}, events(dial))
	assert.Equal(t, r.Host, "web1")
	for _, s := range ended {
		text, err := json.Marshal(tracetest.SpanStubFromReadOnlySpan(s))
		require.NoError(t, err)
		assert.NotContains(t, string(text), secret)
	}
}

func events(s trace.ReadOnlySpan) (names []string) {
	for _, e := range s.Events() {
		names = append(names, e.Name)
	}
	return names
}

func TestWhatFailsIsASpanWithTheErrorsCode(t *testing.T) {
	for name, c := range map[string]struct {
		dial error
		code string
	}{
		"a host key": {session.ErrHostKey, "hostkey"},
		"a login":    {session.ErrAuth, "auth"},
		"a network":  {errors.New(secret), "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			tp := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
			p, err := session.NewPool(session.PoolConfig{
				Dial:    func(context.Context, hosts.Host) (session.Transport, error) { return nil, c.dial },
				Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}, Trace: telemetry.Spans(tp)},
			})
			require.NoError(t, err)
			defer p.Close()
			_, err = p.Run(t.Context(), hosts.Host{Name: "web1"}, session.Command{Script: secret})
			require.ErrorIs(t, err, c.dial)
			require.Len(t, recorder.Ended(), 2)
			for _, s := range recorder.Ended() {
				assert.Equal(t, codes.Error, s.Status().Code)
				assert.Equal(t, c.code, s.Status().Description)
				assert.Equal(t, c.code, attributes(s.Attributes())["error.type"])
			}
		})
	}
	t.Run("a command that was never judged", func(t *testing.T) {
		recorder := tracetest.NewSpanRecorder()
		p, h := served(t, telemetry.Spans(trace.NewTracerProvider(trace.WithSpanProcessor(recorder))))
		_, err := p.Run(t.Context(), h, session.Command{Script: "nul\x00"})
		require.Error(t, err)
		require.Len(t, recorder.Ended(), 1)
		assert.Equal(t, "invalid", recorder.Ended()[0].Status().Description)
	})
}

func TestMetricsAreAsPrometheusReadsThem(t *testing.T) {
	reg := prometheus.NewRegistry()
	tr, err := telemetry.Metrics(reg)
	require.NoError(t, err)
	_, err = telemetry.Metrics(reg)
	require.ErrorContains(t, err, "telemetry: the metrics cannot be registered")

	p, h := served(t, tr)
	for _, script := range []string{"true", "exit 3", "exit 4"} {
		_, err := p.Run(t.Context(), h, session.Command{Script: script})
		require.NoError(t, err)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	got, err := parser.TextToMetricFamilies(w.Body)
	require.NoError(t, err)

	byStatus := map[string]float64{}
	for _, m := range got["fairlead_commands_total"].GetMetric() {
		byStatus[label(m, "status")] += m.GetCounter().GetValue()
	}
	assert.Equal(t, map[string]float64{"ok": 1, "exit": 2}, byStatus)
	assert.Equal(t, dto.MetricType_COUNTER, got["fairlead_commands_total"].GetType())
	require.Len(t, got["fairlead_dials_total"].GetMetric(), 1)
	assert.Equal(t, "ok", label(got["fairlead_dials_total"].GetMetric()[0], "outcome"))
	took := got["fairlead_command_seconds"].GetMetric()[0].GetHistogram()
	assert.EqualValues(t, 3, took.GetSampleCount())
	assert.Len(t, took.GetBucket(), 11, "ten bounds, and none")
	assert.Len(t, got["fairlead_dial_seconds"].GetMetric()[0].GetHistogram().GetBucket(), 9)
}

func label(m *dto.Metric, name string) string {
	i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == name })
	return m.GetLabel()[i].GetValue()
}

func TestStepsAreLogged(t *testing.T) {
	var out bytes.Buffer
	p, h := served(t, telemetry.Log(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	_, err := p.Run(t.Context(), h, session.Command{Script: "echo " + secret + "; exit 3"})
	require.NoError(t, err)
	require.NoError(t, p.Close())
	var msgs []string
	for dec := json.NewDecoder(bytes.NewReader(out.Bytes())); dec.More(); {
		var rec map[string]any
		require.NoError(t, dec.Decode(&rec))
		assert.Equal(t, "web1", rec["host"])
		msgs = append(msgs, rec["msg"].(string))
		if rec["msg"] == "command ended" {
			assert.Equal(t, "INFO", rec["level"])
			assert.EqualValues(t, 3, rec["exit_code"])
		}
	}
	assert.Equal(t, []string{"command judged", "dialing", "host key checked", "login tried", "dialed", "command sent", "first output",
		"command ended", "connection closed"}, msgs)
	assert.NotContains(t, out.String(), secret)
}

func TestJoinCallsAllTracesInOrder(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	one := func(name string) *session.Trace {
		return &session.Trace{Done: func(context.Context, session.Result) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, name)
		}}
	}
	p, h := served(t, telemetry.Join(nil, one("a"), &session.Trace{}, one("b"), nil, one("c")))
	_, err := p.Run(t.Context(), h, session.Command{Script: "true"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, heard)
	assert.Nil(t, telemetry.Join().Done)
}
