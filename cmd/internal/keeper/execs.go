package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type runIn struct {
	ID   string `path:"id" maxLength:"80" doc:"id or name of a session of one's own"`
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"the same key with the same request gives the same exec, for 24 hours"`
	Body wire.Run

	RawBody []byte // an empty command is one, and none is a mistake
}

type resultOut struct {
	Status int
	Body   *wire.Result
}

type execIn struct {
	ID    string  `path:"id" maxLength:"80" doc:"of a command of one's own"`
	WaitS float64 `query:"wait_s" minimum:"0" doc:"wait so many seconds for its end (default 0, at most 50)"`
	Max   int     `query:"max_bytes" minimum:"0" maximum:"4194304" doc:"of each stream (default 65536)"`
}

type stopIn struct {
	ID string `path:"id" maxLength:"80"`
}

type pageIn struct {
	ID     string  `path:"id" maxLength:"80" doc:"of a command of one's own"`
	Stream string  `query:"stream" enum:"stdout,stderr" default:"stdout"`
	Offset int64   `query:"offset" minimum:"0"`
	Limit  int     `query:"limit" minimum:"0" maximum:"4194304" doc:"bytes (default 262144)"`
	WaitS  float64 `query:"wait_s" minimum:"0" doc:"wait so many seconds for something at that offset"`
}

func (k *Keeper) addExecs(a *route.API) {
	const tag = "execs"
	route.Add(a, route.Route{Method: "POST", Path: "/v1/sessions/{id}/execs", ID: "run", Summary: "Run a command in a session", Tag: tag, Need: access.NeedRun, Also: route.WhileItRuns}, k.run)
	route.Add(a, route.Route{Method: "GET", Path: "/v1/execs/{id}", ID: "get-exec", Summary: "A command as it is now; waits for its end if asked to", Tag: tag, Need: access.NeedSee, Also: route.WhileItRuns}, k.look)
	route.Add(a, route.Route{Method: "POST", Path: "/v1/execs/{id}/stop", ID: "stop-exec", Summary: "Stop a command step by step", Tag: tag, Need: access.NeedRun, Also: route.WhileItRuns},
		func(ctx context.Context, c *access.Caller, in *stopIn) (*resultOut, error) {
			x, err := k.realms.Exec(c, in.ID)
			if err != nil {
				return nil, err
			}
			x.Stop()
			return k.show(c, x, output.Budget{})
		})
	route.Add(a, route.Route{Method: "POST", Path: "/v1/execs/{id}/input", ID: "input", Summary: "Type at a command, or send it a signal", Tag: tag, Need: access.NeedRun, Also: route.WhileItRuns}, k.input)
	route.Add(a, route.Route{Method: "GET", Path: "/v1/execs/{id}/output", ID: "page", Summary: "Exact output by offset", Tag: tag, Need: access.NeedSee}, k.page)
}

// hasCommand reports whether a body says a command, which may be empty: null is none.
func hasCommand(body []byte) bool {
	var said struct {
		Command *string `json:"command"`
	}
	return json.Unmarshal(body, &said) == nil && said.Command != nil
}

// run starts a command and waits for its end. What a caller leaves behind goes on: stop ends it.
func (k *Keeper) run(ctx context.Context, c *access.Caller, in *runIn) (*resultOut, error) {
	engine, err := k.realms.Admit(c)
	if err != nil {
		return nil, err
	}
	limits := engine.Limits(c.Principal)
	b := &in.Body
	if b.Command == "" && b.Program == "" && !hasCommand(in.RawBody) {
		return nil, problem.Invalid("give command, or program and args")
	}
	script, words, err := params.Script(limits, b.Command, b.Program, b.Args)
	if err != nil {
		return nil, err
	}
	wait, err := params.Seconds("wait_s", b.WaitS, route.DefaultWait, route.MaxWait)
	if err != nil {
		return nil, err
	}
	timeout, err := params.Timeout(c, limits, b.TimeoutS)
	if err != nil {
		return nil, err
	}
	idle, err := params.Seconds("idle_s", b.IdleS, 0, route.MaxTimeout)
	if err != nil {
		return nil, err
	}
	budget, err := budgetOf(b.Output, limits)
	if err != nil {
		return nil, err
	}
	if !b.Interactive && (b.Rows != 0 || b.Cols != 0) {
		return nil, problem.Invalid("rows and cols are for an interactive command; remove them, or set interactive")
	}
	e, err := k.realms.Entry(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	yes, err := k.realms.Consent(c, e.Host().Name, script, b)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, livepolicy.ConsentKey{}, yes)
	x, err := k.execOnce(ctx, c, in.Key, struct {
		Session string
		Run     wire.Run
	}{e.ID(), asked(b)}, func() (*registry.Exec, error) {
		sctx, stop := context.WithTimeout(ctx, route.BeforeSending)
		defer stop()
		return e.Start(sctx, registry.Command{
			Script: script, Program: words != nil, Reason: b.Reason, RequestID: in.Key, Timeout: timeout, Idle: idle, Merged: b.Merged,
			SlotWait:    max(wait, time.Millisecond),
			Interactive: b.Interactive, Size: session.Size{Rows: b.Rows, Cols: b.Cols},
		})
	})
	if err != nil {
		return nil, err
	}
	k.await(ctx, x, wait, registry.Wait{Prompt: b.Interactive})
	withdrawn(ctx, x)
	return k.show(c, x, budget)
}

// execOnce starts a command for the first of equal requests with a key; others get the same one. What was refused before
// anything was sent may be asked for again.
func (k *Keeper) execOnce(ctx context.Context, c *access.Caller, key string, request any, begin func() (*registry.Exec, error)) (*registry.Exec, error) {
	var mine *registry.Exec
	id, err := onlyonce.Do(ctx, k.onces, c.Principal, key, request, func() (string, error) {
		x, err := begin()
		if err != nil {
			return "", err
		}
		if mine = x; x.Unsent() {
			err = errUnsent
		}
		return x.ID(), err
	})
	switch {
	case mine != nil:
		return mine, nil
	case err != nil:
		return nil, err
	}
	x, err := k.realms.Exec(c, id)
	if err != nil && problem.Of(err).Status == http.StatusNotFound {
		return nil, problem.New(http.StatusGone, registry.CodeGone, "that request has run as %s, and its output is not kept any more", id)
	}
	return x, err
}

// errUnsent says that a request came to nothing; who made it is told what its command says.
var errUnsent = errors.New("nothing was sent")

// asked is what of a request makes it another one: not how long its caller waits, or what it wants to see.
func asked(b *wire.Run) wire.Run {
	r := *b
	r.WaitS, r.Output = nil, nil
	return r
}

// await waits for a command. Waiting that takes no time needs no timer.
func (k *Keeper) await(ctx context.Context, x *registry.Exec, wait time.Duration, w registry.Wait) {
	if wait <= 0 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	if w == (registry.Wait{}) {
		_ = x.Wait(ctx) // what it is then is shown
		return
	}
	x.WaitFor(ctx, w)
}

// withdrawn takes a command back that waits for an approval when whoever has asked for it has hung up before they were
// answered: nobody would hear what becomes of it, and it has a place at the desk and on its host.
func withdrawn(ctx context.Context, x *registry.Exec) {
	if ctx.Err() != nil {
		x.Withdraw()
	}
}

func (k *Keeper) look(ctx context.Context, c *access.Caller, in *execIn) (*resultOut, error) {
	x, err := k.realms.Exec(c, in.ID)
	if err != nil {
		return nil, err
	}
	limits, err := k.realms.Limits(c)
	if err != nil {
		return nil, err
	}
	wait, err := params.Seconds("wait_s", &in.WaitS, 0, route.MaxWait)
	if err != nil {
		return nil, err
	}
	budget, err := budgetOf(&wire.Output{MaxBytes: in.Max}, limits)
	if err != nil {
		return nil, err
	}
	k.await(ctx, x, wait, registry.Wait{})
	return k.show(c, x, budget)
}

// show tells what is known of a command: 200 once it is done, 202 before.
func (k *Keeper) show(_ *access.Caller, x *registry.Exec, b output.Budget) (*resultOut, error) {
	v, err := x.View(registry.Budgets{Stdout: b, Stderr: b})
	if err != nil {
		return nil, err
	}
	out := &resultOut{Status: http.StatusOK, Body: wire.ResultOf(&v.Result, v.Redacted.Kinds)}
	out.Body.File = factsOf(x)
	if v.Result.State == session.Done {
		return out, nil
	}
	out.Status = http.StatusAccepted
	out.Body.Typed = typedJSON(x)
	if v.Result.State == session.Running {
		if w := x.Waiting(); w.Kind != "" {
			out.Body.WaitingFor = &wire.Waiting{Kind: string(w.Kind), Prompt: w.Prompt}
		}
	}
	return out, nil
}

func (k *Keeper) page(ctx context.Context, c *access.Caller, in *pageIn) (*route.Body[wire.Page], error) {
	x, err := k.realms.Exec(c, in.ID)
	if err != nil {
		return nil, err
	}
	limits, err := k.realms.Limits(c)
	if err != nil {
		return nil, err
	}
	wait, err := params.Seconds("wait_s", &in.WaitS, 0, route.MaxWait)
	if err != nil {
		return nil, err
	}
	limit := in.Limit
	if limit == 0 {
		limit = route.DefaultPage
	}
	limit = int(limits.Output(int64(limit)))
	p, err := x.Page(in.Stream, in.Offset, limit)
	if err == nil && len(p.Text) == 0 && !p.End && wait > 0 {
		wctx, stop := context.WithTimeout(ctx, wait)
		p, err = follow(wctx, x, in.Stream, in.Offset, limit)
		stop()
	}
	if err != nil {
		return nil, err
	}
	out := &wire.Page{Stream: in.Stream, Offset: p.Offset, Next: p.Next, End: p.End, Skipped: p.Skipped}
	out.Encoding, out.Data = wire.Encode(p.Text, utf8.Valid(p.Text))
	return route.JSON(out), nil
}

// follow waits until there is something at an offset, the stream has ended, or ctx has.
func follow(ctx context.Context, x *registry.Exec, stream string, offset int64, limit int) (output.Page, error) {
	for {
		more := x.Changed()
		p, err := x.Page(stream, offset, limit)
		if err != nil || len(p.Text) > 0 || p.End {
			return p, err
		}
		select {
		case <-more:
		case <-x.Done():
			return x.Page(stream, offset, limit)
		case <-ctx.Done():
			return p, nil
		}
	}
}

// budgetOf checks how much of each stream is wanted.
func budgetOf(o *wire.Output, limits rules.Limits) (output.Budget, error) {
	b := output.Budget{MaxBytes: output.DefaultMaxBytes}
	if o != nil {
		b.Head, b.Tail, b.Grep, b.Context = o.Head, o.Tail, o.Grep, o.Context
		if o.MaxBytes > 0 {
			b.MaxBytes = min(o.MaxBytes, route.MaxPage)
		}
		if o.Context > 0 && o.Grep == "" {
			return b, problem.Invalid("output: context is about the lines that grep finds; add grep")
		}
	}
	b.MaxBytes = int(limits.Output(int64(b.MaxBytes)))
	if err := b.Validate(); err != nil {
		return b, problem.Invalid("output: %v", err)
	}
	return b, nil
}
