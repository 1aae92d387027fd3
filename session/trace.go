package session

import (
	"context"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Trace holds functions that are called as things happen, for logs, metrics, spans and tests. Every field may be nil.
// They are called synchronously, from many goroutines, and must return at once; they must not call the session. Package
// session/telemetry makes Traces for OpenTelemetry, Prometheus and slog.
//
// The context of a hook has the values of the caller whose command it is about, also where that caller has left. All
// hooks of one dial get the same context, and [ExecOf] names the command that the dial is for. ConnClosed belongs to no
// caller: its context has no values.
type Trace struct {
	DialStart func(ctx context.Context, h hosts.Host)
	HostKey   func(ctx context.Context, h hosts.Host, k HostKey) // of each hop of the route
	AuthTried func(ctx context.Context, h hosts.Host, a AuthTry) // with each hop of the route
	DialDone  func(ctx context.Context, h hosts.Host, p Peer, took time.Duration, err error)

	Judged         func(ctx context.Context, h hosts.Host, exec string, d policy.Decision)
	Sent           func(ctx context.Context, h hosts.Host, exec string, bytes int)
	FirstByte      func(ctx context.Context, h hosts.Host, exec string)
	LadderStep     func(ctx context.Context, h hosts.Host, exec, step string)
	Done           func(ctx context.Context, r Result)
	ShellRestarted func(ctx context.Context, h hosts.Host, session string)
	ConnClosed     func(ctx context.Context, h hosts.Host, reason error)
}

// HostKey is a host key that was checked.
type HostKey struct {
	Hop         string // the jump host that showed it; "" means the host itself
	Addr        string // "10.0.0.11:22"
	Type        string // "ssh-ed25519", …
	Fingerprint string // SHA256:…
	Err         error  // why it is not trusted; nil where it is
}

// AuthTry is one try to log in, and what the server answered.
type AuthTry struct {
	Hop         string // the jump host that was tried; "" means the host itself
	Addr        string
	User        string
	Method      string // "publickey", …
	From        string // where the key came from: a file, "agent", "given"
	Fingerprint string // of the key; SHA256:…
	Accepted    bool   // the server took it, alone or as one of several that it wants
}

// DialTrace reports the steps of one dial to the [Trace] of the pool that wants it. No field is nil.
type DialTrace struct {
	HostKey   func(HostKey)
	AuthTried func(AuthTry)
}

// TraceDial is for the authors of PoolConfig.Dial: it returns what ctx, which the pool gave to Dial, is traced with.
func TraceDial(ctx context.Context) DialTrace {
	if d, ok := ctx.Value(dialKey{}).(*DialTrace); ok {
		return *d
	}
	return DialTrace{HostKey: func(HostKey) {}, AuthTried: func(AuthTry) {}}
}

type (
	dialKey struct{}
	execKey struct{}
)

// ExecOf returns the id of the command that ctx, from a hook of [Trace], belongs to; "" where that is not known.
func ExecOf(ctx context.Context) string {
	id, _ := ctx.Value(execKey{}).(string)
	return id
}

// dialing returns the context that a dial to h and all its hooks get.
func (t *Trace) dialing(ctx context.Context, h hosts.Host) context.Context {
	if t.HostKey == nil && t.AuthTried == nil {
		return ctx
	}
	d := TraceDial(context.Background())
	ctx = context.WithValue(ctx, dialKey{}, &d)
	if f := t.HostKey; f != nil {
		d.HostKey = func(k HostKey) { f(ctx, h, k) }
	}
	if f := t.AuthTried; f != nil {
		d.AuthTried = func(a AuthTry) { f(ctx, h, a) }
	}
	return ctx
}

// traced returns ctx as the hooks about x get it.
func (x *Exec) traced(ctx context.Context) context.Context {
	return context.WithValue(ctx, execKey{}, x.id)
}

// caller returns the values of x's caller, for hooks that come when that may have left.
func (x *Exec) caller() context.Context {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.values == nil {
		return context.Background()
	}
	return x.values
}
