package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// stepOptions are the flags of a rollout.
type stepOptions struct {
	Batch        string
	Canary       string
	MaxFail      string
	BatchMaxFail string
	Verify       string
	Confirm      bool
	Deadline     time.Duration
	Retry        int
	DryRun       bool
	Pick         string

	canaries []string // of a run that is run again
}

// maxRetry bounds --retry.
const maxRetry = 100

func (o *stepOptions) flags(fl *pflag.FlagSet) {
	fl.StringVar(&o.Batch, "batch", "", "run in batches of these `sizes`, hosts or percentages (1,10%,100%); the last size repeats")
	fl.StringVar(&o.Canary, "canary", "", "run on the hosts that `selector` picks first, as a batch of their own")
	fl.StringVar(&o.MaxFail, "max-fail", "", "start no further host once more than `N|P%` of all hosts have failed; 0 with --batch or --canary")
	fl.StringVar(&o.BatchMaxFail, "batch-max-fail", "", "start no further host once more than `N|P%` of one batch have failed")
	fl.StringVar(&o.Verify, "verify", "", "run this `command` after each batch where it succeeded; a host fails if it does")
	fl.BoolVar(&o.Confirm, "confirm", false, "ask at the terminal before each batch but the first")
	fl.DurationVar(&o.Deadline, "deadline", 0, "stop the whole run after `duration`; 0 means no limit")
	fl.IntVar(&o.Retry, "retry", 0, "try connections that fail again, up to `n` times; never a command")
	fl.BoolVar(&o.DryRun, "dry-run", false, "show hosts, batches and what the policy says, and send nothing")
	fl.StringVar(&o.Pick, "pick", "", "run on `N|P%` of the selected hosts, evenly spread over them")
}

// parse checks them, as far as they can be without hosts.
func (o *stepOptions) parse() error {
	switch {
	case o.Deadline < 0:
		return cmdutil.Usagef("--deadline must not be negative")
	case o.Retry < 0 || o.Retry > maxRetry:
		return cmdutil.Usagef("--retry must be between 0 and %d", maxRetry)
	}
	if o.Batch != "" {
		if _, err := rollout.ParseSizes(o.Batch); err != nil {
			return cmdutil.Usagef("--batch: %w", err)
		}
	}
	if o.Pick != "" {
		if _, err := rollout.ParseSize(o.Pick); err != nil {
			return cmdutil.Usagef("--pick: %w", err)
		}
	}
	for flag, text := range map[string]string{"--max-fail": o.MaxFail, "--batch-max-fail": o.BatchMaxFail} {
		if text == "" {
			continue
		}
		if _, err := rollout.ParseLimit(text); err != nil {
			return cmdutil.Usagef("%s: %w", flag, err)
		}
	}
	return nil
}

// between refuses what has no effect without batches.
func (o *stepOptions) between() error {
	switch stepped := o.Batch != "" || o.Canary != "" || len(o.canaries) > 0; {
	case o.Confirm && !stepped:
		return cmdutil.Usagef("--confirm asks between batches: use it with --batch or --canary")
	case o.BatchMaxFail != "" && !stepped:
		return cmdutil.Usagef("--batch-max-fail counts in batches: use it with --batch or --canary, or use --max-fail")
	}
	return nil
}

// again takes the batches and limits of a run that is run again, where the call has none of its own: what was rolled out with care is
// not repeated on all hosts at once.
func (o *stepOptions) again(was *wire.Rollout) {
	if o.Batch == "" && o.Canary == "" {
		o.Batch, o.canaries, o.Confirm = strings.Join(was.Batches, ","), was.Canary, o.Confirm || was.Confirm
	}
	if o.MaxFail == "" && o.BatchMaxFail == "" {
		o.MaxFail, o.BatchMaxFail = was.MaxFail, was.BatchMaxFail
	}
	if o.Deadline == 0 && was.DeadlineS != nil {
		o.Deadline = time.Duration(*was.DeadlineS * float64(time.Second))
	}
	o.Retry = cmp.Or(o.Retry, was.Retry)
}

// pick returns the hosts that --pick leaves.
func (o *stepOptions) pick(hs []hosts.Host) []hosts.Host {
	if o.Pick == "" {
		return hs
	}
	size, err := rollout.ParseSize(o.Pick)
	if err != nil {
		panic("run: internal error: " + err.Error()) // it has been read before
	}
	n := size.Of(len(hs))
	picked := make([]hosts.Host, 0, n)
	for i := range n {
		picked = append(picked, hs[i*len(hs)/n])
	}
	return picked
}

