package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// The lanes. A shell that lives on makes it unsound to judge a command alone: an alias, a function, a trap or a PATH that
// was set before changes what it means. So a command that is allowed only for what it means (Decision.Clean) runs in the
// clean lane once anything else has run in the session's own shell: a second shell, in the same directory, in which
// nothing but such commands has ever run.
const (
	laneSession = "session"
	laneClean   = "clean"
)

// maxSet bounds how many names are remembered.
const maxSet = 1000

// taint notes what a command that is about to be sent to the session's own shell may do to it.
func (s *Session) taint(d policy.Decision) {
	if d.Class == policy.ReadOnly && !d.Taints {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tainted = true
	for _, name := range d.Sets {
		if name != "*" && len(s.set) < maxSet {
			s.set = append(s.set, name)
		}
	}
}

// spendLane has the next command of the clean lane get a new shell there: this one ran something that changes more than a
// read does.
func (s *Session) spendLane() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.laneSpent = true
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
	defer s.mu.Unlock()
	if x.res.Decision.Clean && (s.tainted || s.host.Login || len(s.host.Env) > 0 && s.cfg.ForeignEnv) {
		x.note(func(r *Result) { r.Lane = laneClean })
	}
}

// laneFor returns the clean lane's shell, standing where the session does, or fails x.
func (s *Session) laneFor(ctx context.Context, x *Exec) *shell {
	s.mu.Lock()
	sh, dir, at, spent := s.lane, s.dir, s.laneDir, s.laneSpent
	s.mu.Unlock()
	if sh == nil || spent || !sh.alive() || sh.cooked.Load() && !s.repair(ctx, sh) {
		s.closeLane()
		var err error
		if sh, err = s.newLane(ctx, x, dir); s.pool != nil && (errors.Is(err, errNoConn) || errors.Is(err, ErrClosed)) {
			// The session's own shell comes with a new connection, and the lane stands beside it.
			if s.shellFor(ctx, x) == nil {
				return nil
			}
			sh, err = s.newLane(ctx, x, dir)
		}
		if err != nil {
			s.failStart(ctx, x, err)
			return nil
		}
		at = sh.hello.Dir
	}
	if dir != "" && at != dir && !s.moveTo(ctx, sh, dir) {
		x.fail(StatusError, "lane", fmt.Errorf("the clean lane's shell cannot go to the session's directory"))
		return nil
	}
	return s.usable(sh, x)
}

func (s *Session) newLane(ctx context.Context, x *Exec, dir string) (*shell, error) {
	spec := framing.Shell{Name: s.host.Shell, Dir: dir, Clean: s.cfg.cleanEnv()}
	if !s.cfg.ForeignEnv {
		spec.Env = s.host.Env
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
	s.lane, s.freeLane, s.laneSpent = sh, release, false
	closed := s.closed
	s.mu.Unlock()
	if closed { // Close has not seen it
		s.closeLane()
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
	release, err = s.elsewhere(ctx, want{once: s.pool.once, until: time.Now().Add(x.slotWait())}, func(t Transport) (err error) {
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

// closeLane ends the clean lane's shell, if there is one.
func (s *Session) closeLane() {
	s.mu.Lock()
	sh, release := s.lane, s.freeLane
	s.lane, s.freeLane = nil, nil
	s.mu.Unlock()
	if sh != nil {
		sh.close()
		release()
	}
}

// stands notes where a command has left its shell. A move in the clean lane is one of the session: its own shell follows
// before its next command.
func (s *Session) stands(lane, dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir == "" {
		return
	}
	if lane == laneClean {
		s.laneDir = dir
		s.moved = s.moved || dir != s.dir
	}
	s.dir = dir
}
