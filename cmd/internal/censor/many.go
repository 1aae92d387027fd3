package censor

import (
	"io"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Many takes secrets out of what one command prints on many hosts. It may be used concurrently.
type Many struct {
	set *redact.Set
	who redact.Audience

	keep    int
	streams func(h hosts.Host) (stdout, stderr io.Writer)

	mu sync.Mutex // guards what follows
	by map[targets.Key]*Censor
}

// NewMany returns a Many for cmd, and what to run in place of it: with Streams that take the secrets out on the way to those
// of cmd, and Results that keep nothing before they have gone through Result.
func NewMany(set *redact.Set, who redact.Audience, cmd session.Command) (*Many, session.Command) {
	m := &Many{set: set, who: who, keep: cmd.Keep, streams: cmd.Streams, by: map[targets.Key]*Censor{}}
	cmd.Keep, cmd.Streams = -1, m.start
	return m, cmd
}

func (m *Many) start(h hosts.Host) (stdout, stderr io.Writer) {
	if m.streams != nil {
		stdout, stderr = m.streams(h)
	}
	c := New(m.set, m.who, stdout, stderr, m.keep)
	m.mu.Lock()
	m.by[targets.KeyOf(h)] = c
	m.mu.Unlock()
	return c.Writers()
}

// Result ends what is shown of a host. It returns its Result without secrets, and what was taken out of its output.
func (m *Many) Result(h hosts.Host, r session.Result) (session.Result, redact.Counts) {
	key := targets.KeyOf(h)
	m.mu.Lock()
	c := m.by[key]
	delete(m.by, key)
	m.mu.Unlock()
	if c == nil { // it never began
		c = New(m.set, m.who, nil, nil, 0)
	}
	counts := c.Close()
	return c.Result(r, counts), counts
}
