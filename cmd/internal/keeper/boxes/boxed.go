package boxes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/sandboxed"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Box finds a sandbox of a principal's by id, label or path, and how its host enforces it: for a session that is to start in
// cwd, which may be relative to it.
func (bs *Boxes) Box(ctx context.Context, r *realm.Realm, h hosts.Host, name, cwd string) (p registry.Place, err error) {
	if bs.Runner == nil {
		return p, problem.New(http.StatusNotImplemented, "unsupported", "this keeper has no store, and so no sandboxes: leave sandbox out")
	}
	who := &access.Caller{Principal: r.Key.Principal, Inventory: r.Key.Inventory}
	if h, err = bs.terminalHost(who, h.Name); err != nil {
		return p, err
	}
	b, err := bs.findBox(ctx, who.Principal, h.Name, name)
	if err != nil {
		return p, err
	}
	s := boxOf(b)
	if p.Dir, err = s.Resolve(cwd); err != nil {
		return p, problem.Invalid("cwd: %v", err)
	}
	at, err := sandbox.Remote{Run: r.Look(h)}.Resolve(ctx, h.Name, "/", []string{s.Path, p.Dir})
	switch {
	case err != nil:
		return p, err
	case at[1] != at[0] && !strings.HasPrefix(at[1], at[0]+"/"):
		return p, problem.New(http.StatusForbidden, "denied", "cwd leads outside the sandbox %s", s.Path)
	}
	e, err := bs.held(ctx, r, h, s, r.Look(h), "")
	if err != nil {
		return p, err
	}
	return bs.place(&boxed{bs: bs, r: r, box: b, level: e.Level}, p.Dir, e)
}

// place is a directory of a sandbox as a session gets it: held there by e, with b for its policy.
func (bs *Boxes) place(b *boxed, dir string, e sandbox.Enforcement) (p registry.Place, err error) {
	begin, err := framing.Quote(dir)
	if err != nil {
		return p, problem.Invalid("cwd: %v", err)
	}
	b.begin = "cd -- " + begin
	p.Dir, p.Level, p.Why = dir, string(e.Level), e.Why
	p.Open = func(h hosts.Host, once bool) (*session.Session, error) {
		return b.r.Pool.OpenWith(h, func(c *session.Config) {
			c.OneOff = once
			c.Program = e.Wrap(boxOf(b.box), sandbox.Bubblewrap{}, sandbox.Landlock{Helper: bs.Confine})
			c.Policy = b
		})
	}
	return p, nil
}

// held says what holds a session of a realm's in a sandbox on its host, which look asks. What is weaker than least is an
// errBox.
func (bs *Boxes) held(ctx context.Context, r *realm.Realm, h hosts.Host, s sandbox.Sandbox, look sandbox.Runner, least sandbox.Level) (e sandbox.Enforcement, err error) {
	own, err := bs.apart(ctx, h, s, look)
	if err != nil {
		return e, err
	}
	can, err := r.Able(ctx, look, h, s)
	if err != nil {
		return e, err
	}
	if bs.NoWrap {
		can.Bubblewrap = false
	}
	if h.Transport == hosts.Local && len(bs.Confine) > 0 {
		can.Landlock = sandbox.LandlockVersion()
	}
	if can.Bubblewrap || can.Landlock > 0 {
		if can.Hide, err = bs.hidden(ctx, r, h, look); err != nil {
			return e, err
		}
		if name, ok := exposed(own, can.Hide); ok {
			can = sandbox.Ability{Why: fmt.Sprintf("the sandbox holds the place of Fairlead's own %s, which is not there yet and cannot be hidden", name)}
		}
	}
	if e, err = sandbox.Choose(s, can, sandbox.Wants{Account: h.Sandboxed, AtLeast: least}); err != nil {
		err = fmt.Errorf("%w: %s", problem.ErrSandbox, strings.TrimPrefix(err.Error(), "sandbox: "))
	}
	return e, err
}

