package keeper

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

// livePolicy is the policy as its files say now. A keeper lives long, and what an operator has forbidden must be forbidden.
type livePolicy struct {
	load  func() (*rules.Engine, error)
	files []string
	took  func(hash string) // hears of each policy that takes effect

	mu     sync.Mutex // guards what follows
	hash   string     // of the policy that took hears of last
	engine *rules.Engine
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

// current returns the engine of the files as they are. Files that cannot be used are an error, whatever was there before.
func (p *livePolicy) current() (*rules.Engine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.seen == nil || p.err != nil
	for i, f := range p.files {
		changed = changed || !p.seen[i].same(stampOf(f))
	}
	if !changed {
		return p.engine, nil
	}
	seen := make([]stamp, len(p.files)) // taken before reading, so that a change meanwhile is seen the next time
	for i, f := range p.files {
		seen[i] = stampOf(f)
	}
	p.engine, p.err = p.load()
	p.seen = seen
	if p.err != nil {
		p.err = fmt.Errorf("the policy cannot be used, so nothing may run: %w", p.err)
	} else if hash := p.engine.Hash(); hash != p.hash {
		p.hash = hash
		p.took(hash)
	}
	return p.engine, p.err
}

// consent is an operator's own yes to one command, carried by the context of its request.
type consent struct {
	script  string
	each    func(hosts.Host) string // the script of each host, where they differ; nil else
	confirm bool
	glass   bool
	all     bool   // it was given for many hosts, and is told of those that need none, too
	at      string // how it was given: "flag", "terminal", or "" for what nobody says
}

// on is what was said yes to on a host.
func (c consent) on(h hosts.Host) string {
	if c.each != nil {
		return c.each(h)
	}
	return c.script
}

type consentKey struct{}

// judge is the policy for the sessions of one principal.
type judge struct {
	live     *livePolicy
	operator bool
}

// How an ask was answered, for the record.
const (
	byConfirm    = "confirmation: "
	byBreakGlass = "break-glass: "
)

// how says how it was given, as the caller tells.
func (c consent) how() string {
	switch c.at {
	case "flag":
		return "--yes"
	case "terminal":
		return "at the terminal"
	}
	return "given with the request"
}

// wholeKey is the context's key of a refusal: what was decided about a request on many hosts as a whole.
type wholeKey struct{}

// refusal is why a host gets nothing; nil where its own decision counts.
type refusal func(h hosts.Host) *policy.Decision

// ownKey is the context's key of scripts of ours, such as those that find out where paths lead. Nobody else can set it.
type ownKey struct{}

// ruleOwn is the rule by which scripts of ours run.
const ruleOwn = "keeper/own"

// Decide implements policy.Decider.
func (j judge) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if ctx.Value(ownKey{}) != nil {
		return policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: ruleOwn, Reason: "the keeper looks where paths lead"}, nil
	}
	if of, ok := ctx.Value(wholeKey{}).(refusal); ok {
		if no := of(req.Host); no != nil {
			return *no, ctx.Err()
		}
	}
	return j.decide(ctx, req)
}

// decide decides. What needs an operator's second thought is allowed if that came with the request, and denied else:
// nobody but the asker could answer.
func (j judge) decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	e, err := j.live.current()
	if err != nil {
		return policy.Decision{}, err
	}
	d, err := e.Decide(ctx, req)
	if err != nil {
		return d, err
	}
	given, _ := ctx.Value(consentKey{}).(consent)
	text := req.Command
	if req.Input != "" {
		text = req.Input
	}
	mine := j.operator && given.on(req.Host) == text
	if d.Verdict == policy.Allow && mine && given.all {
		if d.Approval = byConfirm + given.how(); given.glass {
			d.Approval = byBreakGlass + given.how()
		}
		return d, nil
	}
	if d.Verdict != policy.Ask || d.Needs != policy.NeedsConfirmation && d.Needs != policy.NeedsBreakGlass {
		return d, nil
	}
	switch {
	case mine && given.glass:
		d.Verdict, d.Needs, d.Hint, d.Approval = policy.Allow, "", "", byBreakGlass+given.how()
	case mine && given.confirm && d.Needs == policy.NeedsConfirmation:
		d.Verdict, d.Needs, d.Hint, d.Approval = policy.Allow, "", "", byConfirm+given.how()
	case d.Needs == policy.NeedsConfirmation:
		d.Verdict, d.Reason = policy.Deny, d.Reason+" (it needs a confirmation)"
	default:
		d.Verdict, d.Reason = policy.Deny, d.Reason+" (it is forbidden, and it was not overridden)"
	}
	return d, nil
}
