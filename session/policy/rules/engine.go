package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Config says what an Engine decides by. The zero Config is the built-in table.
type Config struct {
	System *File // root's file, which User can only tighten; nil is none
	User   *File // nil is none

	// Quotas keep what principals have used of rates and daily limits; nil is in memory, for as long as the Engine.
	Quotas Quotas

	// Program is what a program may do that no rule decides. The zero value denies.
	Program policy.Verdict
}

// Engine decides by the built-in table and policy files. It never changes, but for counting what [Engine.Admit] admitted; its methods may be called concurrently.
type Engine struct {
	layers  []layer // the system's, then the user's
	program policy.Verdict
	shared  *shared
	quotas  Quotas
	hash    string
	own     *own

	known bool // what is unknown is allowed by the built-in table: see heldFirst
}

// shared is what an Engine has in common with those made from it.
type shared struct {
	cache cache
}

var _ policy.Decider = (*Engine)(nil)

// New returns an Engine. It keeps the files, which never change.
func New(cfg Config) *Engine {
	e := &Engine{program: cfg.Program, shared: &shared{}, quotas: cfg.Quotas}
	if e.quotas == nil {
		e.quotas = &meter{}
	}
	if cfg.System != nil {
		e.layers = append(e.layers, layer{file: cfg.System, kind: "system/"})
	}
	if cfg.User != nil {
		e.layers = append(e.layers, layer{file: cfg.User, kind: "policy/", tighten: cfg.System != nil})
	}
	e.hash = hashFiles(cfg.System, cfg.User)
	return e
}

// Hash names the policy in records: 16 hexadecimal digits over the files that it was made of, "builtin" without any.
func (e *Engine) Hash() string { return e.hash }

// Judge returns what the judge makes of the request's command, from the cache where it was asked before. The report is
// shared: do not modify it.
func (e *Engine) Judge(req policy.Request) judge.Report { return e.judged(req).rep }

func (e *Engine) judged(req policy.Request) *judged {
	k := keyOf(req, e.ownFor(req))
	if j := e.shared.cache.get(k); j != nil {
		return j
	}
	j := judgeKey(k)
	e.shared.cache.put(k, j)
	return j
}

// Decide decides. Its error is that of ctx.
func (e *Engine) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if err := ctx.Err(); err != nil {
		return policy.Decision{}, err
	}
	d, err := e.decide(req)
	d.Policy = e.hash
	return d, err
}

func (e *Engine) decide(req policy.Request) (policy.Decision, error) {
	if req.Input != "" {
		return e.typed(req), nil
	}
	j := asOther(e.judged(req), req.Host.Become)
	rep := &j.rep
	if why := e.uses(req, rep); why != "" {
		return ownDecision(rep, why), nil
	}
	r := e.rule(req, j)
	if rep.OwnAsks && r.verdict == policy.Allow {
		r.cell = cell{verdict: policy.Ask, rule: OwnRule, reason: "what belongs to Fairlead itself lies below a directory that it works on"}
		r.needs, r.hint = needsOf(RoleOf(req.Principal), policy.Ask, rep.Class)
	}
	d := r.decision(rep)
	d.Ends, d.Taints, d.Traceless, d.Sets, d.Uses = rep.Ends, rep.Taints, rep.Traceless, rep.Sets, rep.Uses
	if sent := judge.Normalize(req.Command); sent != req.Command {
		d.Send = sent
		if judge.QuotedCRLF(req.Command) {
			d.Hint = strings.TrimPrefix(d.Hint+"; "+hintCRLF, "; ")
		}
	}
	rests, _ := rep.UsesAny(req.Set)
	switch {
	case d.Verdict == policy.Ask:
		d.Rests = rests
	case d.Verdict == policy.Allow && rests != "" && (!r.free || rep.Class.Rank() <= policy.SensitiveRead.Rank() && e.wantsHeld(req.Principal)):
		d.Verdict, d.Rule, d.Rests = policy.Ask, "builtin/session-name", rests
		d.Reason = fmt.Sprintf("it rests on %s, which an earlier command of the session has set", rests)
		d.Needs, d.Hint = needsOf(RoleOf(req.Principal), policy.Ask, rep.Class)
	case d.Verdict == policy.Allow:
		d.Clean = !r.free
	}
	d.First = e.heldFirst(req, j, d)
	return e.withProof(e.heldReads(req, j, d), req.Host, rep.Classes), nil
}

