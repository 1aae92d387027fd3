package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// The lanes. A shell that lives on makes it unsound to judge a command alone: an alias, a function, a trap or a PATH that
// was set before changes what it means. So a command that is allowed only for what it means (Decision.Clean) runs in the
// clean lane once anything else has run in the session's own shell: a second shell, in the same directory, in which
// nothing but such commands has ever run. The held lane is one whose shell the host's kernel holds to reading.
const (
	laneSession = "session"
	laneClean   = "clean"
	laneHeld    = "held"

	laneTrial = "trial" // of a command that is tried first; it is one of its own for each
)

// side is a shell beside the session's own. Session.mu guards it.
type side struct {
	sh    *shell // nil before it is needed
	free  func() // gives its connection back
	dir   string // where it stands
	spent bool   // the next command there gets a new shell

	sockets []string // open in a held shell
}

// sideOf is the lane's; s.mu is held.
func (s *Session) sideOf(lane string) *side {
	switch lane {
	case laneHeld:
		return &s.heldSide
	case laneTrial:
		return &s.trialSide
	}
	return &s.cleanSide
}

// maxSet bounds how many names are remembered.
const maxSet = 1000

// spendLane has the next command of a lane get a new shell there: this one ran something that changes more than a
// read does.
func (s *Session) spendLane(lane string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sideOf(lane).spent = true
	s.forgets(lane)
}

// names are what commands of the session have set, as far as it was seen.
func (s *Session) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set[:len(s.set):len(s.set)]
}

// pickLane says where x runs.
func (s *Session) pickLane(x *Exec) {
	s.mu.Lock()
	lane := s.laneBy(x, x.res.Decision)
	s.mu.Unlock()
	if lane != laneSession {
		x.note(func(r *Result) { r.Lane = lane })
	}
}

// laneBy is the lane of x by what is decided about it; s.mu is held.
func (s *Session) laneBy(x *Exec, d policy.Decision) string {
	switch {
	case x.held:
		return laneHeld
	case d.Clean && (d.Ends && !s.cfg.OneOff || s.tainted || s.host.Login || len(s.host.Env) > 0 && s.cfg.ForeignEnv):
		return laneClean
	}
	return laneSession
}

// laneFor returns the shell of x's lane, which is not the session's own, or fails x.
func (s *Session) laneFor(ctx context.Context, x *Exec) *shell {
	sh, err := s.sideShell(ctx, x, x.res.Lane)
	switch {
	case err != nil && s.withoutTerminal(ctx, x, err):
		return nil
	case err != nil:
		s.failStart(ctx, x, err)
		return nil
	case sh == nil:
		return nil
	}
	if x.held {
		x.note(heldBy(sh))
	}
	return s.usable(sh, x)
}

// errLane says that a lane's shell does not stand where the session does.
var errLane = errors.New("the clean lane's shell cannot go to the session's directory")

// sideShell returns a lane's shell, standing where the session does. Without a shell and an error x has failed.
func (s *Session) sideShell(ctx context.Context, x *Exec, lane string) (*shell, error) {
	if err := s.renew(ctx, x); err != nil {
		return nil, err
	}
	s.mu.Lock()
	b, dir := *s.sideOf(lane), s.dir
	s.mu.Unlock()
	sh, at := b.sh, b.dir
	if sh == nil || b.spent || !slices.Equal(b.sockets, x.sockets) || !sh.alive() || sh.cooked.Load() && !s.repair(ctx, sh) {
		s.closeSide(lane)
		var err error
		if sh, err = s.newSide(ctx, x, lane, dir); s.pool != nil && (errors.Is(err, errNoConn) || errors.Is(err, ErrClosed)) {
			// A connection comes with the session's own shell, and the lane stands beside it.
			if lane == laneClean {
				if s.shellFor(ctx, x) == nil {
					return nil, nil
				}
			} else if err = s.reconnect(ctx, x, err); err != nil {
				return nil, err
			}
			sh, err = s.newSide(ctx, x, lane, dir)
		}
		if err != nil {
			return nil, err
		}
		at = sh.hello.Dir
		s.mu.Lock()
		if s.dir == "" {
			s.dir = at
		}
		s.mu.Unlock()
	}
	if dir != "" && at != dir && !s.moveTo(ctx, sh, dir) {
		return nil, errLane
	}
	return sh, nil
}

// reconnect gets a connection for a session that has none, or has lost it. why is how that showed.
func (s *Session) reconnect(ctx context.Context, x *Exec, why error) error {
	s.mu.Lock()
	s.t, s.lost = nil, s.lost || errors.Is(why, ErrClosed)
	s.mu.Unlock()
	began := time.Now()
	t, queued, _, err := s.pool.exchange(ctx, why, began.Add(x.slotWait()))
	x.note(func(r *Result) { r.Queue, r.Dial = r.Queue+queued, time.Since(began)-queued })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t, s.lost = t, false
	return nil
}

