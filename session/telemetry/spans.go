package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// ScopeName is the name of the tracer that Spans uses.
const ScopeName = "github.com/fairlead-ssh/fairlead/session"

// Spans returns a Trace that makes spans with a tracer of tp.
//
// A command is a span "fairlead.command", a child of the span in its caller's context, from the policy's decision to the
// command's end. Its events are sent, first_byte and ladder. A dial is a span "fairlead.dial", a child of the command that it
// is for, with the events host_key and auth_tried. Attributes have the prefix fairlead, or a name of OpenTelemetry's
// semantic conventions. Spans of commands and dials with an error have the status Error, with the error's Code.
func Spans(tp trace.TracerProvider) *session.Trace {
	s := &spans{tracer: tp.Tracer(ScopeName)}
	return &session.Trace{
		DialStart: s.dialStart, HostKey: s.hostKey, AuthTried: s.authTried, DialDone: s.dialDone,
		Judged: s.judged, Sent: s.sent, FirstByte: s.firstByte, LadderStep: s.ladderStep, Done: s.done,
	}
}

type spans struct {
	tracer   trace.Tracer
	commands sync.Map // the span of each exec that runs
	dials    sync.Map // the span of each dial in progress, by the context that its hooks get
}

// find returns the span of a key; one that does nothing where there is none.
func find(m *sync.Map, key any) trace.Span {
	if s, ok := m.Load(key); ok {
		return s.(trace.Span)
	}
	return trace.SpanFromContext(context.Background())
}

func host(h hosts.Host) trace.SpanStartEventOption {
	return trace.WithAttributes(attribute.String("fairlead.host", h.Name), attribute.String("fairlead.tier", h.Tier))
}

func (s *spans) dialStart(ctx context.Context, h hosts.Host) {
	parent := ctx
	if c, ok := s.commands.Load(session.ExecOf(ctx)); ok {
		parent = trace.ContextWithSpan(ctx, c.(trace.Span))
	}
	_, span := s.tracer.Start(parent, "fairlead.dial", trace.WithSpanKind(trace.SpanKindClient), host(h))
	s.dials.Store(ctx, span)
}

func (s *spans) hostKey(ctx context.Context, _ hosts.Host, k session.HostKey) {
	find(&s.dials, ctx).AddEvent("host_key", trace.WithAttributes(
		attribute.String("fairlead.hop", k.Hop), attribute.String("server.address", k.Addr), attribute.String("fairlead.key.type", k.Type),
		attribute.String("fairlead.key.fingerprint", k.Fingerprint), attribute.Bool("fairlead.key.trusted", k.Err == nil)))
}

func (s *spans) authTried(ctx context.Context, _ hosts.Host, a session.AuthTry) {
	find(&s.dials, ctx).AddEvent("auth_tried", trace.WithAttributes(
		attribute.String("fairlead.hop", a.Hop), attribute.String("server.address", a.Addr), attribute.String("user.name", a.User),
		attribute.String("fairlead.auth.method", a.Method), attribute.String("fairlead.key.fingerprint", a.Fingerprint),
		attribute.Bool("fairlead.auth.accepted", a.Accepted)))
}

func (s *spans) dialDone(ctx context.Context, _ hosts.Host, p session.Peer, _ time.Duration, err error) {
	span := find(&s.dials, ctx)
	s.dials.Delete(ctx)
	if err != nil {
		failed(span, dialCode(err))
	} else {
		span.SetAttributes(attribute.String("server.address", p.Addr), attribute.String("user.name", p.User))
	}
	span.End()
}

func (s *spans) judged(ctx context.Context, h hosts.Host, exec string, d policy.Decision) {
	_, span := s.tracer.Start(ctx, "fairlead.command", host(h), trace.WithAttributes(
		attribute.String("fairlead.exec", exec), attribute.String("fairlead.verdict", d.Verdict.String()),
		attribute.String("fairlead.class", string(d.Class)), attribute.String("fairlead.rule", d.Rule)))
	s.commands.Store(exec, span)
}

func (s *spans) sent(_ context.Context, _ hosts.Host, exec string, bytes int) {
	find(&s.commands, exec).AddEvent("sent", trace.WithAttributes(attribute.Int("fairlead.bytes", bytes)))
}

func (s *spans) firstByte(_ context.Context, _ hosts.Host, exec string) {
	find(&s.commands, exec).AddEvent("first_byte")
}

func (s *spans) ladderStep(_ context.Context, _ hosts.Host, exec, step string) {
	find(&s.commands, exec).AddEvent("ladder", trace.WithAttributes(attribute.String("fairlead.step", step)))
}

func (s *spans) done(ctx context.Context, r session.Result) {
	var span trace.Span
	if begun, ok := s.commands.LoadAndDelete(r.Exec); ok {
		span = begun.(trace.Span)
	} else { // it was refused before the policy was asked, as where the session is busy
		_, span = s.tracer.Start(ctx, "fairlead.command", trace.WithTimestamp(r.Started), host(hosts.Host{Name: r.Host}),
			trace.WithAttributes(attribute.String("fairlead.exec", r.Exec)))
	}
	span.SetAttributes(
		attribute.String("fairlead.session", r.Session), attribute.String("fairlead.status", string(r.Status)), attribute.String("fairlead.lane", r.Lane),
		attribute.Bool("fairlead.own", r.Own), attribute.Int64("fairlead.stdout_bytes", r.StdoutBytes), attribute.Int64("fairlead.stderr_bytes", r.StderrBytes))
	if r.ExitCode != nil {
		span.SetAttributes(attribute.Int("process.exit.code", *r.ExitCode))
	}
	if r.Err != nil {
		failed(span, r.Err.Code)
	}
	span.End()
}

// failed gives a span the code of an error. The error's text stays out: a policy's reason may quote the command.
func failed(span trace.Span, code string) {
	span.SetStatus(codes.Error, code)
	span.SetAttributes(attribute.String("error.type", code))
}
