package registry

import (
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// Defaults of Config.
const (
	DefaultIdle        = 8 * time.Hour
	DefaultLifetime    = 24 * time.Hour
	DefaultMaxSessions = 100
	DefaultMaxExecs    = 500
	DefaultKeepFor     = 24 * time.Hour
	DefaultMaxStored   = 1 << 30
	DefaultSpool       = 64 << 20
	DefaultMaxRequests = 10000
)

// Config configures a Registry. Open is required. In every number zero means the default, and a negative value no limit.
type Config struct {
	// Open makes a session: session.Pool.Open. OpenOnce makes one for a caller's few commands: session.Pool.OpenOnce; nil
	// means Open.
	Open, OpenOnce func(h hosts.Host) (*session.Session, error)

	// Listed returns what the inventory says now of the host of a name, for sessions that live on while it changes: one whose host leads
	// elsewhere, to another account or through another tier than when it was opened takes no more commands, see CodeChanged. nil means that hosts stay
	// as they are.
	Listed func(name string) (hosts.Host, error)

	// Closed is called when a session is closed, for whatever reason; nil means that nothing is.
	Closed func(e *Entry)

	// Secrets is what is known to be secret; nil means a new Set. Audience says who reads; the zero value is Guarded.
	Secrets  *redact.Set
	Audience redact.Audience

	Idle        time.Duration // a session without a command for so long is closed
	Lifetime    time.Duration // a session this old takes no more commands, and is closed once none runs
	MaxSessions int           // open at a time; those for a few commands do not count

	MaxExecs  int           // commands kept for looking at again; the oldest ended ones go first
	KeepFor   time.Duration // after the end of a command
	MaxStored int64         // bytes that all of them may hold together, before the oldest ended ones go

	// Spool says where outputs are kept. Its Limit, if zero, is DefaultSpool.
	Spool output.SpoolConfig

	// MaxRequests is how many request ids are remembered, for KeepFor each.
	MaxRequests int

	// Render draws the screens of interactive commands; nil shows their last lines.
	Render screen.Renderer
}

func (c Config) withDefaults() Config {
	if c.Secrets == nil {
		c.Secrets = redact.New(redact.Config{})
	}
	c.Idle = orDefault(c.Idle, DefaultIdle)
	c.Lifetime = orDefault(c.Lifetime, DefaultLifetime)
	c.MaxSessions = orDefault(c.MaxSessions, DefaultMaxSessions)
	c.MaxExecs = orDefault(c.MaxExecs, DefaultMaxExecs)
	c.KeepFor = orDefault(c.KeepFor, DefaultKeepFor)
	c.MaxStored = orDefault(c.MaxStored, DefaultMaxStored)
	c.MaxRequests = orDefault(c.MaxRequests, DefaultMaxRequests)
	if c.Spool.Limit == 0 {
		c.Spool.Limit = DefaultSpool
	}
	return c
}

// orDefault applies the rule for zero and negative values; no limit is 0 from then on.
func orDefault[T time.Duration | int | int64](v, def T) T {
	switch {
	case v == 0:
		return def
	case v < 0:
		return 0
	}
	return v
}
