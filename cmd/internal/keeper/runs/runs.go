// Package runs owns commands whose caller takes the output as it comes: on one host or in a session, or on many hosts as one
// request, which is judged as a whole, approved once, rolled out, and kept to be looked at and run again. It also owns the bodies
// that come and go meanwhile, and what is told once more to whoever asks again.
package runs

import (
	"bytes"
	"context"
	"errors"
	"log"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type newRunIn struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a retry with the same key and the same request returns the same run for 24 hours, without its live output"`
	Body wire.NewRun
}

type stopRunIn struct {
	ID string `path:"id" maxLength:"80" doc:"of a run of one's own"`
}

// Config says what runs need. Store may be nil: then nothing is kept of them.
type Config struct {
	Realms   *realm.Book
	Onces    *onlyonce.Book
	Store    *runstore.Store
	Secrets  *redact.Set
	Approver policy.Approver
	Log      *log.Logger
	BodyTime time.Duration // bounds reading what is left of a body that nobody wants
}

// Runs are all runs of a keeper. Make one with New.
type Runs struct {
	Config
	open   *openRuns
	retold retellings
}

// New returns the runs of a keeper that has none yet.
func New(cfg Config) *Runs { return &Runs{Config: cfg, open: newOpenRuns()} }

// Add adds the routes of runs.
func (rs *Runs) Add(a *route.API, mux *http.ServeMux) {
	const tag = "runs"
	route.AddStream(a, route.Route{Method: "POST", Path: Path, ID: "start-run", Tag: tag, Need: access.NeedRun, Body: MaxBody,
		Summary: "Run a command whose output comes as it is printed: events “output”, “waiting” for an approval, and “end”; of many hosts, which are one request, also “hosts” first, “begin”, “stdin” and “result”; of a rollout also “batch”, “verified” and “confirm”. It is stopped when the caller goes away"}, rs.startRun)
	route.Add(a, route.Route{Method: "POST", Path: "/v1/runs/{id}/stop", ID: "stop-run", Tag: tag, Need: access.NeedRun, Status: http.StatusAccepted,
		Summary: "Stop a run step by step; its stream reports the end"},
		func(_ context.Context, c *access.Caller, in *stopRunIn) (*route.None, error) {
			if !rs.open.stop(c.Principal, in.ID) {
				return nil, problem.NotFound("run", in.ID)
			}
			return nil, nil
		})
	rs.addConfirm(a)
	rs.addKeptRuns(a)
	rs.addStdin(a, mux)
	rs.addFilesOut(a, mux)
}

// run is a command whose caller takes the output as it comes.
type run struct {
	rs      *Runs
	c       *access.Caller
	in      *newRunIn
	e       *registry.Entry
	cmd     registry.Command
	consent livepolicy.Consent
	asks    bool // somebody was asked to approve it
	log     *retelling
}

// running runs what a request asks for, and tells its caller. It notes what it tells, and calls undo, before the end is
// told, where the run came to nothing.
type running func(hc huma.Context, log *retelling, undo func())

// startRun checks a request, and runs it once the caller has been told that it is heard. One that was made before with its
// key is told once more.
func (rs *Runs) startRun(ctx context.Context, c *access.Caller, in *newRunIn) (func(huma.Context), error) {
	engine, err := rs.Realms.Admit(c)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	if err := rs.rerun(c, b); err != nil {
		return nil, err
	}
	source, err := sourceOf(c, b)
	if err != nil {
		return nil, problem.Invalid("%v", err)
	}
	if b.Answered != "" && !b.Confirm && b.BreakGlass == "" {
		return nil, problem.Invalid("answered says how confirm or break_glass was given, and neither is there")
	}
	script, words, err := params.Script(engine.Limits(c.Principal), source, b.Program, b.Args)
	if err != nil {
		return nil, err
	}
	prepare := rs.prepareRun
	if len(b.Hosts) > 0 || b.Selector != "" {
		prepare = rs.prepareFleet
	}
	asked := struct {
		Inventory string
		Run       wire.NewRun
	}{c.Where(), *b}
	asked.Run.ID = ""
	var mine running
	told, err := onlyonce.Do(ctx, rs.Onces, c.Principal, in.Key, asked, func() (t *retold, err error) {
		mine, err = prepare(ctx, c, in, engine, script, words)
		return newRetold(in.Key), err
	})
	switch {
	case err != nil:
		return nil, err
	case mine == nil:
		return told.again(c)
	}
	return func(hc huma.Context) {
		log := told.log.Load()
		defer func() { // also after a panic: others may wait for its end
			log.end()
			rs.retold.keep(told)
		}()
		mine(hc, log, func() { rs.Onces.Undo(hc.Context(), c.Principal, in.Key) })
	}, nil
}

