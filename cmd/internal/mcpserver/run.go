package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

type runArgs struct {
	Targets  string      `json:"targets" jsonschema:"selector: web1, web[01-12], web*, @group, role=web, tier=dev, ~regex, all; combine with , & !"`
	Command  string      `json:"command,omitempty" jsonschema:"shell source"`
	Program  string      `json:"program,omitempty" jsonschema:"instead of command: a bare program name, run with exactly args"`
	Args     []string    `json:"args,omitempty"`
	CWD      string      `json:"cwd,omitempty"`
	Become   string      `json:"become,omitempty" jsonschema:"account to run as, by sudo or what the inventory says; needs an approval, and is denied where the inventory names no such account; none: the account that logs in"`
	Reason   string      `json:"reason,omitempty" jsonschema:"recorded and shown to the approver"`
	TimeoutS *float64    `json:"timeout_s,omitempty" jsonschema:"stop after (default 600)"`
	WaitS    *float64    `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
	Output   *outputArgs `json:"output,omitempty"`
}

// stepsArgs are the arguments of run: those of look, and how the run goes in steps.
type stepsArgs struct {
	runArgs
	Rollout *rolloutArgs `json:"rollout,omitempty"`
}

func (s *Server) run(ctx context.Context, c *call, in stepsArgs) (*runOut, error) {
	out, err := s.onHosts(ctx, c, in.runArgs, in.Rollout, false)
	if err == nil && out.State == "" {
		out.State = string(session.Done)
	}
	return out, err
}

// look runs what only reads, and asks nobody.
func (s *Server) look(ctx context.Context, c *call, in runArgs) (*runOut, error) {
	return s.onHosts(ctx, c, in, nil, true)
}

func (s *Server) onHosts(ctx context.Context, c *call, in runArgs, steps *rolloutArgs, onlyRead bool) (*runOut, error) {
	out := &runOut{}
	wait, err := waitTime(in.WaitS)
	if err != nil {
		return out, err
	}
	limits := s.cfg.Limits()
	b, err := in.Output.budget(limits.MaxOutput, s.redactor())
	if err != nil {
		return out, err
	}
	cmd := registry.Command{Reason: in.Reason, Program: in.Program != "", SlotWait: max(wait, time.Millisecond)}
	if cmd.Timeout, err = s.timeout(in.TimeoutS); err != nil {
		return out, err
	}
	if cmd.Script, err = scriptOf(limits, in.Command, in.Program, in.Args); err != nil {
		return out, err
	}
	if in.Become != "" && onlyRead {
		return out, &callError{code: "unsupported", err: errors.New("become: look takes none; use run. Nothing was run")}
	}
	hs, err := s.selectHosts(in.Targets)
	if err != nil {
		return out, err
	}
	if hs, err = as(hs, in.Become); err != nil {
		return out, err
	}
	if onlyRead {
		if r := judge.Judge(judge.Request{Script: cmd.Script}); r.Class != policy.ReadOnly && !s.triedOn(ctx, hs, cmd, in.CWD) {
			named, _ := s.parts(ctx, hs[0], cmd.Script, in.CWD)
			next := "run or session_exec runs all of it, after approval; look runs the parts that only read"
			if r.Class == policy.Forbidden {
				next = "" // no approval lets it through
			}
			return out, &callError{code: "denied", next: next,
				err: fmt.Errorf("look runs only commands that only read; this is %s: %s", r.Class, cmp.Or(named, r.Reason))}
		}
	}
	plan, err := s.plan(ctx, steps, hs, cmd, in.CWD)
	if err != nil {
		return out, err
	}
	f, refused, err := s.toHosts(ctx, hs, cmd, in.CWD, in.Become, plan, onlyRead)
	if err != nil {
		return out, err
	}
	s.awaitFleet(ctx, c, f, wait, true)
	out, err = s.showFleet(f, b)
	if err == nil && len(out.Groups) == 1 && out.Hosts == 0 && out.State == "" && out.Groups[0].Error == nil {
		out.Statuses = nil // the group says it
	}
	if err == nil && refused != nil {
		out.Error, out.Next = faultOf(refused), ""
	}
	return out, err
}

// triedOn reports whether a command is tried held to reading on all hosts before it would need approval.
func (s *Server) triedOn(ctx context.Context, hs []hosts.Host, cmd registry.Command, dir string) bool {
	refused, why, err := s.judgeAll(ctx, hs, cmd, dir)
	return err == nil && why.tried && len(refused) == len(hs)
}

// as returns hosts on which commands run as the account that a call names. The policy sees it, and whether the inventory names it
// too.
func as(hs []hosts.Host, user string) ([]hosts.Host, error) {
	if user == "" {
		return hs, nil
	}
	hs = slices.Clone(hs)
	for i := range hs {
		var err error
		if hs[i].Become, err = hs[i].Become.Called(user); err != nil {
			return nil, invalid("become: %w", err)
		}
	}
	return hs, nil
}

// toHosts starts a command on hosts, once it was judged on all of them. Where refused says why, it goes to none: the fleet is
// then of those that refuse it, where that is put on record. become is what the call says, which hs have already.
func (s *Server) toHosts(ctx context.Context, hs []hosts.Host, cmd registry.Command, dir, become string, plan *rollout.Plan, onlyRead bool) (f *registry.Fleet, refuses, err error) {
	refused, why, err := s.judgeAll(ctx, hs, cmd, dir)
	if err != nil {
		return nil, nil, err
	}
	req := registry.FleetRequest{Principal: s.cfg.Principal, Hosts: hs, Dir: dir, Command: cmd, Decisions: why.all, Plan: plan}
	switch wide := s.tooWide(len(hs)); {
	case why.tried && len(refused) > 0 && wide == nil && (onlyRead || !s.cfg.Asks || len(hs) > 1):
		// What only reads needs nobody.
		if req.Later = s.askLater(&req, why); onlyRead || !s.cfg.Asks || s.cfg.Approver == nil {
			req.Later, req.Command.Unasked = nil, true
		} else {
			req.Asking, req.Check, req.ApprovalTimeout = func(hosts.Host) bool { return true }, s.stillThere(hs, become), s.cfg.ApprovalTimeout
		}
	case s.cfg.Asks && !onlyRead && why.asks && (len(refused) > 0 || wide != nil) && (len(hs) == 1 || s.cfg.Approver != nil):
		if len(hs) > 1 { // else its session asks
			s.askOnce(&req, refused, why)
			req.Check = s.stillThere(hs, become)
		}
		refused = nil
	case len(refused) > 0:
		// It goes to nobody. On the hosts that refuse it is put on record as refused.
		req.Hosts, req.Plan, refuses = refused, nil, why.err
	case wide != nil:
		return nil, nil, wide
	}
	if f, err = s.cfg.Registry.Fleet(ctx, req); err != nil {
		return nil, nil, err
	}
	s.sent(f)
	return f, refuses, nil
}

// scriptOf is what is run: shell source, or a program with exact arguments.
func scriptOf(limits rules.Limits, command, program string, args []string) (string, error) {
	switch {
	case program != "" && command != "":
		return "", invalid("give command, or program and args, not both")
	case program != "":
		if err := rules.Structured(program, args, limits); err != nil {
			return "", err
		}
		script, err := session.Words(append([]string{program}, args...)...)
		if err != nil {
			return "", invalid("%w", err)
		}
		return script, nil
	case command == "" || len(args) > 0:
		return "", invalid("give command, or program and args")
	}
	if err := limits.Shell(); err != nil {
		return "", err
	}
	return command, nil
}

// judgeAll judges a command on all hosts before a byte goes to any. It returns those that refuse, and why.
func (s *Server) judgeAll(ctx context.Context, hs []hosts.Host, cmd registry.Command, dir string) (refused []hosts.Host, why whyNot, err error) {
	why.asks, why.tried = true, true
	why.all, why.least = map[string]policy.Decision{}, map[string]policy.Proof{}
	for _, h := range hs {
		req := policy.Request{
			Principal: s.cfg.Principal, Host: h, Shell: h.Shell, Command: cmd.Script, Dir: dir, Reason: cmd.Reason,
			Elsewhere: cmd.Program || cmd.Wrapping != nil, Action: cmd.Action != nil,
		}
		d, err := s.cfg.Policy.Decide(ctx, req)
		if err != nil {
			return nil, why, err
		}
		why.all[h.Name], why.least[h.Name] = d, d.LeastProof
		if s.cfg.LeastProof != nil {
			why.least[h.Name] = s.cfg.LeastProof(req)
		}
		if why.decision.Class == "" || d.Class.Worse(why.decision.Class) {
			why.decision = d
		}
		if d.Verdict == policy.Allow {
			continue
		}
		refused = append(refused, h)
		if why.err == nil {
			named, reads := s.parts(ctx, h, cmd.Script, dir)
			refusal := &callError{code: "denied", err: fmt.Errorf("%s refuses it, and so it ran nowhere: %s%s", h.Name, cmp.Or(named, d.Reason), s.nobody(d.Verdict))}
			if refusal.next = d.Hint; reads {
				refusal.next = nextLook
			}
			why.err = refusal
		}
		why.asks = why.asks && d.Verdict == policy.Ask
		why.tried = why.tried && d.First != nil && cmd.Wrapping == nil // what outlives its shell is never tried
	}
	return refused, why, nil
}

// tooWide is why so many hosts at once take a person's yes, or nil.
func (s *Server) tooWide(n int) error {
	if most := s.cfg.Limits().MaxHosts; most > 0 && n > most {
		return denied("%d hosts at once are more than %d and need approval, which cannot be given here: use a narrower selector", n, most)
	}
	return nil
}

// whyNot is why a command ran on no host.
type whyNot struct {
	err      error
	asks     bool                       // every host that refuses would ask
	tried    bool                       // … after it was tried there, see policy.First
	decision policy.Decision            // of the host where it is the worst
	all      map[string]policy.Decision // by the names of the hosts
	least    map[string]policy.Proof    // … that an approval takes
}

// leastOn is the least proof that one approval for hosts takes.
func (w whyNot) leastOn(hs []hosts.Host) policy.Proof {
	var all []policy.Proof
	for _, h := range hs {
		all = append(all, w.least[h.Name])
	}
	return policy.Strictest(all...)
}

// askOnce makes a run one question about all its hosts, as they are now.
func (s *Server) askOnce(req *registry.FleetRequest, asking []hosts.Host, why whyNot) {
	d := why.decision
	d.Verdict, d.Needs, d.LeastProof = policy.Ask, policy.NeedsApproval, why.leastOn(req.Hosts)
	if len(asking) == 0 {
		d.Rule, d.Reason = "limits/max_hosts", fmt.Sprintf("%d hosts at once are more than %d", len(req.Hosts), s.cfg.Limits().MaxHosts)
	}
	now := time.Now()
	req.ApprovalTimeout = s.cfg.ApprovalTimeout
	req.Permit = approval.NewGroup(s.cfg.Approver, policy.Question{
		Principal: s.cfg.Principal, Hosts: req.Hosts, Command: req.Command.Shown(), Dir: req.Dir, Reason: req.Command.Reason, Decision: d,
		Asked: now, Expires: now.Add(s.cfg.ApprovalTimeout),
	})
	names := map[string]bool{}
	for _, h := range asking {
		names[h.Name] = true
	}
	req.Asking = func(h hosts.Host) bool { return names[h.Name] }
}

// stillThere returns what is an error where a host is not what it was when something was approved for it: as the inventory says
// and the call makes of it, and reached and logged in to in the way of now.
func (s *Server) stillThere(hs []hosts.Host, become string) func(hosts.Host) error {
	ways := map[string]string{}
	for _, h := range hs {
		ways[h.Name] = s.cfg.Way(h)
	}
	return func(h hosts.Host) error {
		same, err := s.host(h.Name)
		if err == nil {
			same.Become, err = same.Become.Called(become)
		}
		if err != nil || !reflect.DeepEqual(same, h) || s.cfg.Way(h) != ways[h.Name] {
			return fmt.Errorf("%s is not the host any more that was approved", h.Name)
		}
		return nil
	}
}

// askLater makes a run one question about the hosts on which it was tried and refused something.
func (s *Server) askLater(req *registry.FleetRequest, why whyNot) func([]hosts.Host, string) registry.Permit {
	return func(hs []hosts.Host, tried string) registry.Permit {
		those := *req
		those.Hosts, why.decision.Reason = hs, tried
		s.askOnce(&those, hs, why)
		return those.Permit
	}
}

func (s *Server) nobody(v policy.Verdict) string {
	if v == policy.Ask && !s.cfg.Asks {
		return " (needs approval, which cannot be given here)"
	}
	return ""
}

// awaitFleet waits for all hosts up to wait. If the call is canceled, what runs is stopped when owned says so.
func (s *Server) awaitFleet(ctx context.Context, c *call, f *registry.Fleet, wait time.Duration, owned bool) {
	wctx, stop := s.waiting(ctx, c, wait, func() progress { return fleetProgress(f) })
	select {
	case <-f.Done():
	case <-wctx.Done():
	}
	stop()
	if owned && ctx.Err() != nil && s.closing.Err() == nil {
		f.Stop()
	}
}

func fleetProgress(f *registry.Fleet) progress {
	all := f.Members()
	n := 0
	for _, m := range all {
		if m.Err != nil || m.Exec != nil && !m.Exec.Running() {
			n++
		}
	}
	return progress{done: float64(n), total: float64(len(all)), text: fmt.Sprintf("%d of %d hosts are done", n, len(all))}
}

// budgetOf shares a call's bytes among groups of hosts.
func budgetOf(b output.Budget, groups int) output.Budget {
	b.MaxBytes = min(b.MaxBytes, max(leastBytes, callBytes/(2*max(1, groups))))
	return b
}
