package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Log returns a Trace that writes a record for each step to l: the ends of commands and dials at level Info, or Warn
// where there is an error, untrusted host keys, steps to stop a command, new shells and lost connections at Warn, and the
// rest at Debug. Records are written with the context of the caller.
func Log(l *slog.Logger) *session.Trace {
	log := func(ctx context.Context, level slog.Level, msg string, h hosts.Host, attrs ...slog.Attr) {
		l.LogAttrs(ctx, level, msg, append([]slog.Attr{slog.String("host", h.Name)}, attrs...)...)
	}
	return &session.Trace{
		DialStart: func(ctx context.Context, h hosts.Host) {
			log(ctx, slog.LevelDebug, "dialing", h, slog.String("exec", session.ExecOf(ctx)))
		},
		HostKey: func(ctx context.Context, h hosts.Host, k session.HostKey) {
			log(ctx, warnIf(k.Err != nil, slog.LevelDebug), "host key checked", h, slog.String("hop", k.Hop), slog.String("addr", k.Addr),
				slog.String("type", k.Type), slog.String("fingerprint", k.Fingerprint), slog.Bool("trusted", k.Err == nil))
		},
		AuthTried: func(ctx context.Context, h hosts.Host, a session.AuthTry) {
			log(ctx, slog.LevelDebug, "login tried", h, slog.String("hop", a.Hop), slog.String("addr", a.Addr), slog.String("user", a.User),
				slog.String("method", a.Method), slog.String("fingerprint", a.Fingerprint), slog.Bool("accepted", a.Accepted))
		},
		DialDone: func(ctx context.Context, h hosts.Host, p session.Peer, took time.Duration, err error) {
			attrs := []slog.Attr{slog.Duration("took", took)}
			if err != nil {
				attrs = append(attrs, slog.String("code", dialCode(err)))
			} else {
				attrs = append(attrs, slog.String("addr", p.Addr), slog.String("user", p.User))
			}
			log(ctx, warnIf(err != nil, slog.LevelInfo), "dialed", h, attrs...)
		},
		Judged: func(ctx context.Context, h hosts.Host, exec string, d policy.Decision) {
			log(ctx, slog.LevelDebug, "command judged", h, slog.String("exec", exec), slog.String("verdict", d.Verdict.String()),
				slog.String("class", string(d.Class)), slog.String("rule", d.Rule))
		},
		Sent: func(ctx context.Context, h hosts.Host, exec string, bytes int) {
			log(ctx, slog.LevelDebug, "command sent", h, slog.String("exec", exec), slog.Int("bytes", bytes))
		},
		FirstByte: func(ctx context.Context, h hosts.Host, exec string) {
			log(ctx, slog.LevelDebug, "first output", h, slog.String("exec", exec))
		},
		LadderStep: func(ctx context.Context, h hosts.Host, exec, step string) {
			log(ctx, slog.LevelWarn, "stopping command", h, slog.String("exec", exec), slog.String("step", step))
		},
		Done: func(ctx context.Context, r session.Result) {
			attrs := []slog.Attr{
				slog.String("session", r.Session), slog.String("exec", r.Exec), slog.String("status", string(r.Status)),
				slog.Duration("took", r.Duration), slog.Int64("stdout_bytes", r.StdoutBytes), slog.Int64("stderr_bytes", r.StderrBytes),
			}
			if r.ExitCode != nil {
				attrs = append(attrs, slog.Int("exit_code", *r.ExitCode))
			}
			if r.Err != nil {
				attrs = append(attrs, slog.String("code", r.Err.Code))
			}
			log(ctx, warnIf(r.Err != nil, slog.LevelInfo), "command ended", hosts.Host{Name: r.Host}, attrs...)
		},
		ShellRestarted: func(ctx context.Context, h hosts.Host, id string) {
			log(ctx, slog.LevelWarn, "shell restarted", h, slog.String("session", id))
		},
		ConnClosed: func(ctx context.Context, h hosts.Host, reason error) {
			log(ctx, warnIf(reason != nil, slog.LevelInfo), "connection closed", h, slog.Bool("lost", reason != nil))
		},
	}
}

func warnIf(bad bool, usual slog.Level) slog.Level {
	if bad {
		return slog.LevelWarn
	}
	return usual
}

// dialCode is the code that a command's Error has after such a dial.
func dialCode(err error) string {
	switch {
	case errors.Is(err, session.ErrHostKey):
		return "hostkey"
	case errors.Is(err, session.ErrAuth):
		return "auth"
	}
	return "unreachable"
}
