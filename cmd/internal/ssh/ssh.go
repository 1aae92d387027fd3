// Package ssh implements "fairlead ssh", which takes the place of ssh(1) for programs that call it.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/shell"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// failed is ssh's exit code for errors of its own.
const failed = 255

const long = `Run a command on a host with OpenSSH's command line, over the connections that Fairlead keeps, judged and recorded.

It is for programs that call ssh: standard input, output and error are exact, the command is sent as ssh sends it, and the
exit code is the command's, or 255 for errors. Supported: -t -T -n -f -q -v -s -W -L -R -D -g -N -F -i -l -p -J -o -A -a -b -B -c -m
-e -E -4 -6 -G -Q. -v connects anew and tells each step, and names options that have no effect; -q says nothing of a connection
that fails. What is not supported (-X -Y -O) is refused; so is a forward that fails. -N opens the forwards that the
configuration names (LocalForward, RemoteForward, DynamicForward), too. Without a command it opens a terminal as "fairlead
shell" does. If a program needs one word for ssh, make a link to fairlead with the name fairlead-ssh; if it calls nothing but
ssh, one with the name ssh in a directory that its PATH names first.`

const example = `  rsync -e 'fairlead ssh' -a site/ web1:/srv/site/
  GIT_SSH_COMMAND='fairlead ssh' git clone git@git.example.com:app.git
  ssh -o ProxyCommand='fairlead ssh -W %h:%p bastion' web1
  ln -s "$(command -v fairlead)" ~/bin/fairlead-ssh; scp -S ~/bin/fairlead-ssh file web1:
  mosh --experimental-remote-ip=remote --ssh='fairlead ssh' web1`

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	return f.ForPeople(&cobra.Command{
		Use: "ssh [OPTIONS] [USER@]HOST [COMMAND…]", Short: "Take the place of ssh for programs that call it",
		Long: long, Example: example, DisableFlagParsing: true, ValidArgsFunction: completeHost(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := parse(args)
			switch {
			case err != nil:
				return fail(f.IO.Err, err)
			case c.help:
				return cmd.Help()
			case c.query != "":
				return query(f.IO, c.query)
			case c.version:
				fmt.Fprintln(f.IO.Err, cmd.Root().Version)
				return nil
			}
			f.SSH = c.set
			r := &runner{f: f, c: c, reach: f.Reach(), says: f.IO.Err}
			r.lends.Make = r.newPool
			if c.log != "" {
				file, err := os.OpenFile(c.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
				if err != nil {
					return fail(f.IO.Err, fmt.Errorf("-E: %w", err))
				}
				defer file.Close()
				r.says = file
			}
			return r.run(cmd.Context())
		},
	}, "use ssh's exact streams, which show secrets; they use fairlead run")
}

// runner runs one call.
type runner struct {
	f     *cmdutil.Factory
	c     *call
	reach targets.Reach
	lost  context.CancelCauseFunc // of a call that only forwards
	left  sync.Once               // the terminal, with -f
	says  io.Writer               // for what is told, which -E keeps apart from the program's own errors

	mu    sync.Mutex // guards the factory, which is asked by one at a time
	lends pipe.Lender
}

func (r *runner) sink() (audit.Sink, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.f.Audit()
}

// newPool makes a pool of this process.
func (r *runner) newPool() (*session.Pool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.f.Pool(cmdutil.PoolOptions{Forks: 1})
}