// steps returns how the run is rolled out on hs; nil is all at once.
func (o *Options) steps(hs []hosts.Host) (*place.Steps, error) {
	s := &o.stepOptions
	w := wire.Rollout{MaxFail: s.MaxFail, BatchMaxFail: s.BatchMaxFail, Verify: s.Verify, Confirm: s.Confirm, Retry: s.Retry}
	if s.Batch != "" {
		for _, size := range strings.Split(s.Batch, ",") {
			w.Batches = append(w.Batches, strings.TrimSpace(size))
		}
	}
	if s.Deadline > 0 {
		d := s.Deadline.Seconds()
		w.DeadlineS = &d
	}
	if w.MaxFail == "" && w.BatchMaxFail == "" && (s.Batch != "" || s.Canary != "") {
		w.MaxFail = "0"
	}
	labels := map[targets.Key]string{}
	for i, label := range targets.Labels(hs) {
		labels[targets.KeyOf(hs[i])] = label
	}
	p := &place.Steps{Rollout: w, Label: func(h hosts.Host) string { return labels[targets.KeyOf(h)] }}
	if s.Canary != "" {
		sel := targets.Resolver{Inventory: o.Inventory, In: o.listInput(), Reach: o.Reach}
		first, err := sel.Resolve(s.Canary, "")
		if err != nil {
			return nil, cmdutil.Usagef("--canary: %s", cmdutil.Text(err))
		}
		p.Canary = targets.Among(first)
	} else if first := named(hs, s.canaries); len(first) > 0 {
		p.Canary = targets.Among(first)
	} else if s.Batch == "" && s.MaxFail == "" && s.Verify == "" && s.Deadline == 0 && s.Retry == 0 {
		return nil, nil
	}
	if _, err := p.Batches(hs); errors.Is(err, rollout.ErrNoCanary) {
		return nil, cmdutil.Usagef("--canary %s picks none of the hosts of this run", s.Canary)
	} else if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	return p, nil
}

// named are those that go by one of names.
func named(hs []hosts.Host, names []string) (found []hosts.Host) {
	by := make(map[string]bool, len(names))
	for _, name := range names {
		by[name] = true
	}
	for _, h := range hs {
		if by[targets.Asked(h)] {
			found = append(found, h)
		}
	}
	return found
}

// verifiable refuses a --verify that needs an answer: it runs later, when the answer would be to something else.
func (o *Options) verifiable(ctx context.Context, judge consent.Judge, hs []hosts.Host) error {
	if o.Verify == "" {
		return nil
	}
	judge.Words, judge.Scripts, judge.Terminal, judge.Yes, judge.Approvable, judge.Partial = nil, nil, nil, false, false, false
	v, err := judge.Decide(ctx, o.Verify, hs)
	if err != nil {
		return err
	}
	for _, h := range hs {
		if no := v.Refusal(h); no != nil {
			return cmdutil.Usagef("--verify needs a command that the policy allows without a question; on %s it does not: %s", h.Name, no.Reason)
		}
	}
	return nil
}

// watchSteps has the report follow a rollout.
func (r *report) watchSteps(s *place.Steps, judge *consent.Judge) {
	s.Batch = func(b wire.RunBatch) {
		r.mu.Lock()
		r.batch = fmt.Sprintf("batch %d/%d; ", b.Number, b.Of)
		r.mu.Unlock()
		what := ""
		if b.Canary {
			what = " (canary)"
		}
		fmt.Fprintf(r.o.IO.Err, "fairlead: batch %d of %d%s: %s\n", b.Number, b.Of, what, b.Hosts)
	}
	s.Verified = func(e place.HostEnd) {
		t := r.byHost[targets.KeyOf(e.Host)]
		r.removed.Add(e.Taken)
		if v, ok := r.view.(*jsonView); ok {
			v.print(map[string]session.Result{"verify": e.Result})
		} else if e.Result.Status != session.StatusOK {
			tellVerified(r.gate.Err(), t.label, e.Result)
		}
		r.log.End(t.label, e.Result, true)
		r.summary.verified(t, e.Result)
	}
	s.Confirm = func(ctx context.Context, so wire.RunReport) bool {
		defer r.ask()()
		yes, err := judge.YesNo(ctx, confirmText(so))
		return yes && err == nil
	}
	s.Ended = func(so wire.RunReport) { r.summary.rollout = &so }
}

// maxVerified bounds what is shown of the output of a check that failed.
const maxVerified = 4 << 10

// tellVerified shows what a check printed that failed.
func tellVerified(to io.Writer, label string, res session.Result) {
	l := lines{dst: to, prefix: label + " | ", cont: label + " + ", shown: true}
	for _, text := range [][]byte{res.Stdout, res.Stderr} {
		l.Write(text[:min(len(text), maxVerified)])
		l.Flush()
	}
}

// confirmText says what has happened since it was asked before, and asks.
func confirmText(so wire.RunReport) string {
	var b strings.Builder
	done := min(so.Done, len(so.Batches))
	for _, x := range so.Batches[max(0, done-1):done] {
		fmt.Fprintf(&b, "fairlead: batch %d of %d is done", x.Number, x.Of)
		if x.OK != "" {
			fmt.Fprintf(&b, "; ok: %s", x.OK)
		}
		if x.Failed != "" {
			fmt.Fprintf(&b, "; failed: %s", x.Failed)
		}
		b.WriteByte('\n')
	}
	if so.Done < len(so.Batches) {
		next := so.Batches[so.Done]
		fmt.Fprintf(&b, "Run batch %d of %d on %s? [y/N] ", next.Number, next.Of, next.Hosts)
	}
	return b.String()
}

// stopText says what stopped a rollout.
func stopText(so *wire.RunReport) string {
	if so == nil || !so.Cut() {
		return ""
	}
	text := "fairlead: the run stopped: " + so.Why
	if so.NotRun != "" {
		return text + "; not run: " + so.NotRun + "\n"
	}
	return text + "\n"
}

// reasonOf is what stopped a rollout; "" is nothing.
func reasonOf(so *wire.RunReport) rollout.Reason {
	if so == nil {
		return ""
	}
	return rollout.Reason(so.Stopped)
}

// untouched reports whether a host got nothing because a rollout had stopped.
func untouched(r session.Result) bool {
	return r.Status == session.StatusCanceled && r.Err != nil && r.Err.Code == rollout.CodeNotRun
}
