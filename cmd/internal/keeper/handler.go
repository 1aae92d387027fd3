package keeper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/fairlead-ssh/fairlead/cmd/internal/jsontext"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/limit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/runs"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// handler is the way of every request: bounded, known, whole, and only then routed.
func (k *Keeper) handler(identify func(*http.Request) (*access.Caller, *wire.Problem), named access.Naming) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer k.answering.Add(-1)
		w = k.bound(w, r)
		n, open := k.enter()
		if !open {
			k.refuse(w, "ending", problem.ErrEnding)
			return
		}
		if n > maxRequests {
			k.refuse(w, "full", &wire.Problem{Status: http.StatusServiceUnavailable, Code: "full", Retriable: true, Detail: "too many requests are in progress"})
			return
		}
		defer k.survive(w)
		if why := named.Foreign(r); why != "" {
			k.refuse(w, "foreign", problem.New(http.StatusForbidden, "forbidden", "%s", why))
			return
		}
		if p := route.UnknownHeader(r.Header); p != nil {
			k.refuse(w, "header", p)
			return
		}
		if p := badAsker(r.Header); p != nil {
			k.refuse(w, "header", p)
			return
		}
		c, p := identify(r)
		if p != nil {
			if p.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			k.refuse(w, "identity", p)
			return
		}
		rate, burst := float64(limit.SocketRate), float64(limit.SocketBurst)
		if c.Bucket != "" {
			rate, burst = k.cfg.tokenRate, k.cfg.tokenBurst
		}
		if wait := k.limiter.Admit(c.Bucket+c.Principal, rate, burst, time.Now()); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			k.refuse(w, "rate", &wire.Problem{Status: http.StatusTooManyRequests, Code: "rate", Retriable: true, Detail: "too many requests"})
			return
		}
		free, p := k.whole(w, r, c)
		if p != nil {
			k.refuse(w, "body", p)
			return
		}
		defer free()
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		ctx := k.below(r)
		if c.Use != nil {
			var leave func()
			ctx, leave = c.Use(ctx)
			defer leave()
			if p := access.Over(ctx); p != nil {
				k.refuse(w, "identity", p)
				return
			}
			w = stream.WhileRightful(ctx, w, k.refuse)
		}
		ctx = context.WithValue(context.WithValue(ctx, access.CallerKey{}, c), limit.BodyKey{}, free)
		ctx, end := withAsker(connect.WithAuthSock(ctx, c.AuthSock), c, r)
		defer end()
		k.api.ServeHTTP(w, r.WithContext(ctx))
	})
}

// below is the context of a request, with the span that the caller says it is part of.
func (k *Keeper) below(r *http.Request) context.Context {
	if k.cfg.Spans == nil {
		return r.Context()
	}
	return propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
}

func (k *Keeper) refuse(w http.ResponseWriter, reason string, p *wire.Problem) {
	k.metrics.refused(reason)
	problem.Write(w, p)
}

// survive keeps one broken request from taking the others with it. What it was about is not logged.
func (k *Keeper) survive(w http.ResponseWriter) {
	err := recover()
	if err == nil {
		return
	}
	if e, ok := err.(error); ok && errors.Is(e, http.ErrAbortHandler) {
		panic(err)
	}
	k.log.Printf("a request ended in a panic of type %T\n%s", err, debug.Stack())
	problem.Write(w, problem.New(http.StatusInternalServerError, "error", "the keeper has made a mistake: its log says where"))
}

// bound bounds the times of a request: of reading its answer, and of its body, that of one which is refused as well, for
// the server reads what is left of it. Bounding the time of reading alone would end long waits too, so whole takes that
// bound away, and the time of reading begins with the answer that is returned.
func (k *Keeper) bound(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Now().Add(k.cfg.waitTime))
	if hasBody(r) {
		_ = rc.SetReadDeadline(time.Now().Add(k.cfg.bodyTime))
	}
	return newAnswer(w, k.cfg.readTime)
}

func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// whole reads the body of a request within its bounds: one that is read piece by piece by a handler may come as slowly as
// its sender likes. That is how standard input comes, which is left to its handler. free is called when the request ends.
func (k *Keeper) whole(w http.ResponseWriter, r *http.Request, c *access.Caller) (free func(), p *wire.Problem) {
	free = func() {}
	if !hasBody(r) || runs.IsStdin(r) {
		return free, nil
	}
	most, within := k.bodyLimit(c, r)
	if r.ContentLength > most {
		return nil, problem.TooLarge(most)
	}
	size, copies := r.ContentLength, int64(limit.CopiesOfText)
	if size < 0 {
		size = most
	}
	if isFile(r) {
		copies = limit.CopiesOfFile
	}
	if free, p = k.bodies.Take(r.Context(), c.Principal, access.Own(c), size*copies, within); p != nil {
		return nil, p
	}
	if p := k.readWhole(w, r, most, within); p != nil {
		free()
		return nil, p
	}
	return free, nil
}

func (k *Keeper) readWhole(w http.ResponseWriter, r *http.Request, most int64, within time.Duration) *wire.Problem {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(within))
	var read bytes.Buffer
	switch {
	case r.ContentLength > 0:
		read.Grow(int(r.ContentLength) + bytes.MinRead) // without growing, which copies
	case isFile(r):
		read.Grow(int(most) + bytes.MinRead) // so much was taken of the budget
	}
	_, err := read.ReadFrom(http.MaxBytesReader(w, r.Body, most))
	text := read.Bytes()
	var (
		large *http.MaxBytesError
		slow  net.Error
	)
	switch {
	case errors.As(err, &large):
		return problem.TooLarge(most)
	case errors.As(err, &slow) && slow.Timeout():
		w.Header().Set("Connection", "close")
		return problem.New(http.StatusRequestTimeout, "timeout", "the body did not come within %v", within)
	case err != nil:
		return problem.New(http.StatusBadRequest, "invalid", "the body was truncated")
	}
	_ = rc.SetReadDeadline(time.Time{})
	r.Body = &wholeBody{text}
	if isFile(r) {
		return nil
	}
	if string(bytes.TrimSpace(text)) == "null" { // as some clients write nothing
		r.Body, r.ContentLength = http.NoBody, 0
		return nil
	}
	return exact(r, text)
}

// exact refuses a body that would not be read as it is: another command would be judged and run than the one that was sent. Agents
// are told so in their own protocol.
func exact(r *http.Request, body []byte) *wire.Problem {
	if r.URL.Path == mcpPath {
		return nil
	}
	err := jsontext.Check(body)
	if two, ok := errors.AsType[*jsontext.TwiceError](err); ok {
		return problem.New(http.StatusBadRequest, registry.CodeInvalid, "invalid JSON: %v: send each name once", two)
	}
	if err != nil {
		return problem.New(http.StatusBadRequest, registry.CodeInvalid,
			"invalid JSON: %v. Send a binary command to POST %s as command_b64, and the content of a file to PUT %s", err, runs.Path, filesPath)
	}
	return nil
}

// wholeBody is a body in memory. It lets go of what was read to its end: the request lives until its answer ends.
type wholeBody struct{ rest []byte }

func (b *wholeBody) Read(p []byte) (int, error) {
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 {
		b.rest = nil
		if len(p) > 0 {
			return n, io.EOF
		}
	}
	return n, nil
}

func (b *wholeBody) Close() error { return nil }

// rest is what is left of a body, which a wholeBody gives away without a copy.
func rest(r io.Reader) ([]byte, error) {
	if b, ok := r.(*wholeBody); ok {
		all := b.rest
		b.rest = nil
		return all, nil
	}
	return io.ReadAll(r)
}
