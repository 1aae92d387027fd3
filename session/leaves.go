package session

import (
	"context"
	"io"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/become"
)

// leavesTime bounds Leaves: hosts with thousands of processes take a second.
const leavesTime = 3 * time.Second

// Leaves returns the programs that commands have started and that Close leaves running: what ignores the hangup (nohup), and what has a
// session of its own (setsid) while the shell or a program of the shell's is its parent. Names are as the host tells them, and may hold
// anything. It asks the host through a second program, for some seconds at most, and never the person. nil is also what cannot be
// known: of a session without a shell, a connection that is lost, and hosts that are no Linux.
func (s *Session) Leaves(ctx context.Context) (left []framing.Process) {
	ctx, cancel := context.WithTimeout(become.Unasked(ctx), leavesTime)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	s.mu.Lock()
	shells := []*shell{s.sh, s.sideOf(laneClean).sh} // what is held starts nothing that stays
	s.mu.Unlock()
	for _, sh := range shells {
		if sh != nil && sh.alive() {
			pid := sh.hello.PID
			left = append(left, framing.ParseLeaves(s.runBeside(ctx, framing.Leaves(pid), want{once: true, until: time.Now(), more: true}), pid)...)
		}
	}
	return left
}

// runBeside runs a line of the framing's on the host, beside the session's shell, and returns what it prints; "" where that cannot be.
// ctx bounds it.
func (s *Session) runBeside(ctx context.Context, line string, place want) string {
	stream, release, err := s.second(ctx, Program{Line: line}, place) // processes are the same on any connection
	if err != nil {
		return ""
	}
	defer release()
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	said, _ := io.ReadAll(io.LimitReader(stream, 1<<16))
	return string(said)
}
