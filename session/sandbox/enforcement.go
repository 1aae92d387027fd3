package sandbox

import (
	"cmp"
	"fmt"

	"github.com/fairlead-ssh/fairlead/session"
)

// Level says what holds a principal in a sandbox.
type Level string

// The levels, from the strongest.
const (
	LevelKernel  Level = "kernel"  // the host's kernel
	LevelAccount Level = "account" // what the account that logs in may do; an operator says so
	LevelChecked Level = "checked" // the paths that commands name, judged before they run
)

// Enforcement is what is true of one session.
type Enforcement struct {
	Level Level  `json:"level"`
	How   string `json:"how,omitempty"` // "bubblewrap" or "landlock" with kernel
	Why   string `json:"why"`           // one sentence for people: what it holds, or why it is not more
	At    string `json:"-"`             // where the host has what holds; "" where that is not known
}

// Wants is what an operator configured for a sandbox. The zero Wants takes the best that the host has.
type Wants struct {
	Account   bool  // the principal's login can do no more than the sandbox
	NoNetwork bool  // no network at all, which only bubblewrap sees to
	AtLeast   Level // refuse what is weaker; "" takes anything
}

// Choose says how a sandbox is enforced on a host that can do can. It fails when that is weaker than what is wanted, and
// then nothing must be opened.
func Choose(s Sandbox, can Ability, w Wants) (Enforcement, error) {
	e := choose(s, can, w)
	if e.How == "bubblewrap" {
		e.At = can.At
	}
	switch {
	case w.NoNetwork && e.Level != LevelKernel:
		return e, fmt.Errorf("sandbox: %s on %s must have no network, which only bubblewrap can see to: %s", s.name(), s.Host, e.Why)
	case w.AtLeast != "" && e.Level.rank() < w.AtLeast.rank():
		return e, fmt.Errorf("sandbox: %s on %s must be enforced by %q at least, and only %q can be had: %s", s.name(), s.Host, w.AtLeast, e.Level, e.Why)
	}
	return e, nil
}

func (l Level) rank() int {
	switch l {
	case LevelKernel:
		return 3
	case LevelAccount:
		return 2
	case LevelChecked:
		return 1
	}
	return 4 // nothing is as strong as what nobody knows
}

func choose(s Sandbox, can Ability, w Wants) Enforcement {
	net := "; the network is the account's"
	if w.NoNetwork {
		net = "; there is no network"
	}
	switch {
	case can.Bubblewrap && wrappable(s.Path):
		return Enforcement{Level: LevelKernel, How: "bubblewrap", Why: "only the sandbox can be written, /tmp and /run are private, and no other process is to be seen" + net}
	case can.Landlock >= MinLandlock && !w.NoNetwork:
		return Enforcement{Level: LevelKernel, How: "landlock", Why: "files can be created, changed and removed in the sandbox only; owners, modes and times of the account's other files, and sockets, are not covered" + net}
	}
	why := can.Why
	if can.Bubblewrap {
		why = "the sandbox's path has characters that not every login shell passes on as they are"
	}
	if why == "" {
		why = "the host was not asked what its kernel can do"
	}
	if w.Account {
		return Enforcement{Level: LevelAccount, Why: "the operator says that the account can do no more; " + why}
	}
	return Enforcement{Level: LevelChecked, Why: "only the paths that commands name are judged, and nothing holds a program that does otherwise; " + why}
}

// Wrap returns how programs are started for a session under e: for session.Config.Program. It returns nil where they are
// started as they are. What the host has where b does not say is where e says.
func (e Enforcement) Wrap(s Sandbox, b Bubblewrap, l Landlock) func(session.Program) (session.Program, error) {
	switch e.How {
	case "bubblewrap":
		b.At = cmp.Or(b.At, e.At)
		return func(p session.Program) (session.Program, error) { return b.Program(s, p) }
	case "landlock":
		return func(p session.Program) (session.Program, error) { return l.Program(s, p) }
	}
	return nil
}