// typed decides about what is typed into a running program: nobody can tell what that makes of it.
func (e *Engine) typed(req policy.Request) policy.Decision {
	if onlyKeys(req.Input) {
		return policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: "builtin/keys", Reason: "such keys move about, or end what runs"}
	}
	if rep := e.judged(policy.Request{Principal: req.Principal, Host: req.Host, Command: req.Input, Dir: req.Dir}).rep; rep.Own {
		return ownDecision(&rep, rep.Reason)
	}
	rep := classReport(policy.Unknown)
	rep.Reason = "what a running program makes of it is up to that program"
	j := asOther(&judged{rep: rep, command: func() *command { return byClass(&rep) }}, req.Host.Become)
	d := e.rule(req, j).decision(&j.rep)
	return e.withProof(d, req.Host, rep.Classes)
}

// ruling is what decides, before allowances and the session's state.
type ruling struct {
	cell
	class policy.Class // what the cell was looked up for
	free  bool         // unknown is allowed there: what a shell is like makes no difference to the policy
}

func (r ruling) decision(rep *judge.Report) policy.Decision {
	d := policy.Decision{Verdict: r.verdict, Class: rep.Class, Rule: r.rule, Reason: r.reason, Needs: r.needs, Hint: r.hint}
	if d.Reason == "" {
		d.Reason = reasonFor(rep, r.class)
	}
	return d
}

func (e *Engine) rule(req policy.Request, j *judged) ruling {
	rep := &j.rep
	if why, refused := refusedBytes(rep); refused {
		return ruling{cell{verdict: policy.Deny, rule: "builtin/bytes", reason: why, hint: hintBytes}, policy.Forbidden, false}
	}
	role := RoleOf(req.Principal)
	if c, ok := e.outOfBounds(role, req); ok {
		return ruling{c, rep.Class, false}
	}
	if m := e.matching(role, req); m != nil {
		out := m.rule(req.Host, j)
		if req.Host.Become.User != "" { // whatever the rules say of its programs and paths
			other := classReport(policy.Privileged)
			as := m.look(req.Host, byClass(&other))
			out.tighten(as.cell, as.class)
		}
		return out
	}
	out := ruling{e.builtin(role, req.Host, rep.Class), rep.Class, e.builtin(role, req.Host, policy.Unknown).verdict == policy.Allow}
	for _, c := range slices.Backward(rep.Classes) {
		out.tighten(e.builtin(role, req.Host, c), c)
	}
	return out
}

// tighten takes the other cell where that is stricter. Of two that are as strict, that of the worse class says why: what allows a
// change is not the rule that allows a read beside it.
func (r *ruling) tighten(other cell, class policy.Class) {
	if !harder(r.verdict, r.needs, other.verdict, other.needs) && (harder(other.verdict, other.needs, r.verdict, r.needs) || class.Worse(r.class)) {
		r.cell, r.class = other, class
	}
}

// Allows reports whether a class is allowed for a principal on a host, by rules that do not ask for programs or paths.
func (e *Engine) Allows(principal string, host hosts.Host, class policy.Class) bool {
	rep := classReport(class)
	j := &judged{rep: rep, command: func() *command { return byClass(&rep) }}
	return e.rule(policy.Request{Principal: principal, Host: host}, j).verdict == policy.Allow
}

// classReport is the report about something of which only the class is known.
func classReport(c policy.Class) judge.Report {
	return judge.Report{Class: c, Classes: []policy.Class{c}}
}

// reasonFor returns the judge's reason for a class.
func reasonFor(rep *judge.Report, class policy.Class) string {
	if rep.Class == class {
		return rep.Reason
	}
	if p := partOf(rep.Parts, class); p != nil {
		return p.Reason
	}
	return rep.Reason
}

func partOf(parts []judge.Part, class policy.Class) *judge.Part {
	return findPart(parts, func(p *judge.Part) bool { return p.Class == class })
}

// findPart returns the first part of which is holds, inner ones first.
func findPart(parts []judge.Part, is func(*judge.Part) bool) *judge.Part {
	for i := range parts {
		if p := findPart(parts[i].Parts, is); p != nil {
			return p
		}
		if is(&parts[i]) {
			return &parts[i]
		}
	}
	return nil
}

// refusedBytes reports whether the judge refused to read some of it. No rule changes that.
func refusedBytes(rep *judge.Report) (string, bool) {
	if rep.Class != policy.Forbidden {
		return "", false
	}
	whole := judge.Part{Class: rep.Class, Rule: rep.Rule, Reason: rep.Reason, Parts: rep.Parts}
	p := findPart([]judge.Part{whole}, func(p *judge.Part) bool { return p.Class == policy.Forbidden && strings.HasPrefix(p.Rule, "bytes/") })
	if p == nil {
		return "", false
	}
	return p.Reason, true
}