// prepareRun gets ready to run a command on one host or in a session.
func (rs *Runs) prepareRun(ctx context.Context, c *access.Caller, in *newRunIn, engine *rules.Engine, script string, words []string) (_ running, err error) {
	limits, b := engine.Limits(c.Principal), &in.Body
	x := &run{rs: rs, c: c, in: in, cmd: registry.Command{Script: script, Program: words != nil, Held: b.Held, Reason: b.Reason}}
	if x.cmd.Timeout, err = params.Timeout(c, limits, b.TimeoutS); err != nil {
		return nil, err
	}
	if x.cmd.Idle, err = params.Seconds("idle_s", b.IdleS, 0, route.MaxTimeout); err != nil {
		return nil, err
	}
	done, err := x.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	if x.consent, err = rs.Realms.Consent(c, x.e.Host().Name, script, &wire.Run{Reason: b.Reason, Confirm: b.Confirm, BreakGlass: b.BreakGlass}); err != nil {
		return nil, err
	}
	x.consent.At = b.Answered
	// From here on it can be stopped, also before it is known to have begun.
	rctx, leave, err := rs.open.begin(c.Principal, b.ID, going{})
	if err != nil {
		return nil, err
	}
	return func(hc huma.Context, log *retelling, undo func()) {
		defer done()
		defer leave()
		x.log = log
		x.serve(hc, rctx, undo)
	}, nil
}

// forMany names a field that only a run on many hosts has use for; "" is none.
func forMany(b *wire.NewRun) string {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"sums", len(b.Sums) > 0}, {"partial", b.Partial}, {"forks", b.Forks != 0}, {"connect_timeout_s", b.ConnectTimeoutS != nil},
		{"shell", b.Shell != ""}, {"become", b.Become != ""}, {"stdin", b.Stdin}, {"quiet", b.Quiet}, {"keep", b.Keep != 0}, {"redact", b.Redact},
		{"commands", b.Commands != nil}, {"rollout", b.Rollout != nil}, {"copy", b.Copy != nil}, {"keep_run", b.KeepRun}, {"job_id", b.Job != ""},
	} {
		if f.set {
			return f.name
		}
	}
	return ""
}

// enter finds the session, or makes one for this command alone; done gives it back.
func (x *run) enter(ctx context.Context) (done func(), err error) {
	b := &x.in.Body
	unused := forMany(b)
	switch {
	case (b.Host == "") == (b.Session == ""):
		return nil, problem.Invalid("a run takes a host, a session, hosts or a selector")
	case unused != "":
		return nil, problem.Invalid("%s has no effect on a single host or a session: remove it, or name the host in hosts", unused)
	case b.Session != "":
		x.e, err = x.rs.Realms.Entry(ctx, x.c, b.Session)
		return func() {}, err
	}
	r, leave, err := x.rs.Realms.Of(x.c)
	if err != nil {
		return nil, err
	}
	h, err := r.Host(b.Host)
	if err == nil {
		x.e, err = r.Reg.Once(registry.OpenRequest{Principal: x.c.Principal, Host: h})
	}
	if err != nil {
		leave()
		return nil, err
	}
	return func() {
		x.e.Close()
		leave()
	}, nil
}

// serve runs the command and tells what becomes of it. It ends with stopped, and with the caller.
func (x *run) serve(hc huma.Context, stopped context.Context, undo func()) {
	s, req := stream.Start(hc)
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer context.AfterFunc(stopped, cancel)()
	if x.c.Bucket == "" {
		s.Patient = req.Context() // of this account's own: as slow as whoever reads its output
		defer context.AfterFunc(s.Patient, s.Hurry)()
	}
	out := newRunOutput(s, cancel, x.log)
	defer out.wait()
	end := x.toTheEnd(ctx, out)
	if e := end.Result.Error; e != nil && !*e.Sent && !x.asks {
		undo()
	}
	out.send("end", end)
}

// toTheEnd runs the command, in the directory that was asked for.
func (x *run) toTheEnd(ctx context.Context, out *runOutput) wire.RunEnd {
	x.in.Body.BreakGlass, x.in.Body.Confirm = "", false
	ctx = context.WithValue(ctx, livepolicy.ConsentKey{}, x.consent)
	if dir := x.in.Body.CWD; dir != "" {
		word, err := framing.Quote(dir)
		if err != nil {
			return x.refusal(invalidDir(x.e.Host().Name, err))
		}
		end, ok := x.command(ctx, registry.Command{Script: "cd -- " + word, Reason: x.cmd.Reason}, registry.Live{Stderr: out.of(registry.Stderr)}, out)
		if !ok {
			return end
		}
	}
	end, _ := x.command(ctx, x.cmd, registry.Live{Stdout: out.of(registry.Stdout), Stderr: out.of(registry.Stderr)}, out)
	return end
}

func invalidDir(host string, err error) *session.Error {
	return &session.Error{Op: "run", Host: host, Code: registry.CodeInvalid, Err: err}
}