func (s *Session) newSide(ctx context.Context, x *Exec, lane, dir string) (*shell, error) {
	spec := framing.Shell{Name: s.host.Shell, Dir: dir, Clean: s.cfg.cleanEnv()}
	if !s.cfg.ForeignEnv {
		spec.Env = s.host.Env
	}
	switch lane {
	case laneHeld:
		spec = holdWith(spec, held.Program(x.sockets...))
	case laneTrial: // it begins as the session's own does
		spec.Env, spec.Login = s.host.Env, s.host.Login
		spec = holdWith(spec, held.Trial(x.res.Decision.First.Closed))
	}
	spec = s.guarded(spec)
	sh, release := s.spareFor(ctx, x, spec)
	if sh == nil {
		var err error
		if sh, release, err = s.laneOn(ctx, x, spec); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	*s.sideOf(lane) = side{sh: sh, free: release, dir: sh.hello.Dir, sockets: x.sockets}
	closed := s.closed
	s.mu.Unlock()
	if closed { // Close has not seen it
		s.closeSide(lane)
		return nil, ErrClosed
	}
	return sh, nil
}

// laneOn starts a shell beside the session's own, on another connection where that one's has no room.
func (s *Session) laneOn(ctx context.Context, x *Exec, spec framing.Shell) (sh *shell, release func(), err error) {
	t := s.transport()
	if t == nil {
		return nil, nil, errNoConn
	}
	if sh, err = s.shellOn(ctx, t, spec); s.roomFor(err) {
		sh, err = s.shellOn(ctx, t, spec)
	}
	if !errors.Is(err, ErrFull) || s.pool == nil {
		return sh, func() {}, err
	}
	until := time.Now()
	if !x.ifItCan {
		until = until.Add(x.slotWait())
	}
	release, err = s.elsewhere(ctx, want{once: s.pool.once, until: until, more: true}, func(t Transport) (err error) {
		sh, err = s.shellOn(ctx, t, spec)
		return err
	})
	return sh, release, err
}

// moveTo changes a shell's directory.
func (s *Session) moveTo(ctx context.Context, sh *shell, dir string) bool {
	word, err := framing.Quote(dir)
	if err != nil {
		return false
	}
	builtin := `\command`
	if d := sh.hello.Dialect; d == framing.Bash || d == framing.Zsh {
		builtin = `\builtin`
	}
	_, ok := s.runOwn(ctx, sh, framing.Command{Script: builtin + " cd -- " + word})
	return ok
}

// closeSides ends the shells beside the session's own.
func (s *Session) closeSides() {
	s.closeSide(laneClean)
	s.closeSide(laneHeld)
	s.closeSide(laneTrial)
}

// closeSide ends a lane's shell, if there is one.
func (s *Session) closeSide(lane string) {
	s.mu.Lock()
	b := *s.sideOf(lane)
	*s.sideOf(lane) = side{}
	s.forgets(lane)
	s.mu.Unlock()
	if b.sh != nil {
		b.sh.close()
		b.free()
	}
}

// stands notes where a command has left its shell. A move in another lane is one of the session: its own shell follows
// before its next command.
func (s *Session) stands(lane, dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir == "" {
		return
	}
	if lane != laneSession {
		s.sideOf(lane).dir = dir
		s.moved = s.moved || dir != s.dir
	}
	s.dir = dir
}

// Names that a read sets (a loop's variable, what read fills) live in the lane where it ran, and the shell of the held lane ends with
// them. A later command that rests on one and runs in another lane would find nothing, or an older value: rm -rf /srv/$d with an empty d
// is not what anybody approved. Such a command is refused, and told how to be right wherever it runs.

// leaves notes what a command that is about to be sent may leave in its lane's shell.
func (s *Session) leaves(lane string, d policy.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lane != laneSession {
		if d.Ends {
			lane = laneHeld // whose shell ends
		}
		for _, name := range d.Sets {
			if s.setIn == nil {
				s.setIn = map[string]string{}
			}
			if name != "*" && len(s.setIn) < maxSet {
				s.setIn[name] = lane
			}
		}
		return
	}
	if d.Class == policy.ReadOnly && !d.Taints {
		return
	}
	s.tainted = true
	for _, name := range d.Sets {
		s.sets = true
		delete(s.setIn, name)
		if name != "*" && len(s.set) < maxSet {
			s.set = append(s.set, name)
		}
	}
}

// forgets notes that a lane's shell ends, and with it what was set there; s.mu is held.
func (s *Session) forgets(lane string) {
	for name, where := range s.setIn {
		if where == lane {
			s.setIn[name] = laneHeld
		}
	}
}

// here is d, or a denial where x rests on a name that was set in another lane than its own, or in a shell that has ended.
func (s *Session) here(x *Exec, d policy.Decision) policy.Decision {
	if d.Verdict != policy.Allow && d.Verdict != policy.Ask || s.cfg.OneOff || x.cmd.inner.action != nil {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lane := s.laneBy(x, d)
	for name, where := range s.setIn {
		if where == lane && lane != laneHeld || slices.Contains(d.Sets, name) || !policy.RestsOn(d.Uses, name) {
			continue
		}
		d.Verdict, d.Rule, d.Rests, d.Needs, d.First, d.Hold, d.Unheld = policy.Deny, "builtin/session-name", name, "", nil, false, nil
		d.Reason = fmt.Sprintf("it rests on %s, which an earlier command set in another shell (lane %s): where this would run it is not set, or has an older value", name, where)
		d.Hint = fmt.Sprintf("set %s in the same command", name)
		break
	}
	return d
}
