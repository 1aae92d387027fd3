package session

import (
	"context"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// maxSnapshot bounds what a shell may print as its state.
const maxSnapshot = 1 << 20

// ownExec is a frame of our own: no policy, no record, no Result. Its output is kept, within maxSnapshot.
func (s *Session) ownExec() *Exec {
	x := &Exec{s: s, tok: framing.NewToken(), done: make(chan struct{}), internal: true}
	x.out.Limit(maxSnapshot)
	return x
}

// runOwn runs a frame of our own and returns what it printed. It reports false when the shell did not answer in time; then it
// closes the shell, as the answer would come into what the next command prints.
func (s *Session) runOwn(ctx context.Context, sh *shell, cmd framing.Command) (string, bool) {
	sh.worn.Store(true)
	return s.askOwn(ctx, sh, cmd)
}

// askOwn is runOwn for a frame that leaves the shell as it is.
func (s *Session) askOwn(ctx context.Context, sh *shell, cmd framing.Command) (string, bool) {
	x := s.ownExec()
	if !s.typeOwn(sh, x, cmd) {
		return "", false
	}
	t := time.NewTimer(s.ownTime())
	defer t.Stop()
	select {
	case <-x.done:
		sh.keepStray(x.stray)
		return string(x.out.Head()), sh.alive()
	case <-ctx.Done():
	case <-t.C:
	}
	sh.close()
	return "", false
}

// ownTime is how long a shell may take for a frame of our own.
func (s *Session) ownTime() time.Duration { return max(s.cfg.Ready, time.Second) }

func (s *Session) typeOwn(sh *shell, x *Exec, cmd framing.Command) bool {
	text, err := s.ownText(sh, x, cmd)
	if err != nil || !sh.take(x, x.tok) {
		return false
	}
	if len(text) <= longText {
		sh.write(text)
	} else {
		s.wg.Go(func() { sh.write(text) })
	}
	return true
}

// ownText is the frame of cmd; see Session.typed.
func (s *Session) ownText(sh *shell, x *Exec, cmd framing.Command) ([]byte, error) {
	var text []byte
	s.mu.Lock()
	if s.typed {
		text = append(text, '\n')
	}
	s.mu.Unlock()
	return framing.Append(text, sh.hello.Dialect, x.tok, cmd)
}

// wantsSnapshot reports whether the command that has just ended, or one before it, may have changed what a new shell would
// lack: only in the session's own shell, and nobody waits for a snapshot of another. A session for one command has no use for one.
func (s *Session) wantsSnapshot(x *Exec) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.single && x.res.Lane == laneSession && (s.stale || x.res.Decision.Class != policy.ReadOnly)
}

// outdate notes that a command was stopped with its shell, which could not be asked what the command had changed.
func (s *Session) outdate(x *Exec) {
	if x.res.Decision.Class == policy.ReadOnly {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// snapshot asks the shell, which waits, for its state, while nobody waits for that: only the next command does, if it
// comes at once. It is called by the pump, so it must not wait for the shell itself.
func (s *Session) snapshot(sh *shell) {
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	sh.worn.Store(true)
	x := s.ownExec()
	text, err := s.ownText(sh, x, framing.Command{Script: framing.SnapshotScript(sh.hello.Dialect)})
	if err != nil {
		return
	}
	x.then = func() {
		text := string(x.out.Head()) // as it came: a session that waits should be small
		if _, ok := framing.ParseState(text); ok {
			s.mu.Lock()
			s.state, s.stale = text, false
			s.mu.Unlock()
		}
		sh.keepStray(x.stray)
	}
	if !sh.take(x, x.tok) {
		return
	}
	s.mu.Lock()
	s.snapping = x.done
	s.mu.Unlock()
	s.wg.Go(func() { sh.write(text) })
}

// settle waits for a snapshot that is under way. A shell that does not answer in time is closed: it reads nothing any more.
func (s *Session) settle(ctx context.Context) {
	s.mu.Lock()
	done, sh := s.snapping, s.sh
	s.mu.Unlock()
	if done == nil {
		return
	}
	late := time.AfterFunc(s.ownTime(), func() {
		if sh != nil {
			sh.close()
		}
	})
	defer late.Stop()
	select {
	case <-done:
		s.mu.Lock()
		if s.snapping == done {
			s.snapping = nil
		}
		s.mu.Unlock()
	case <-ctx.Done():
	}
}

// restore gives a new shell the state of the one before, as far as it is known, and says what that was.
func (s *Session) restore(ctx context.Context, sh *shell) (restored []string) {
	s.mu.Lock()
	last, stale := s.state, s.stale
	s.stale = false
	s.mu.Unlock()
	if stale {
		defer func() { restored = append(restored, RestoredStale) }()
	}
	want, known := framing.ParseState(last)
	if !known {
		return nil
	}
	again := func() []string { // the shell is no more, and the next one has the same to restore
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stale = s.stale || stale
		return nil
	}
	text, ok := s.runOwn(ctx, sh, framing.Command{Script: framing.SnapshotScript(sh.hello.Dialect)})
	if !ok {
		return again()
	}
	now, ok := framing.ParseState(text)
	if !ok {
		return nil
	}
	script, umask, vars, err := framing.RestoreScript(sh.hello.Dialect, now, want)
	if err != nil || script == "" {
		return nil
	}
	if _, ok := s.runOwn(ctx, sh, framing.Command{Script: script}); !ok {
		return again()
	}
	if umask {
		restored = append(restored, "umask")
	}
	if vars {
		restored = append(restored, "env")
	}
	return restored
}
