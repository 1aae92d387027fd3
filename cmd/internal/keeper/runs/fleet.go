package runs

import (
	"context"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/censor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	consents "github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/bodies"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

const (
	Path    = "/v1/runs"
	MaxBody = 96 << 20 // of the account's own: a script of 64 MiB, in base64
)

// fleet is a command on many hosts, whose caller takes the output as it comes. It is one request: judged as a whole before a
// byte goes to any host, approved once, and one group on record.
type fleet struct {
	rs      *Runs
	c       *access.Caller
	r       *realm.Realm
	engine  *rules.Engine
	in      *wire.NewRun
	hosts   []hosts.Host
	labels  []string
	at      map[targets.Key]int // the place of each
	cmd     session.Command
	inlets  *bodies.Inlets
	outlets *bodies.Outlets // of a download; nil else
	steps   *steps          // nil is all at once
	whole   *consents.Verdict
	yes     livepolicy.Consent
	output  *runOutput
	book    *runstore.Writer // nil where the run is not kept
	turns   *runstore.Writer // gets the hosts whose turn has come: book, or what the caller keeps; nil where neither is there
	job     *jobs.Work       // nil where none is started
}

// onRecord is an id that a record can be found by.
var onRecord = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

// prepareFleet checks a request, judges it, and gets ready to run it.
func (rs *Runs) prepareFleet(ctx context.Context, c *access.Caller, in *newRunIn, engine *rules.Engine, script string, words []string) (_ running, err error) {
	b := &in.Body
	limits := engine.Limits(c.Principal)
	x := &fleet{rs: rs, c: c, engine: engine, in: b, cmd: session.Command{
		Script: script, Program: words != nil, Held: b.Held, Reason: b.Reason, Group: b.ID, Keep: b.Keep,
	}}
	switch {
	case b.Host != "" || b.Session != "" || len(b.Hosts) > 0 && b.Selector != "":
		return nil, problem.Invalid("a run takes a host, a session, hosts or a selector, and one of them")
	case b.CWD != "":
		return nil, problem.Invalid("cwd is for a single host or a session")
	case len(b.Commands) > 0 && len(b.Commands) != len(b.Hosts):
		return nil, problem.Invalid("commands has one for each of hosts")
	case len(b.Sums) > 0 && len(b.Sums) != len(b.Hosts):
		return nil, problem.Invalid("sums has one for each of hosts")
	}
	if x.cmd.Timeout, err = params.Timeout(c, limits, b.TimeoutS); err != nil {
		return nil, err
	}
	if x.cmd.Idle, err = params.Seconds("idle_s", b.IdleS, 0, route.MaxTimeout); err != nil {
		return nil, err
	}
	if x.cmd.Keep == 0 {
		x.cmd.Keep = session.DefaultKeep
	}
	if x.cmd.Keep > 0 {
		x.cmd.Keep = int(limits.Output(int64(x.cmd.Keep)))
	}
	if err := x.copies(); err != nil {
		return nil, err
	}
	if !onRecord.MatchString(b.ID) {
		x.cmd.Group = "" // the pool makes one up
	}
	leave := func() {}
	if x.r, leave, err = rs.Realms.Of(c); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	if err := x.find(); err != nil {
		return nil, err
	}
	if len(x.hosts) == 1 {
		x.cmd.Group = ""
	}
	if each := b.Commands; each != nil {
		x.cmd.Scripts = func(h hosts.Host) string { return each[x.at[targets.KeyOf(h)]] }
	}
	if err := x.asJob(); err != nil {
		return nil, err
	}
	x.cmd.Forks, _ = dialer.CapForks(min(orForks(b.Forks), len(x.hosts)))
	if x.yes, err = rs.Realms.Consent(c, consents.GlassWord(targets.Labels(x.hosts)), script, &wire.Run{Reason: b.Reason, Confirm: b.Confirm, BreakGlass: b.BreakGlass}); err != nil {
		return nil, err
	}
	x.yes.At, x.yes.Each = b.Answered, x.cmd.Scripts
	judge := consents.Judge{
		Caller: cmdutil.Caller{Principal: c.Principal}, Policy: func(string) (*rules.Engine, error) { return engine, nil }, Words: words,
		Scripts: x.cmd.Scripts, Yes: x.yes.Confirm, Glass: x.yes.Glass, Reason: b.Reason, Remote: true, Approvable: true, Partial: b.Partial, Job: x.job != nil,
	}
	if x.whole, err = judge.Decide(ctx, script, x.hosts); err != nil {
		return nil, err
	}
	x.yes.All = x.whole.Answered() != ""
	if err := x.plan(ctx, judge); err != nil {
		return nil, err
	}
	if b.Stdin {
		x.inlets = bodies.NewInlets()
	}
	rctx, forget, err := rs.open.begin(c.Principal, b.ID, going{hosts: len(x.at), inlets: x.inlets, outlets: x.outlets, asking: x.steps.question()})
	if err != nil {
		return nil, err
	}
	b.Command, b.CommandB64, b.Commands, b.BreakGlass, b.Confirm = "", "", nil, "", false
	return func(hc huma.Context, log *retelling, undo func()) {
		defer leave()
		defer x.outlets.Close() // a taker that comes late finds it ended
		defer forget()
		x.serve(hc, rctx, log, undo)
	}, nil
}

func orForks(n int) int {
	if n <= 0 {
		return session.DefaultForks
	}
	return n
}

// find resolves the hosts.
func (x *fleet) find() error { return x.r.Freshly(len(x.in.Sums) > 0, x.resolve) }

func (x *fleet) resolve() (err error) {
	b := x.in
	if b.Selector != "" {
		x.hosts, err = x.r.Select(b.Selector)
	} else {
		x.hosts, err = x.r.Named(b.Hosts)
	}
	if err != nil {
		return err
	}
	timeout, err := params.Seconds("connect_timeout_s", b.ConnectTimeoutS, 0, cmdutil.MaxConnectTimeout)
	if err != nil {
		return err
	}
	x.at = map[targets.Key]int{}
	for i := range x.hosts {
		if timeout > 0 {
			x.hosts[i].ConnectTimeout = timeout
		}
		if b.Shell != "" {
			x.hosts[i].Shell = b.Shell
		}
		if x.hosts[i].Become, err = x.hosts[i].Become.Called(b.Become); err != nil {
			return problem.Invalid("become: %v", err)
		}
		key := targets.KeyOf(x.hosts[i])
		if _, twice := x.at[key]; twice {
			return problem.Invalid("%s is there twice", x.hosts[i].Name)
		}
		x.at[key] = i
	}
	for i, sum := range b.Sums {
		if h := x.hosts[i]; wire.Sum(h) != sum {
			return realm.Stale(h)
		}
	}
	return nil
}

// serve runs the command and tells what becomes of it. It ends with stopped, and with the caller. Where no byte of it has
// left, and nobody was asked, it calls undo.
func (x *fleet) serve(hc huma.Context, stopped context.Context, log *retelling, undo func()) {
	s, req := stream.Start(hc)
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer context.AfterFunc(stopped, cancel)()
	if x.c.Bucket == "" {
		s.Patient = req.Context() // of this account's own: as slow as whoever reads its output
		defer context.AfterFunc(s.Patient, s.Hurry)()
	}
	x.output = newRunOutput(s, cancel, log)
	defer x.output.wait()
	x.labels = targets.Labels(x.hosts)
	x.output.send("hosts", wire.RunHosts{Hosts: x.labels})
	cmd := x.cmd
	cmd.Streams = x.begin
	if x.inlets != nil && x.in.Copy == nil {
		cmd.Stdins = x.stdin
	}
	no, kept := livepolicy.Refusal(x.whole.Refusal), false
	waits := x.whole.Waits()
	if x.whole.Refused() {
		waits = nil
	}
	tries := waits != nil && waits.First != nil && x.triesFirst(ctx)
	if waits != nil && !tries {
		kept = true
		no = x.approve(ctx, *waits, &cmd)
	}
	if len(x.hosts) > 1 && cmd.Approver == nil {
		cmd.Approver = aloneApprover{}
	}
	within := func(no livepolicy.Refusal) context.Context {
		return context.WithValue(context.WithValue(ctx, livepolicy.ConsentKey{}, x.yes), livepolicy.WholeKey{}, no)
	}
	var many *censor.Many
	x.book = x.keep()
	if x.turns = x.book; x.turns == nil {
		x.turns = x.joined()
		defer x.turns.Leave()
	}
	x.turns.Turns()
	counts := map[string]int{}
	tell := func(h hosts.Host, r session.Result) {
		at := x.at[targets.KeyOf(h)]
		if x.inlets != nil {
			x.inlets.Close(at)
		}
		x.outlets.End(at)
		var taken redact.Counts
		if many != nil {
			r, taken = many.Result(h, r)
		}
		counts[string(r.Status)]++
		x.book.End(x.label(h), r, false)
		x.began(h, &r)
		kept = kept || r.Err == nil || r.Err.Sent
		x.output.send("result", wire.RunResult{Host: at, RunEnd: x.end(h, &r), Taken: taken.Kinds})
		if cmd.Forks < min(orForks(x.in.Forks), len(x.hosts)) {
			x.r.Pool.CloseIdle() // this process may not open more files
		}
	}
	if tries {
		kept = true
		var why string
		if x.hosts, why = x.tried(sshconn.OneRun(within(no)), cmd, &many, tell); len(x.hosts) > 0 {
			waits.Reason = why
			no = x.approveAll(ctx, *waits, &cmd)
		}
	}
	var report *wire.RunReport
	if many = x.censor(&cmd); len(x.hosts) > 0 {
		report = x.each(sshconn.OneRun(within(no)), no, cmd, tell)
	}
	if !kept {
		undo()
	}
	_ = x.book.Close(runstore.Finish{Ended: time.Now(), Rollout: report}) // it is lost, and that is what its readers see
	x.output.send("end", wire.RunsEnd{Counts: counts, Rollout: report})
}

// censor takes secrets out for whoever must not see them, and for operators who do not want to.
func (x *fleet) censor(cmd *session.Command) (many *censor.Many) {
	if !x.r.Operator || x.in.Redact {
		many, *cmd = censor.NewMany(x.rs.Secrets, redact.Guarded, *cmd)
	}
	return many
}

// end is what is told of a host that has ended. The command is told where it is another one than was asked for.
func (x *fleet) end(h hosts.Host, r *session.Result) wire.RunEnd {
	if r.Command == x.cmd.ScriptOn(h) {
		r.Command = ""
	}
	return endOf(r, r.Redacted)
}

// begin tells that the turn of a host has come, and returns what takes its output.
func (x *fleet) begin(h hosts.Host) (stdout, stderr io.Writer) {
	at := x.at[targets.KeyOf(h)]
	x.turns.Turn(x.label(h))
	if x.inlets != nil {
		x.inlets.Open(at, func() { x.output.send("stdin", wire.RunBegins{Host: at}) })
	}
	x.output.send("begin", wire.RunBegins{Host: at})
	if x.in.Quiet {
		return nil, nil
	}
	of := func(stream string) io.Writer {
		return &runStream{o: x.output, name: stream, as: func(c wire.Chunk) any { return wire.RunChunk{Host: at, Chunk: c} }}
	}
	return of(registry.Stdout), of(registry.Stderr)
}

// stdin is what a host that has begun gets as standard input.
func (x *fleet) stdin(h hosts.Host) io.Reader { return x.inlets.Of(x.at[targets.KeyOf(h)]) }

// asJob makes the command the start of one job on all hosts, where that is asked for.
func (x *fleet) asJob() (err error) {
	b := x.in
	switch {
	case b.Job == "":
		return nil
	case b.Copy != nil || b.Program != "" || b.Held || b.Stdin || b.Rollout != nil || b.IdleS != nil || b.TimeoutS != nil:
		return problem.Invalid("job_id starts shell source as a job: copy, program, held, stdin, rollout, idle_s and timeout_s have no effect on it")
	}
	if err := x.engine.Limits(x.c.Principal).Shell(); err != nil {
		return err
	}
	if x.job, err = jobs.StartOnEach(&x.cmd, b.Job, x.c.Principal, x.hosts); err != nil {
		return problem.Invalid("%v", err)
	}
	return nil
}

// began remembers the job of a host, which then is found by its id alone.
func (x *fleet) began(h hosts.Host, r *session.Result) {
	if x.job != nil && (r.Status == session.StatusOK || r.Status == session.StatusLost) {
		x.r.Jobs.Found(jobs.Ref{Host: h.Name, ID: x.job.ID(h.Name)})
	}
}
