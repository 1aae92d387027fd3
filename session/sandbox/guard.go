package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// GuardConfig configures a Guard. All fields are required.
type GuardConfig struct {
	Inner   policy.Decider // decides first; a Guard only makes that stricter
	Sandbox Sandbox
	// Level says who enforces paths. What surely leads outside is denied at every level; what cannot be told beforehand asks
	// a person under checked, and is left to what holds the session elsewhere. What is no program's doing (Request.Action) is
	// checked even so under kernel, which holds programs.
	Level    Level
	Resolver Resolver // says where paths lead on the sandbox's host
}

// Guard decides about the commands of one session in one sandbox. Its methods may be called concurrently.
type Guard struct{ cfg GuardConfig }

var _ policy.Decider = (*Guard)(nil)

// NewGuard checks cfg. The error says all that is wrong with it.
func NewGuard(cfg GuardConfig) (*Guard, error) {
	all := []error{cfg.Sandbox.Validate()}
	if cfg.Inner == nil || cfg.Resolver == nil {
		all = append(all, errors.New("sandbox: a guard needs a policy and a resolver"))
	}
	if cfg.Level.rank() > LevelKernel.rank() {
		all = append(all, fmt.Errorf("sandbox: the level %q is not one of kernel, account and checked", printable.Clip(string(cfg.Level), maxQuoted)))
	}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	return &Guard{cfg}, nil
}

// The rules that a Guard's decisions name.
const (
	ruleWrong     = "sandbox/wrong"     // not this sandbox's principal or host, or switched off
	ruleResolve   = "sandbox/resolve"   // nobody could say where the paths lead
	ruleDir       = "sandbox/cwd"       // the shell does not stand in the sandbox
	ruleOutside   = "sandbox/outside"   // a path leads outside
	ruleUncertain = "sandbox/uncertain" // it cannot be told beforehand, so a person is asked
)

// Decide asks the inner policy and then, unless that denies, the host. It takes one round trip to the host. Its error is
// the inner one's, or that of ctx.
func (g *Guard) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	d, err := g.cfg.Inner.Decide(ctx, req)
	if err != nil || d.Verdict != policy.Ask && d.Verdict != policy.Allow {
		return d, err
	}
	d.First = nil // what holds a sandbox is not what holds a command that is tried
	s, level := g.cfg.Sandbox, g.cfg.Level
	if req.Action && level == LevelKernel {
		level = LevelChecked
	}
	switch {
	case !s.Active:
		return deny(d, ruleWrong, fmt.Sprintf("the sandbox %s was switched off", s.name()), "ask the operator for another"), nil
	case req.Principal != s.Principal || req.Host.Name != s.Host:
		return deny(d, ruleWrong, fmt.Sprintf("the sandbox %s is for another principal or host", s.name()), ""), nil
	case req.Input != "":
		if d.Verdict == policy.Allow && d.Class != policy.ReadOnly && level == LevelChecked {
			return uncertain(d, "the paths in typed input cannot be determined"), nil
		}
		return d, nil
	}
	command := judge.Normalize(req.Command)
	if !strings.HasPrefix(req.Dir, "/") {
		req.Dir = ""
	}
	rep := judge.Judge(judge.Request{Script: command, Shell: shellOf(req.Shell), Interactive: req.Interactive, Dir: req.Dir, Resolved: true})
	p := &plan{ask: "it is more than is looked at"}
	if !rep.Capped { // the parser recurses as deep as a command is nested
		p = makePlan(s.Path, cmp.Or(req.Dir, "/"), shellOf(req.Shell), command)
	}
	// Where the shell stands does not matter to what takes it back, and to what is done without it.
	anywhere := p.move || req.Action && !p.rests && p.ask == ""
	if level != LevelChecked && !p.move {
		p.ask = ""
		p.checks = p.sure()
	}
	told, err := g.resolve(ctx, req.Dir, p, level)
	if errors.Is(err, ErrMoved) && anywhere {
		told, err = g.resolve(ctx, "", p, level)
	}
	switch {
	case ctx.Err() != nil:
		return policy.Decision{}, ctxerr.Of(ctx)
	case errors.Is(err, ErrMoved):
		return deny(d, ruleDir, err.Error()+": "+s.wayBack(), "go there again: "+s.goBack()), nil
	case err != nil:
		return deny(d, ruleResolve, err.Error(), "try again, or ask the operator whether the host answers"), nil
	}
	if !told.dirInside && !anywhere {
		return deny(d, ruleDir, told.where(req.Dir, s)+": "+s.wayBack(), "go there first: "+s.goBack()), nil
	}
	if told.outside != "" {
		return deny(d, ruleOutside, told.outside, "name paths below "+s.Path), nil
	}
	if level != LevelChecked {
		return d, nil
	}
	why := p.ask
	if why == "" {
		why = reachesFurther(rep)
	}
	if name, rests := rep.UsesAny(req.Set); why == "" && rests {
		why = fmt.Sprintf("it rests on %s, which an earlier command of the session has set", name)
	}
	d.Taints = d.Taints || rep.Taints
	d.Sets, d.Uses = rep.Sets, rep.Uses
	if d.Class == "" {
		d.Class = rep.Class
	}
	if d.Verdict == policy.Allow && why != "" {
		return uncertain(d, why), nil
	}
	d.Clean = d.Verdict == policy.Allow
	if sent := command; d.Send == "" && sent != req.Command {
		d.Send = sent
	}
	return d, nil
}

