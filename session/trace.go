package session

import (
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Trace holds functions that are called as things happen, for logs, metrics and tests. Every field may be nil. They are
// called synchronously, from many goroutines, and must return at once; they must not call the session.
type Trace struct {
	DialStart      func(h hosts.Host)
	DialDone       func(h hosts.Host, p Peer, took time.Duration, err error)
	Judged         func(h hosts.Host, exec string, d policy.Decision)
	Sent           func(h hosts.Host, exec string, bytes int)
	FirstByte      func(h hosts.Host, exec string)
	LadderStep     func(h hosts.Host, exec, step string)
	Done           func(r Result)
	ShellRestarted func(h hosts.Host, session string)
	ConnClosed     func(h hosts.Host, reason error)
}