// findBox finds an active sandbox of an owner's by its id, label or path; of several the newest.
func (bs *Boxes) findBox(ctx context.Context, owner, host, name string) (store.Sandbox, error) {
	page := store.Paging{Limit: store.MaxLimit}
	for {
		got, err := bs.Store.Sandboxes(ctx, store.SandboxFilter{Owner: owner, Host: host, Active: true}, page)
		if err != nil {
			return store.Sandbox{}, err
		}
		for _, b := range got.Items {
			if b.ID == name || b.Label == name || b.Path == name {
				return b, nil
			}
		}
		if page.Cursor = got.Next; page.Cursor == "" {
			return store.Sandbox{}, problem.New(http.StatusNotFound, "not_found",
				"%s has no sandbox %.80q on %s: an operator makes one (fairlead sandbox create)", owner, name, host)
		}
	}
}

// boxed decides about the commands of one session in a sandbox, as the store says that it is when they come.
type boxed struct {
	bs    *Boxes
	r     *realm.Realm
	box   store.Sandbox // when the session was opened
	level sandbox.Level // that they are judged under, no stronger than what holds them
	begin string        // what takes its shell to where it starts
}

var _ policy.Decider = (*boxed)(nil)

// Decide implements policy.Decider.
func (b *boxed) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if ctx.Value(livepolicy.OwnKey{}) != nil {
		return b.r.Judge.Decide(ctx, req)
	}
	now, err := b.bs.Store.Sandbox(ctx, b.box.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		err = errors.New("its sandbox is there no more")
	case err == nil && now.Path != b.box.Path:
		err = errors.New("its sandbox is another directory now")
	case err == nil && now.Network != b.box.Network:
		err = errors.New("its sandbox has another network now")
	}
	var g *sandbox.Guard
	if err == nil {
		g, _, err = b.bs.guard(ctx, b.r, req.Host, b.box.ID, b.level)
	}
	if err == nil && req.Dir == "" && req.Command == b.begin && req.Input == "" {
		return policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: "sandbox/begin", Reason: "the session starts in its sandbox"}, nil
	}
	if err != nil {
		return policy.Decision{Verdict: policy.Deny, Rule: sandboxed.RuleWrong, Reason: fmt.Sprintf("the session may do nothing more: %v", err)}, nil
	}
	return g.Decide(context.WithValue(ctx, aboutKey{}, req.Command), req)
}

// aboutKey is the context's key of the command whose paths a guard looks up.
type aboutKey struct{}

// levelOf is what holds a principal in a sandbox on a host where no kernel does.
func levelOf(h hosts.Host) sandbox.Level {
	if h.Sandboxed {
		return sandbox.LevelAccount
	}
	return sandbox.LevelChecked
}

// sandboxNow returns a sandbox of a realm's as the store says it is now, or an errBox.
func (bs *Boxes) sandboxNow(ctx context.Context, r *realm.Realm, h hosts.Host, id string) (store.Sandbox, error) {
	b, err := bs.Store.Sandbox(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return b, fmt.Errorf("%w: it is there no more", problem.ErrSandbox)
	case err != nil:
		return b, err
	case !b.Active:
		return b, fmt.Errorf("%w: it was switched off", problem.ErrSandbox)
	case b.Owner != r.Key.Principal || b.Host != h.Name:
		return b, fmt.Errorf("%w: it is another one now", problem.ErrSandbox)
	}
	return b, nil
}

// guard is what keeps a command in its sandbox, as the store says it is now. Where it has denied one because its host
// could not be asked where paths lead, unreached says why.
func (bs *Boxes) guard(ctx context.Context, r *realm.Realm, h hosts.Host, id string, level sandbox.Level) (g *sandbox.Guard, unreached func() error, err error) {
	b, err := bs.sandboxNow(ctx, r, h, id)
	if err != nil {
		return nil, nil, err
	}
	var last error
	look := r.Look(h)
	g, err = sandbox.NewGuard(sandbox.GuardConfig{
		Inner: policy.DeciderFunc(r.Judge.DecideCommand), Sandbox: boxOf(b), Level: level,
		Resolver: sandbox.Remote{Run: func(ctx context.Context, host, script string) (said string, err error) {
			// The script has words of the command, of which none says any more that it is a secret.
			about, _ := ctx.Value(aboutKey{}).(string)
			bs.Secrets.Owner(r.Key.Principal).LearnFromCommand(about)
			said, err = look(ctx, host, script)
			last = err
			return said, err
		}},
	})
	return g, func() error { return last }, err
}