// reachesFurther says why a command's meaning is more than the paths in it; "" if it is not.
func reachesFurther(rep judge.Report) string {
	switch {
	case rep.Class.Rank() == policy.Unknown.Rank(), rep.Class.Worse(policy.Dangerous):
		return rep.Reason
	}
	for _, c := range rep.Classes {
		if c == policy.Unknown {
			return "part of it cannot be determined before it runs"
		}
	}
	return ""
}

// told is what the host said.
type told struct {
	dirInside bool
	dir       string
	outside   string
}

// goBack is the command that takes a shell back into the sandbox, from wherever it stands.
func (s Sandbox) goBack() string {
	word, _ := framing.Quote(s.Path) // a valid sandbox's path can be quoted
	return "cd " + word
}

// wayBack says so.
func (s Sandbox) wayBack() string { return "go back first, with nothing but " + s.goBack() }

func (t told) where(dir string, s Sandbox) string {
	switch {
	case dir == "":
		return "it is not known yet where it would run, which must be in the sandbox " + s.Path
	case t.dir == dir:
		return fmt.Sprintf("it would run in %q, outside the sandbox %s", printable.Clip(dir, maxQuoted), s.Path)
	}
	return fmt.Sprintf("it would run in %q, which leads to %q, outside the sandbox %s", printable.Clip(dir, maxQuoted), printable.Clip(t.dir, maxQuoted), s.Path)
}

// resolve asks about the sandbox, the directory and all paths at once. Of the paths that one word may stand for, because it
// is not known where the shell will be, one that leads outside is enough under checked; elsewhere all have to.
func (g *Guard) resolve(ctx context.Context, dir string, p *plan, level Level) (told, error) {
	s := g.cfg.Sandbox
	paths := make([]string, 0, 2+2*len(p.checks))
	paths = append(paths, s.Path, cmp.Or(dir, "/"))
	for _, c := range p.checks {
		paths = append(paths, c.path)
		if c.enter {
			paths = append(paths, holder(c.path))
		}
	}
	at, err := g.cfg.Resolver.Resolve(ctx, s.Host, dir, paths)
	if err != nil {
		return told{}, err
	}
	if len(at) != len(paths) {
		return told{}, errors.New("sandbox: the resolver gave another number of paths than it was asked for")
	}
	root := at[0]
	if wrongPath(root) != "" {
		return told{}, fmt.Errorf("sandbox: %s on %s leads to where no sandbox may be", s.name(), s.Host)
	}
	t := told{dir: at[1], dirInside: dir != "" && within(at[1], root)}
	at = at[2:]
	inside := map[check]bool{}
	why := make([]string, len(p.checks))
	for i, c := range p.checks {
		to, in := at[0], within(at[0], root)
		at = at[1:]
		held := true
		if c.enter {
			held = within(at[0], root)
			at = at[1:]
		}
		switch {
		case !in:
			why[i] = fmt.Sprintf("%q leads to %q, outside the sandbox %s", printable.Clip(c.said, maxQuoted), printable.Clip(to, maxQuoted), s.Path)
		case c.below && to == root:
			why[i] = fmt.Sprintf("%q is the sandbox %s itself, which cannot be removed", printable.Clip(c.said, maxQuoted), s.Path)
		case !held:
			why[i] = fmt.Sprintf("%q is a name in a directory outside the sandbox %s", printable.Clip(c.said, maxQuoted), s.Path)
		default:
			inside[c.naming()] = level != LevelChecked
		}
	}
	for i, c := range p.checks {
		if why[i] != "" && !inside[c.naming()] {
			t.outside = why[i]
			break
		}
	}
	return t, nil
}

// holder is the directory in which a path's last name stands.
func holder(p string) string {
	p = strings.TrimRight(p, "/")
	dir, last := path.Split(p)
	if last == "." || last == ".." {
		return p
	}
	return dir
}

// shellOf makes of a host's shell what package judge knows.
func shellOf(name string) string {
	if name == "auto" {
		return ""
	}
	return name
}

func deny(d policy.Decision, rule, reason, hint string) policy.Decision {
	return policy.Decision{Verdict: policy.Deny, Class: d.Class, Rule: rule, Reason: strings.TrimPrefix(reason, "sandbox: "), Hint: hint}
}

func uncertain(d policy.Decision, why string) policy.Decision {
	d.Verdict, d.Rule, d.Approval, d.Clean = policy.Ask, ruleUncertain, "", false
	d.Needs = policy.NeedsApproval
	d.Reason = "the sandbox is only checked, and " + why
	d.Hint = "write out the paths, one simple command at a time; or ask for a host whose kernel enforces the sandbox"
	return d
}
