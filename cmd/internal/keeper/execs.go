package keeper

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
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

// whileItRuns is how a command that has not ended is told.
var whileItRuns = []int{http.StatusAccepted}

func (k *Keeper) addExecs(a *api) {
	const tag = "execs"
	add(a, route{method: "POST", path: "/v1/sessions/{id}/execs", id: "run", summary: "Run a command in a session", tag: tag, need: access.NeedRun, also: whileItRuns}, k.run)
	add(a, route{method: "GET", path: "/v1/execs/{id}", id: "get-exec", summary: "A command as it is now; waits for its end if asked to", tag: tag, need: access.NeedSee, also: whileItRuns}, k.look)
	add(a, route{method: "POST", path: "/v1/execs/{id}/stop", id: "stop-exec", summary: "Stop a command step by step", tag: tag, need: access.NeedRun, also: whileItRuns},
		func(ctx context.Context, c *access.Caller, in *stopIn) (*resultOut, error) {
			x, err := k.exec(c, in.ID)
			if err != nil {
				return nil, err
			}
			x.Stop()
			return k.show(c, x, output.Budget{})
		})
	add(a, route{method: "POST", path: "/v1/execs/{id}/input", id: "input", summary: "Type at a command, or send it a signal", tag: tag, need: access.NeedRun, also: whileItRuns}, k.input)
	add(a, route{method: "GET", path: "/v1/execs/{id}/output", id: "page", summary: "Exact output by offset", tag: tag, need: access.NeedSee}, k.page)
}

// run starts a command and waits for its end. What a caller leaves behind goes on: stop ends it.
func (k *Keeper) run(ctx context.Context, c *access.Caller, in *runIn) (*resultOut, error) {
	engine, err := k.admit(c)
	if err != nil {
		return nil, err
	}
	limits := engine.Limits(c.Principal)
	b := &in.Body
	if b.Command == "" && b.Program == "" && !bytes.Contains(in.RawBody, []byte(`"command"`)) {
		return nil, problem.Invalid("give command, or program and args")
	}
	script, words, err := scriptOf(limits, b.Command, b.Program, b.Args)
	if err != nil {
		return nil, err
	}
	wait, err := seconds("wait_s", b.WaitS, defaultWait, maxWait)
	if err != nil {
		return nil, err
	}
	timeout, err := timeoutOf(c, limits, b.TimeoutS)
	if err != nil {
		return nil, err
	}
	idle, err := seconds("idle_s", b.IdleS, 0, maxTimeout)
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
	e, err := k.entry(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	yes, err := k.consentOf(c, e.Host().Name, script, b)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, consentKey{}, yes)
	x, err := k.execOnce(ctx, c, in.Key, struct {
		Session string
		Run     wire.Run
	}{e.ID(), asked(b)}, func() (*registry.Exec, error) {
		sctx, stop := context.WithTimeout(ctx, beforeSending)
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
	id, err := once(ctx, k, c, key, request, func() (string, error) {
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
	x, err := k.exec(c, id)
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

// consentOf is an operator's confirmation for the policy, of this command on this host alone. It takes a person, as an
// approval does.
func (k *Keeper) consentOf(c *access.Caller, host, script string, b *wire.Run) (consent, error) {
	if !b.Confirm && b.BreakGlass == "" {
		return consent{}, nil
	}
	switch {
	case rules.RoleOf(c.Principal) != rules.Operator:
		return consent{}, problem.New(http.StatusForbidden, "forbidden", "an agent's request confirms nothing: that is for a person")
	case b.BreakGlass != "" && b.BreakGlass != host:
		return consent{}, problem.Invalid("break_glass is the name of the host, %s", host)
	case b.BreakGlass != "" && b.Reason == "":
		return consent{}, problem.Invalid("break_glass takes a reason")
	}
	if err := k.trees.Admit(c.Pid); err != nil {
		return consent{}, err
	}
	return consent{script: script, confirm: b.Confirm, glass: b.BreakGlass != ""}, nil
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
	x, err := k.exec(c, in.ID)
	if err != nil {
		return nil, err
	}
	limits, err := k.limits(c)
	if err != nil {
		return nil, err
	}
	wait, err := seconds("wait_s", &in.WaitS, 0, maxWait)
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

func (k *Keeper) page(ctx context.Context, c *access.Caller, in *pageIn) (*body[wire.Page], error) {
	x, err := k.exec(c, in.ID)
	if err != nil {
		return nil, err
	}
	limits, err := k.limits(c)
	if err != nil {
		return nil, err
	}
	wait, err := seconds("wait_s", &in.WaitS, 0, maxWait)
	if err != nil {
		return nil, err
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultPage
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
	return &body[wire.Page]{out}, nil
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

func (k *Keeper) limits(c *access.Caller) (rules.Limits, error) {
	engine, err := k.policy.current()
	if err != nil {
		return rules.Limits{}, problem.New(http.StatusInternalServerError, "policy", "%v", err)
	}
	return engine.Limits(c.Principal), nil
}

// seconds reads a time in seconds; nil means def.
func seconds(name string, s *float64, def, most time.Duration) (time.Duration, error) {
	switch {
	case s == nil:
		return def, nil
	case math.IsNaN(*s) || *s < 0:
		return 0, problem.Invalid("%s must not be negative", name)
	case *s > most.Seconds():
		return most, nil
	}
	return time.Duration(*s * float64(time.Second)), nil
}

// timeoutOf is how long a command may run; zero is no limit, which agents do not get.
func timeoutOf(c *access.Caller, limits rules.Limits, s *float64) (time.Duration, error) {
	def := time.Duration(0)
	if rules.RoleOf(c.Principal) != rules.Operator {
		def = agentTimeout
	}
	d, err := seconds("timeout_s", s, def, maxTimeout)
	if err == nil && s != nil && d == 0 {
		err = problem.Invalid("timeout_s must be more than zero")
	}
	return limits.Timeout(d), err
}

// budgetOf checks how much of each stream is wanted.
func budgetOf(o *wire.Output, limits rules.Limits) (output.Budget, error) {
	b := output.Budget{MaxBytes: output.DefaultMaxBytes}
	if o != nil {
		b.Head, b.Tail, b.Grep, b.Context = o.Head, o.Tail, o.Grep, o.Context
		if o.MaxBytes > 0 {
			b.MaxBytes = min(o.MaxBytes, maxPage)
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
