// Package telemetry makes a [session.Trace] that feeds OpenTelemetry, Prometheus or slog.
//
// Begin with [Metrics], or with the one that a program wants: [Spans] reports a span for each command and each dial, [Metrics] counts and measures them, and [Log] writes a record
// for each step. [Join] makes one Trace of several:
//
//	metrics, err := telemetry.Metrics(prometheus.DefaultRegisterer)
//	…
//	cfg.Trace = telemetry.Join(telemetry.Spans(otel.GetTracerProvider()), metrics, telemetry.Log(slog.Default()))
//
// No text of a command, no output and no text of an error is reported: those may hold secrets. Errors are reported by
// their Code.
//
// The package is apart from session so that programs without telemetry do not link these libraries. It imports the API of
// OpenTelemetry and no exporter: the program chooses one. The functions, and the names of metrics, are stable; spans, records and
// their attributes may gain more. There is no global state, and no goroutine is started.
package telemetry