func (r *runner) run(ctx context.Context) error {
	if len(r.c.ignored) > 0 {
		r.step("without effect: %s", strings.Join(r.c.ignored, ", "))
	}
	if !r.c.show {
		r.warn()
	}
	h, err := r.host()
	if err != nil {
		return r.fail(err)
	}
	if r.c.show {
		return r.show(h)
	}
	if h, err = r.configured(h); err != nil {
		return r.fail(err)
	}
	r.warn()
	ask, err := r.c.ask()
	if err == nil && ask.Host == "" {
		ask.Env, err = hostscmd.SentEnv(h, r.c.sendEnv, os.Environ(), r.f.NoPrograms())
	}
	if err != nil {
		return r.fail(err)
	}
	if r.c.background && r.f.Getenv(begunBy) == "" {
		return r.inBackground(ctx)
	}
	if err := r.steps(h); err != nil {
		return r.fail(err)
	}
	in, interactive := r.input()
	switch {
	case ask.Interactive() && r.c.tty >= 0 && interactive && r.f.IO.OutTTY:
		return r.shell(ctx, h)
	case r.c.tty > 1 || r.c.tty == 1 && interactive:
		ask.Terminal = true
	case r.c.tty == 1 && !r.c.quiet():
		fmt.Fprintln(r.says, "fairlead: ssh: no terminal is opened, because standard input is not one; -tt opens one anyhow")
	}
	if ask.Terminal {
		ask.Term = r.f.Getenv("TERM")
		ask.Rows, ask.Cols = sizeOf(in)
	}
	ask.Caller = r.caller()
	ctx, r.lost = context.WithCancelCause(ctx)
	defer r.lost(nil)
	end, err := r.forwards(ctx, h)
	if err != nil {
		return r.fail(err)
	}
	defer end()
	if r.c.noCommand && r.c.forward == "" {
		if err := r.connect(ctx, h); err != nil {
			return r.fail(err)
		}
		r.begun()
		<-ctx.Done()
		if lost, ok := errors.AsType[*lostForward](context.Cause(ctx)); ok {
			return r.fail(lost)
		}
		return context.Cause(ctx)
	}
	judged, err := r.judge(ctx, h, ask.Script())
	if err == nil {
		err = r.pipe(ctx, h, ask, judged, streams{in, r.f.IO.Out, r.f.IO.Err})
	}
	var exit *cmdutil.ExitError
	switch {
	case err == nil || errors.As(err, &exit):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return r.fail(err)
}

// host finds the one that is meant: of the inventory, of ssh_config, or any name that ssh could resolve.
func (r *runner) host() (hosts.Host, error) {
	name := r.c.host
	if hosts.CheckName(name) == nil {
		inv, err := r.f.Inventory()
		switch {
		case err == nil:
			if h, err := inv.Lookup(name); err == nil {
				return r.reach.Change(h)
			}
		case !errors.Is(err, fs.ErrNotExist): // it may say how this host is reached
			return hosts.Host{}, err
		}
		switch h, ok, err := r.reach.Named(name); {
		case err != nil:
			return h, err
		case ok:
			return r.reach.Change(h)
		}
	}
	return r.reach.Change(r.c.unlisted())
}

// warn prints the warnings that there are.
func (r *runner) warn() {
	for _, w := range r.c.warnings {
		if !r.c.quiet() {
			fmt.Fprintf(r.says, "fairlead: ssh: %s\n", cmdutil.OneLine(w))
		}
	}
	r.c.warnings = nil
}

// configured takes what the configuration says about the program on h. The connection is not asked about it: the keeper would
// refuse a host with a RemoteCommand.
func (r *runner) configured(h hosts.Host) (hosts.Host, error) {
	var lines []string
	if r.c.command != "" { // its tokens are expanded
		lines = []string{"RemoteCommand=" + r.c.command}
	}
	p, err := hostscmd.ProgramOf(h, r.f.NoPrograms(), lines...)
	if err != nil {
		return h, err
	}
	if r.c.command != "" {
		r.c.command, p.Command = p.Command, ""
	}
	if err := r.c.configured(p); err != nil {
		return h, err
	}
	if r.c.gateway {
		r.c.forwards = r.c.wide
	}
	if r.c.noCommand && r.c.forward == "" {
		if err := r.addForwards(h); err != nil {
			return h, err
		}
	}
	if r.c.forwards, err = hostscmd.Completed(h, r.c.forwards, r.f.NoPrograms(), r.c.sockets...); err != nil {
		return h, err
	}
	if p.Command == "" && !p.NoAgent {
		return h, nil
	}
	if p.NoAgent { // as ssh, which goes on without
		if !r.c.quiet() {
			fmt.Fprintf(r.says, "fairlead: ssh: no SSH agent is running here, so %s gets none: start ssh-agent, or leave -A out\n", h.Name)
		}
		if err := agent(&r.f.SSH, "ForwardAgent=no"); err != nil {
			return h, err
		}
	}
	if p.Command != "" {
		if err := r.f.SSH.Option("RemoteCommand=none"); err != nil {
			return h, err
		}
	}
	return r.host()
}

// input is standard input as the call wants it, and whether it is a terminal.
func (r *runner) input() (in io.Reader, terminal bool) {
	if r.c.noInput {
		return nil, false
	}
	return r.f.IO.In, r.f.IO.InTTY
}

// shell opens a terminal as "fairlead shell" does.
func (r *runner) shell(ctx context.Context, h hosts.Host) error {
	if h.Become.User != "" { // as ssh, it is the account's that logs in
		r.f.SSH.Set.Become = hosts.NoBecome
	}
	for _, option := range r.c.sendEnv {
		if err := r.f.SSH.Option(option); err != nil {
			return r.fail(err)
		}
	}
	cmd := shell.NewCmd(r.f, func(ctx context.Context, o *shell.Options) error {
		o.ExitCode = exitCode
		return shell.Run(ctx, o)
	})
	cmd.SetContext(ctx)
	if r.c.escape != "" {
		if err := cmd.Flags().Set("escape", r.c.escape); err != nil {
			return r.fail(err)
		}
	}
	if r.c.verbose() {
		cmd.SetContext(registry.Traced(ctx, r.trace(), h))
	}
	err := cmd.RunE(cmd, []string{targets.Asked(h)})
	if _, ended := errors.AsType[*cmdutil.ExitError](err); err == nil || ended || ctx.Err() != nil {
		return err
	}
	return r.fail(err)
}

// exitCode is ssh's for a terminal: that of the program there, or 255.
func exitCode(end session.Result) int {
	switch {
	case end.Status == session.StatusOK:
		return 0
	case end.Status == session.StatusExit && end.ExitCode != nil:
		return *end.ExitCode
	}
	return failed
}

// streams are what a program here is connected to.
type streams struct {
	in          io.Reader // nil is an empty one
	out, errOut io.Writer
}

// judge asks the policy, and the caller where that wants it.
func (r *runner) judge(ctx context.Context, h hosts.Host, script string) (*consent.Verdict, error) {
	judge := consent.Judge{IO: r.f.IO, Caller: r.f.Caller(), Policy: r.f.Policy, Terminal: r.f.Terminal}
	return judge.Decide(ctx, script, []hosts.Host{h})
}

// told prints what is wrong with a forward, which the rest of the call survives.
func (r *runner) told(err error) {
	fmt.Fprintf(r.says, "fairlead: ssh: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
}

// withoutAgent warns, unless with -q, that -A has no effect on this host.
func (r *runner) withoutAgent(h hosts.Host, refused bool) {
	if refused && !r.c.quiet() {
		fmt.Fprintf(r.says, "fairlead: ssh: %s: the server refuses to forward the SSH agent (AllowAgentForwarding, or no-agent-forwarding for this key); the command runs without it\n", h.Name)
	}
}

// pipe runs the program, in the keeper or from here.
func (r *runner) pipe(ctx context.Context, h hosts.Host, ask pipe.Ask, judged *consent.Verdict, s streams) error {
	chooser := place.NewChooser(r.f)
	keeper, err := chooser.For(ctx, []hosts.Host{h})
	if err != nil {
		return err
	}
	if keeper != nil && !judged.Refused() {
		defer keeper.Close()
		c, err := r.there(ctx, keeper, h, ask, judged)
		var problem *wire.Problem
		switch {
		case err == nil:
			defer c.Close()
			r.withoutAgent(h, c.NoAgent)
			return r.copy(ctx, ask, s, c.Resize, func() { c.Close() }, c.Copy)
		case chooser.Auto() && place.Elsewise(err), errors.As(err, &problem) && chooser.Locked(session.Result{Status: session.Status(problem.Code)}):
		default:
			return named(h, err)
		}
	}
	return r.here(ctx, h, ask, s, judged)
}

// connect logs in before a call that only forwards is left alone: a host that cannot be reached is no place to forward to.
func (r *runner) connect(ctx context.Context, h hosts.Host) error {
	if slices.ContainsFunc(r.c.forwards, func(f hosts.Forward) bool { return f.Option == "-R" }) {
		return nil // that has logged in
	}
	chooser := place.NewChooser(r.f)
	keeper, err := chooser.For(ctx, []hosts.Host{h})
	if err != nil {
		return err
	}
	if keeper != nil {
		defer keeper.Close()
		// An older keeper, which knows of no Connect, finds nothing to run in this.
		err := r.ask(ctx, keeper, pipe.Request{Target: targets.Asked(h), Sum: wire.Sum(h), Connect: true, Ask: pipe.Ask{Line: "true", Subsystem: "none"}})
		var problem *wire.Problem
		switch {
		case errors.As(err, &problem) && problem.Code == "invalid":
			return nil
		case err == nil || !chooser.Auto() || !place.Elsewise(err):
			return named(h, err)
		}
	}
	return named(h, pipe.Connect(ctx, pipe.Config{Principal: r.f.Caller().Principal, Lend: r.lends.Lend}, h))
}

// ask asks the keeper for what has no streams.
func (r *runner) ask(ctx context.Context, keeper *client.Client, asked pipe.Request) error {
	conn, err := keeper.Streams(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err = pipe.NewClient(conn, conn, asked); err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// there begins in the keeper.
func (r *runner) there(ctx context.Context, keeper *client.Client, h hosts.Host, ask pipe.Ask, judged *consent.Verdict) (*pipe.Client, error) {
	var said wire.NewRun
	place.Answers(&said, r.f.Caller(), false, judged, []string{h.Name})
	conn, err := keeper.Streams(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	c, err := pipe.NewClient(conn, conn, pipe.Request{
		Target: targets.Asked(h), Sum: wire.Sum(h), Ask: ask, Reason: judged.Reason,
		Confirm: said.Confirm, BreakGlass: said.BreakGlass, Answered: said.Answered,
	})
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// here begins in this process.
func (r *runner) here(ctx context.Context, h hosts.Host, ask pipe.Ask, s streams, judged *consent.Verdict) error {
	judged.Count()
	sink, err := r.sink()
	if err != nil {
		return err
	}
	running, err := pipe.Begin(ctx, pipe.Config{
		Sink: sink, Principal: r.f.Caller().Principal, Decide: judged.Decide, Lend: r.lends.Lend,
	}, h, ask, judged.Reason)
	if err != nil {
		if err = named(h, err); judged.Refused() && strings.HasSuffix(err.Error(), consent.ErrNoTerminal.Error()) { // there is no --yes
			return &namedError{fmt.Sprintf("%s: confirm it with fairlead run %s --yes, or give the host a tier in the inventory, such as tier: dev", err, printable.Word(h.Name)), err}
		}
		return err
	}
	r.withoutAgent(h, running.AgentRefused())
	var sent, got int64
	var exit session.Exit
	var cerr error
	err = r.copy(ctx, ask, s, func(size session.Size) { _ = running.Resize(size) }, func() { running.Pipe.Close() },
		func(in io.Reader, out, errOut io.Writer) (session.Exit, error) {
			exit, sent, got, cerr = running.Copy(in, out, errOut)
			return exit, cerr
		})
	if rerr := running.End(exit, cerr, sent, got); rerr != nil && err == nil {
		return rerr
	}
	return err
}

// copy passes the streams, and turns the end into an exit code. hangUp ends it early, when ctx ends.
func (r *runner) copy(ctx context.Context, ask pipe.Ask, s streams, resize func(session.Size), hangUp func(), pass func(io.Reader, io.Writer, io.Writer) (session.Exit, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, hangUp)()
	defer r.f.Running.Track(func() []string { return []string{r.c.host} })()
	if ask.Terminal {
		in, restore, err := r.takeTerminal(s.in, resize, func() { cancel(errHungUp) })
		if err != nil {
			hangUp()
			return err
		}
		defer restore()
		s.in = in
	}
	r.begun()
	exit, err := pass(s.in, s.out, s.errOut)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.EPIPE): // whoever reads the output has enough
		exit.Code = failed
	case err != nil:
		return err
	case exit.Signal != "":
		exit.Code = failed // as ssh does
	}
	if ask.Host == "" {
		r.step("%s: the program ended with code %d", r.c.host, exit.Code)
	}
	return &cmdutil.ExitError{Code: exit.Code, Exact: true}
}
