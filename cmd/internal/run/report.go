package run

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outdir"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// target is one host of the run.
type target struct {
	index    int
	host     hosts.Host
	label    string
	out, err *lines // of a live run over several hosts

	running bool // guarded by report.mu
	sums    sums // of a folded run
	kept    *kept
}

// presenter shows results in one of the ways that flags choose.
type presenter interface {
	// start returns the writers of one host that is about to run. It is called from many goroutines.
	start(t *target) (stdout, stderr io.Writer)
	// done gets every host's result, in the order in which they come.
	done(t *target, r session.Result)
	// finish comes after the last result. code is what the program will exit with.
	finish(s *summary, code int)
}

// report runs a command on all targets and follows what becomes of it.
type report struct {
	o    *Options
	gate *outcome.Gate
	view presenter
	keep int // Command.Keep

	id  string
	log *runstore.Writer // nil where the run is not kept

	files      *outdir.Dir // nil without --out-dir
	omitted    omission    // what the view does not show
	shellEnded bool        // a shell of a host's has run the command, and is gone
	undone     undone      // what a dry run would have done

	removed redact.Counts // secrets that were taken out of the output

	targets []*target
	byHost  map[targets.Key]*target
	summary summary

	mu    sync.Mutex // guards what follows, and target.running
	done  int
	batch string // of a rollout: which one runs, for the progress line

	line sync.Mutex // held while the progress line is drawn; guards what follows
	asks bool       // a question is on the screen
}

func newReport(o *Options, hs []hosts.Host, g *outcome.Gate) *report {
	r := &report{o: o, gate: g, id: client.NewRunID(), byHost: make(map[targets.Key]*target, len(hs))}
	labels := targets.Labels(hs)
	for i, h := range hs {
		t := &target{index: i, host: h, label: labels[i]}
		r.targets = append(r.targets, t)
		r.byHost[targets.KeyOf(h)] = t
	}
	r.summary = summary{id: r.id, total: len(hs), tally: exitcode.Tally{Own: o.OwnExitCode || len(hs) > 1}}
	switch {
	case o.JSON:
		r.view = &jsonView{gate: g}
	case o.Fold, o.Diff:
		r.view, r.keep = &foldView{ios: o.IO, gate: g, exact: o.Raw, diff: o.Diff}, foldKeep
	default:
		r.view, r.keep = newLive(o.IO, g, labels, o.Raw), -1
	}
	if o.MaxOutput > 0 {
		r.keep = -1
	}
	return r
}

// run runs the command to its end and returns what the program ends with.
func (r *report) run(ctx context.Context, where place.Runner, in *input) error {
	began := time.Now()
	stop := r.watch(ctx)
	defer r.o.Running.Track(func() []string {
		_, labels := r.running()
		return labels
	})()
	hs := make([]hosts.Host, len(r.targets))
	for i, t := range r.targets {
		hs[i] = t.host
	}
	cmd := session.Command{
		Script: r.o.Script, Scripts: r.o.scripts(), Program: r.o.Program, Held: r.o.Held, Timeout: r.o.Timeout, Idle: r.o.Idle, Keep: r.keep, Streams: r.start, Reason: r.o.Reason,
	}
	if len(hs) > 1 {
		cmd.Group = r.id
	}
	in.put(&cmd)
	unread := leftAlone{o: r.o}
	unread.tell()
	err := where.Run(ctx, hs, cmd, r.ended)
	stop()
	r.summary.took = time.Since(began)
	code := r.code(ctx)
	r.endRun(code, err)
	if err == nil {
		r.view.finish(&r.summary, code)
	}
	if cerr := outcome.Ended(context.Cause(ctx)); cerr != nil {
		return cerr
	}
	if err != nil {
		return err
	}
	io.WriteString(r.o.IO.Err, r.undone.text()+r.omitted.text()+tellCounts(r.removed)+r.endedWithIt()+r.summary.text())
	unread.tell() // what waits may have come later
	return cmdutil.Exit(code)
}

// endedWithIt says of a command that has started something in the background that this has ended, too.
func (r *report) endedWithIt() string {
	if !r.shellEnded || r.o.Words != nil || r.o.Held {
		return ""
	}
	return outcome.EndedWith(r.o.Script)
}

// ended takes what became of a host.
func (r *report) ended(e place.HostEnd) {
	t := r.byHost[targets.KeyOf(e.Host)]
	r.mu.Lock()
	t.running = false
	r.done++
	r.mu.Unlock()
	r.removed.Add(e.Taken)
	r.finish(t, &e.Result)
	if _, whole := r.view.(*live); !whole {
		r.omitted.add(t.label, e.Result)
	}
	r.undone.add(t.label, e.Result)
	r.shellEnded = r.shellEnded || outcome.ShellEnded(e.Result)
	r.log.End(t.label, e.Result, false)
	r.summary.add(t, e.Result)
	if r.o.took != nil {
		r.o.took(e.Host, e.Result)
	}
	r.view.done(t, e.Result)
	t.kept = nil
}

// code is the exit code of what has happened so far.
func (r *report) code(ctx context.Context) int {
	var sig *cmdutil.SignalError
	if r.summary.canceled > 0 && errors.As(context.Cause(ctx), &sig) {
		return 128 + sig.Number
	}
	code := r.summary.tally.Code()
	switch reasonOf(r.summary.rollout) {
	case rollout.Deadline:
		if code != exitcode.Internal && code != exitcode.Denied {
			code = exitcode.Unknown
		}
	case rollout.Declined:
		if code == exitcode.OK {
			code = exitcode.Interrupted
		}
	}
	return code
}

func (r *report) start(h hosts.Host) (stdout, stderr io.Writer) {
	t := r.byHost[targets.KeyOf(h)]
	r.mu.Lock()
	t.running = true
	r.mu.Unlock()
	r.log.Turn(t.label)
	stdout, stderr = r.view.start(t)
	return r.begin(t, stdout, stderr)
}

// running returns how many hosts are done and the labels of those that run now, in the order of the run.
func (r *report) running() (done int, labels []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.targets {
		if t.running {
			labels = append(labels, t.label)
		}
	}
	return r.done, labels
}
