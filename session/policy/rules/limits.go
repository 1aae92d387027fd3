package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// DefaultMaxHosts is how many hosts an agent may ask for in one request before a person is asked.
const DefaultMaxHosts = 20

// AgentTimeout is how long an agent's command may run where its request does not say it.
const AgentTimeout = 10 * time.Minute

// Limits are what a principal may use at most. The zero Limits are none.
type Limits struct {
	Tools     []string // tools that may be called; nil is all
	Programs  []string // programs of structured mode; nil is all
	NoShell   bool     // only structured mode
	Strict    bool     // structured mode refuses metacharacters and ..
	HeldReads bool     // reads that need no approval run held to reading by the host's kernel, see package held
	Unknown   string   // UnknownAsks, UnknownHeldFirst, or "" for the default
	CleanEnv  bool     // a shell starts from HOME, USER, LOGNAME, PATH, LANG and TERM only, see framing.Shell

	MaxOutput  int64         // bytes of each stream that are returned; 0 is no limit
	MaxTimeout time.Duration // of one command; 0 is no limit
	MaxHosts   int           // of one request before it asks; 0 is no limit
	Rate       int           // requests per RatePer; 0 is no limit
	RatePer    time.Duration // a second, a minute or an hour
	Daily      int           // requests per day (UTC); 0 is no limit
}

// Tools returns the names that tools: may hold: those of the MCP server's tools.
func Tools() []string {
	return []string{
		"hosts_list", "look", "run", "session_open", "session_exec", "session_input", "session_output", "session_close",
		"file_read", "file_write", "file_edit", "file_transfer", "job_start", "job_output", "job_stop",
	}
}

// ErrLimit is wrapped by errors about what a principal may not use.
var ErrLimit = errors.New("rules: not permitted to this principal")

// Timeout clamps what was asked for; 0, which is no timeout, becomes the maximum.
func (l Limits) Timeout(asked time.Duration) time.Duration {
	if l.MaxTimeout > 0 && (asked <= 0 || asked > l.MaxTimeout) {
		return l.MaxTimeout
	}
	return asked
}

// Output clamps a number of bytes; 0 and less, which are no bound, become the maximum.
func (l Limits) Output(asked int64) int64 {
	if l.MaxOutput > 0 && (asked <= 0 || asked > l.MaxOutput) {
		return l.MaxOutput
	}
	return asked
}

// Tool reports, as an error that wraps [ErrLimit], a tool that may not be called.
func (l Limits) Tool(name string) error {
	if l.Tools != nil && !slices.Contains(l.Tools, name) {
		return fmt.Errorf("%w: the tool %q", ErrLimit, strictyaml.Clip(name))
	}
	return nil
}

// Shell reports, as an error that wraps [ErrLimit], that shell source may not be run.
func (l Limits) Shell() error {
	if l.NoShell {
		return fmt.Errorf("%w: shell source; name a program and its arguments instead", ErrLimit)
	}
	return nil
}

// entry is one item of principals in a file: some limits of some principals.
type entry struct {
	who   principals
	rank  int // how narrowly it names them: 2 by name, 1 by role, 0 all
	line  int
	hosts hosts.Selector  // zero: not said
	reads bool            // it says how reads run
	set   []func(*Limits) // what else it says
}

type rate struct {
	n   int
	per time.Duration
}

// Limits returns the limits of a principal. In one file what names the principal counts before its role, and that
// before "*", key by key; of two files the stricter counts where the user's can only tighten, else the user's.
func (e *Engine) Limits(principal string) Limits {
	role := RoleOf(principal)
	var out Limits
	if role == Agent {
		out.MaxHosts = DefaultMaxHosts
	}
	for _, l := range e.layers {
		next := out
		for _, en := range l.file.principals { // from the widest to the narrowest
			if !en.who.match(role, principal) {
				continue
			}
			for _, set := range en.set {
				set(&next)
			}
		}
		if l.tighten {
			next = tighter(out, next)
		}
		out = next
	}
	return out
}

// tighter returns the stricter of two limits, one by one.
func tighter(a, b Limits) Limits {
	out := Limits{
		Unknown: a.Unknown,
		Tools:   both(a.Tools, b.Tools), Programs: both(a.Programs, b.Programs),
		NoShell: a.NoShell || b.NoShell, Strict: a.Strict || b.Strict, CleanEnv: a.CleanEnv || b.CleanEnv, HeldReads: a.HeldReads || b.HeldReads,
		MaxOutput: least(a.MaxOutput, b.MaxOutput), MaxTimeout: least(a.MaxTimeout, b.MaxTimeout),
		MaxHosts: least(a.MaxHosts, b.MaxHosts), Daily: least(a.Daily, b.Daily),
		Rate: a.Rate, RatePer: a.RatePer,
	}
	if b.Unknown == UnknownAsks {
		out.Unknown = b.Unknown
	}
	// Compared as requests per time; of equals the one with the smaller burst.
	if x, y := a.perHour(), b.perHour(); a.Rate == 0 || b.Rate > 0 && (y < x || y == x && b.Rate < a.Rate) {
		out.Rate, out.RatePer = b.Rate, b.RatePer
	}
	return out
}

func (l Limits) perHour() float64 {
	if l.Rate == 0 {
		return 0
	}
	return float64(l.Rate) * float64(time.Hour) / float64(l.RatePer)
}

// least returns the smaller number, where 0 is no limit.
func least[T int | int64 | time.Duration](a, b T) T {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// both returns what is in both lists, where nil is everything.
func both(a, b []string) []string {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// outOfBounds denies hosts that a principal may not use.
func (e *Engine) outOfBounds(role Role, req policy.Request) (cell, bool) {
	for _, l := range e.layers {
		var own hosts.Selector
		for _, en := range l.file.principals {
			if !en.hosts.IsZero() && en.who.match(role, req.Principal) {
				own = en.hosts
			}
		}
		if !own.IsZero() && !own.Match(req.Host) {
			return cell{
				verdict: policy.Deny, rule: l.kind + "principals", reason: "the policy does not let this principal use this host",
				hint: hintRule,
			}, true
		}
	}
	return cell{}, false
}