// command runs one command to its end, and reports whether it succeeded.
func (x *run) command(ctx context.Context, cmd registry.Command, live registry.Live, out *runOutput) (wire.RunEnd, bool) {
	sctx, stop := context.WithTimeout(ctx, route.BeforeSending)
	ex, err := x.e.StartLive(sctx, cmd, live)
	stop()
	if err != nil {
		return x.refusal(err), false
	}
	if ex.Awaiting() {
		x.asks = true
		out.send("waiting", wire.RunWaits{Exec: ex.ID()})
	}
	if ex.Wait(ctx) != nil {
		ex.Stop()
	}
	v, err := ex.View(registry.Budgets{})
	if err != nil {
		return x.refusal(err), false
	}
	if x.in.Body.Session == "" {
		ex.Forget() // who asked has all of it
	}
	return endOf(&v.Result, v.Redacted.Kinds), v.Result.Status == session.StatusOK
}

// endOf is what is told of a command that has ended.
func endOf(r *session.Result, taken map[string]int) wire.RunEnd {
	return wire.RunEnd{Result: wire.ResultOf(r, taken)}
}

// refusal is the end of a command that never was one.
func (x *run) refusal(err error) wire.RunEnd {
	var se *session.Error
	if !errors.As(err, &se) {
		se = &session.Error{Op: "run", Host: x.e.Host().Name, Code: "error", Err: err}
	}
	r := session.Result{
		Host: x.e.Host().Name, Session: x.e.ID(), Command: x.cmd.Script, State: session.Done, Status: session.StatusError, Lane: "session", Err: se,
	}
	return endOf(&r, nil)
}

// runOutput sends what a run prints. When its reader is gone the run is stopped.
//
// One goroutine writes whatever has come while it wrote before: many hosts that say a little each take few writes, and none of
// them waits for the reader to have its turn.
type runOutput struct {
	broken func()
	s      *stream.Events

	mu      sync.Mutex // guards what follows: output may come while a command is told to wait
	log     *retelling // nil where nobody may ask for it again
	over    bool
	buf     bytes.Buffer // what comes next
	writing bool
	room    sync.Cond
}

func newRunOutput(s *stream.Events, broken func(), log *retelling) *runOutput {
	o := &runOutput{s: s, broken: broken, log: log}
	o.room.L = &o.mu
	return o
}

func (o *runOutput) send(kind string, data any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sendLocked(kind, data)
}

func (o *runOutput) sendLocked(kind string, data any) {
	o.log.add(kind, data)
	for o.buf.Len() >= stream.ChunkBytes && !o.over {
		o.room.Wait()
	}
	if o.over {
		return
	}
	if stream.Append(&o.buf, kind, "", data) != nil {
		o.lost()
		return
	}
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

func (o *runOutput) lost() {
	o.over = true
	o.broken()
}

// write writes what has come, until nothing is left.
func (o *runOutput) write() {
	var next bytes.Buffer
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.buf.Len() > 0 && !o.over {
		next, o.buf = o.buf, next
		o.room.Broadcast()
		o.mu.Unlock()
		failed := o.s.Write(next.Bytes()) != nil || o.s.Flush() != nil
		next.Reset()
		o.mu.Lock()
		if failed && !o.over {
			o.lost()
		}
	}
	o.writing = false
	o.room.Broadcast()
}

// wait returns once all is written: from then on nothing is.
func (o *runOutput) wait() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing {
		o.room.Wait()
	}
	o.over = true
}

func (o *runOutput) of(stream string) *runStream { return &runStream{o: o, name: stream} }

// runStream is one stream of one command. It is used by one goroutine at a time.
type runStream struct {
	o    *runOutput
	name string
	at   int64
	as   func(wire.Chunk) any // what is sent; nil is the piece itself
}

// Write sends p. A reader that takes nothing holds the command back.
func (r *runStream) Write(p []byte) (int, error) {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	for rest := p; len(rest) > 0; {
		piece := rest[:min(len(rest), stream.ChunkBytes)]
		rest = rest[len(piece):]
		c := wire.Chunk{Stream: r.name, Offset: r.at}
		c.Encoding, c.Data = wire.Encode(piece, utf8.Valid(piece) && shorter(piece))
		r.at += int64(len(piece))
		if r.as == nil {
			r.o.sendLocked("output", c)
		} else {
			r.o.sendLocked("output", r.as(c))
		}
	}
	return len(p), nil
}

// shorter reports whether text is shorter as such than in base64: JSON makes six bytes of most control characters.
func shorter(text []byte) bool {
	more := 0
	for _, c := range text {
		switch {
		case c == '\n', c == '\r', c == '\t', c == '"', c == '\\':
			more++
		case c < ' ':
			more += 5
		}
	}
	return more <= len(text)/3
}
