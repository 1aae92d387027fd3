package livepolicy

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Policy is the policy as its files say now. A keeper lives long, and what an operator has forbidden must be forbidden.
type Policy struct {
	Load  func() (*rules.Engine, error)
	Files []string
	Took  func(hash string) // hears of each policy that takes effect

	mu     sync.Mutex // guards what follows
	hash   string     // of the policy that took hears of last
	engine *rules.Engine
	last   *rules.Engine // the last one that could be used; nil for none
	err    error
	seen   []stamp // of files, when engine was read
}

// stamp tells a file from what it was before.
type stamp struct {
	size int64
	when time.Time
	file os.FileInfo // for os.SameFile; nil where there is none
}

func stampOf(name string) stamp {
	st, err := os.Stat(name)
	if err != nil {
		return stamp{size: -1}
	}
	return stamp{st.Size(), st.ModTime(), st}
}

func (a stamp) same(b stamp) bool {
	if a.file == nil || b.file == nil {
		return a.file == nil && b.file == nil
	}
	return a.size == b.size && a.when.Equal(b.when) && os.SameFile(a.file, b.file)
}

// Current returns the engine of the files as they are. Files that cannot be used are an error, whatever was there before.
func (p *Policy) Current() (*rules.Engine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.seen == nil || p.err != nil
	for i, f := range p.Files {
		changed = changed || !p.seen[i].same(stampOf(f))
	}
	if !changed {
		return p.engine, nil
	}
	seen := make([]stamp, len(p.Files)) // taken before reading, so that a change meanwhile is seen the next time
	for i, f := range p.Files {
		seen[i] = stampOf(f)
	}
	p.engine, p.err = p.Load()
	p.seen = seen
	if p.err != nil {
		p.err = fmt.Errorf("the policy cannot be used, so nothing may run: %w", p.err)
		return p.engine, p.err
	}
	p.last = p.engine
	if hash := p.engine.Hash(); hash != p.hash {
		p.hash = hash
		p.Took(hash)
	}
	return p.engine, nil
}

// Last returns the engine of the files as they are, or as they were when they could be used last; nil where they never could. It
// decides nothing: it says how much may be shown of what has run.
func (p *Policy) Last() (*rules.Engine, error) {
	e, err := p.Current()
	if err == nil {
		return e, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		return nil, err
	}
	return p.last, nil
}

// Consent is an operator's own yes to one command, carried by the context of its request.
type Consent struct {
	Script  string
	Each    func(hosts.Host) string // the script of each host, where they differ; nil else
	Confirm bool
	Glass   bool
	All     bool   // it was given for many hosts, and is told of those that need none, too
	At      string // how it was given: "flag", "terminal", or "" for what nobody says
}

// on is what was said yes to on a host.
func (c Consent) on(h hosts.Host) string {
	if c.Each != nil {
		return c.Each(h)
	}
	return c.Script
}

type ConsentKey struct{}

// Judge is the policy for the sessions of one principal.
type Judge struct {
	Live     *Policy
	Operator bool
}

// How an ask was answered, for the record.
const (
	byConfirm    = "confirmation: "
	byBreakGlass = "break-glass: "
)

// how says how it was given, as the caller tells.
func (c Consent) how() string {
	switch c.At {
	case "flag":
		return "--yes"
	case "terminal":
		return "at the terminal"
	}
	return "given with the request"
}

// WholeKey is the context's key of a refusal: what was decided about a request on many hosts as a whole.
type WholeKey struct{}

// Refusal is why a host gets nothing; nil where its own decision counts.
type Refusal func(h hosts.Host) *policy.Decision

// OwnKey is the context's key of scripts of ours, such as those that find out where paths lead. Nobody else can set it.
type OwnKey struct{}

// RuleOwn is the rule by which scripts of ours run.
const RuleOwn = "keeper/own"

// Decide implements policy.Decider.
func (j Judge) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if ctx.Value(OwnKey{}) != nil {
		return policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: RuleOwn, Reason: "the keeper looks where paths lead"}, nil
	}
	if of, ok := ctx.Value(WholeKey{}).(Refusal); ok {
		if no := of(req.Host); no != nil {
			return *no, ctx.Err()
		}
	}
	return j.DecideCommand(ctx, req)
}

// DecideCommand decides. What needs an operator's second thought is allowed if that came with the request, and denied else:
// nobody but the asker could answer.
func (j Judge) DecideCommand(ctx context.Context, req policy.Request) (policy.Decision, error) {
	e, err := j.Live.Current()
	if err != nil {
		return policy.Decision{}, err
	}
	d, err := e.Decide(ctx, req)
	if err != nil {
		return d, err
	}
	given, _ := ctx.Value(ConsentKey{}).(Consent)
	text := req.Command
	if req.Input != "" {
		text = req.Input
	}
	mine := j.Operator && given.on(req.Host) == text
	if d.Verdict == policy.Allow && mine && given.All {
		if d.Approval = byConfirm + given.how(); given.Glass {
			d.Approval = byBreakGlass + given.how()
		}
		return d, nil
	}
	if d.Verdict != policy.Ask || d.Needs != policy.NeedsConfirmation && d.Needs != policy.NeedsBreakGlass {
		return d, nil
	}
	switch {
	case mine && given.Glass:
		d.Verdict, d.Needs, d.Hint, d.Approval = policy.Allow, "", "", byBreakGlass+given.how()
	case mine && given.Confirm && d.Needs == policy.NeedsConfirmation:
		d.Verdict, d.Needs, d.Hint, d.Approval = policy.Allow, "", "", byConfirm+given.how()
	case d.Needs == policy.NeedsConfirmation:
		d.Verdict, d.Reason = policy.Deny, d.Reason+" (it needs a confirmation)"
	default:
		d.Verdict, d.Reason = policy.Deny, d.Reason+" (it is forbidden, and it was not overridden)"
	}
	return d, nil
}
