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

	// Program is what a program may do that no rule decides. The zero value denies.
	Program policy.Verdict
}

// Engine decides by the built-in table, policy files and what was allowed for one session. It never changes, but for
// counting what [Engine.Admit] admitted; its methods may be called concurrently.
type Engine struct {
	layers  []layer // the system's, then the user's
	program policy.Verdict
	shared  *shared
	hash    string
	allowed []Allowance
}

// shared is what an Engine has in common with those made from it.
type shared struct {
	cache cache
	meter meter
}

var _ policy.Decider = (*Engine)(nil)

// New returns an Engine. It keeps the files, which never change.
func New(cfg Config) *Engine {
	e := &Engine{program: cfg.Program, shared: &shared{}}
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
func (e *Engine) Judge(req policy.Request) judge.Report { return *e.report(req) }

func (e *Engine) report(req policy.Request) *judge.Report {
	k := key{script: req.Command, shell: req.Shell, dir: req.Dir, interactive: req.Interactive}
	if r := e.shared.cache.get(k); r != nil {
		return r
	}
	r := judge.Judge(judge.Request{Script: req.Command, Shell: req.Shell, Dir: req.Dir, Interactive: req.Interactive})
	e.shared.cache.put(k, &r)
	return &r
}

// Decide decides. Its error is that of ctx.
func (e *Engine) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if err := ctx.Err(); err != nil {
		return policy.Decision{}, err
	}
	rep := e.report(req)
	c, class := e.decide(req, rep)
	d := policy.Decision{
		Verdict: c.verdict, Class: rep.Class, Rule: c.rule, Reason: c.reason, Needs: c.needs, Hint: c.hint,
	}
	if d.Reason == "" {
		d.Reason = reasonFor(rep, class)
	}
	if a, ok := e.allowance(req, rep, d); ok {
		d.Verdict, d.Approval, d.Needs, d.Hint = policy.Allow, a.Approval, "", ""
		d.Rule, d.Reason = "session/allowance", "it was allowed for this session"
	}
	d.Taints, d.Sets = rep.Taints, rep.Sets
	if sent := judge.Normalize(req.Command); sent != req.Command {
		d.Send = sent
	}
	if d.Verdict == policy.Allow && d.Approval == "" && !e.Allows(req.Principal, req.Host, policy.Unknown) {
		d.Clean = true
		if name, used := rep.UsesAny(req.Set); used {
			d.Verdict, d.Needs, d.Clean = policy.Ask, policy.NeedsApproval, false
			d.Rule, d.Reason = "builtin/session-name", fmt.Sprintf("it rests on %s, which an earlier command of the session has set", name)
		}
	}
	return d, nil
}

// decide returns the cell that decides, and the class that it was looked up for.
func (e *Engine) decide(req policy.Request, rep *judge.Report) (cell, policy.Class) {
	if why, refused := refusedBytes(rep); refused {
		return cell{verdict: policy.Deny, rule: "builtin/bytes", reason: why, hint: hintBytes}, policy.Forbidden
	}
	role := RoleOf(req.Principal)
	if c, ok := e.outOfBounds(role, req); ok {
		return c, rep.Class
	}
	if m := e.matching(role, req); m != nil {
		return m.decide(req, rep)
	}
	out, class := e.builtin(role, req.Host, rep.Class), rep.Class
	for _, c := range slices.Backward(rep.Classes) {
		if s := stricter(out, e.builtin(role, req.Host, c)); s != out {
			out, class = s, c
		}
	}
	return out, class
}

// Allows reports whether a class is allowed for a principal on a host as far as no program or path is asked for. Where
// unknown is allowed, what an earlier command did to a shell makes no difference to the policy.
func (e *Engine) Allows(principal string, host hosts.Host, class policy.Class) bool {
	req := policy.Request{Principal: principal, Host: host}
	rep := &judge.Report{Class: class, Classes: []policy.Class{class}, Capped: true}
	c, _ := e.decide(req, rep)
	return c.verdict == policy.Allow
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
	for i := range parts {
		if p := partOf(parts[i].Parts, class); p != nil {
			return p
		}
		if parts[i].Class == class {
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
	if strings.HasPrefix(rep.Rule, "bytes/") {
		return rep.Reason, true
	}
	return refusedParts(rep.Parts)
}

func refusedParts(parts []judge.Part) (string, bool) {
	for i := range parts {
		p := &parts[i]
		if p.Class != policy.Forbidden {
			continue
		}
		if strings.HasPrefix(p.Rule, "bytes/") {
			return p.Reason, true
		}
		if why, ok := refusedParts(p.Parts); ok {
			return why, true
		}
	}
	return "", false
}
