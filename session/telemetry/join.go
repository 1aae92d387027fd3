package telemetry

import (
	"context"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Join returns a Trace that calls the hooks of all traces, in order. Nil traces are left out.
func Join(traces ...*session.Trace) *session.Trace {
	all := &session.Trace{}
	for _, t := range traces {
		if t == nil {
			continue
		}
		all.DialStart = both2(all.DialStart, t.DialStart)
		all.HostKey = both3(all.HostKey, t.HostKey)
		all.AuthTried = both3(all.AuthTried, t.AuthTried)
		all.DialDone = bothDialDone(all.DialDone, t.DialDone)
		all.Judged = both4[hosts.Host, string, policy.Decision](all.Judged, t.Judged)
		all.Sent = both4(all.Sent, t.Sent)
		all.FirstByte = both3(all.FirstByte, t.FirstByte)
		all.LadderStep = both4(all.LadderStep, t.LadderStep)
		all.Done = both2(all.Done, t.Done)
		all.ShellRestarted = both3(all.ShellRestarted, t.ShellRestarted)
		all.ConnClosed = both3(all.ConnClosed, t.ConnClosed)
	}
	return all
}

func both2[A any](f, g func(context.Context, A)) func(context.Context, A) {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(ctx context.Context, a A) { f(ctx, a); g(ctx, a) }
}

func both3[A, B any](f, g func(context.Context, A, B)) func(context.Context, A, B) {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(ctx context.Context, a A, b B) { f(ctx, a, b); g(ctx, a, b) }
}

func both4[A, B, C any](f, g func(context.Context, A, B, C)) func(context.Context, A, B, C) {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(ctx context.Context, a A, b B, c C) { f(ctx, a, b, c); g(ctx, a, b, c) }
}

type dialDone = func(context.Context, hosts.Host, session.Peer, time.Duration, error)

func bothDialDone(f, g dialDone) dialDone {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(ctx context.Context, h hosts.Host, p session.Peer, took time.Duration, err error) {
		f(ctx, h, p, took, err)
		g(ctx, h, p, took, err)
	}
}

func either[F any](f, g F, second bool) F {
	if second {
		return g
	}
	return f
}
