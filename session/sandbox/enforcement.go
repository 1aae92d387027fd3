package sandbox

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
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
	Level Level    `json:"level"`
	How   string   `json:"how,omitempty"`  // "bubblewrap" or "landlock" with kernel
	Why   string   `json:"why"`            // one sentence for people: what it holds, or why it is not more
	Open  []string `json:"open,omitempty"` // with kernel: what it leaves open, one sentence each
	At    string   `json:"-"`              // where the host has what holds; "" where that is not known

	keys      bool // as Bubblewrap.Keys
	noNetwork bool
	hide      Secrets
}

// Wants is what an operator configured for a sandbox. The zero Wants takes the best that the host has.
type Wants struct {
	Account   bool  // the principal's login can do no more than the sandbox
	NoNetwork bool  // no network at all, which only a kernel sees to
	AtLeast   Level // refuse what is weaker; "" takes anything
}

// Choose says how a sandbox is enforced on a host that can do can. It fails when that is weaker than what is wanted, and
// then nothing must be opened.
func Choose(s Sandbox, can Ability, w Wants) (Enforcement, error) {
	w.NoNetwork = w.NoNetwork || s.NoNetwork
	e := choose(s, can, w)
	if e.Level == LevelKernel {
		e.noNetwork, e.hide, e.Open = w.NoNetwork, can.Hide, leftOpen(e.How, can, w)
	}
	if e.How == "bubblewrap" {
		e.At, e.keys = can.At, can.Keys
	}
	switch {
	case w.NoNetwork && e.Level != LevelKernel:
		return e, fmt.Errorf("sandbox: %s on %s must have no network, which only the host's kernel can enforce: %s. Install bubblewrap there, or allow the network: fairlead sandbox edit %s --network account", s.name(), s.Host, e.Why, s.ID)
	case w.AtLeast != "" && e.Level.rank() < w.AtLeast.rank():
		return e, fmt.Errorf("sandbox: %s on %s must be enforced by %q at least, and only %q can be had: %s", s.name(), s.Host, w.AtLeast, e.Level, e.Why)
	}
	return e, nil
}

func (l Level) rank() int {
	if i := slices.Index([]Level{LevelChecked, LevelAccount, LevelKernel}, l); i >= 0 {
		return i
	}
	return math.MaxInt // nothing is as strong as what nobody knows
}

func choose(s Sandbox, can Ability, w Wants) Enforcement {
	net := "; the network is the account's"
	if w.NoNetwork {
		net = "; there is no network"
	}
	bubblewrap, landlock := can.Bubblewrap && wrappable(s.Path), can.Landlock >= MinLandlock
	why := can.Why
	if can.Bubblewrap && !bubblewrap {
		why = "the sandbox's path has characters that not every login shell passes on as they are"
	}
	if name, ok := can.Hide.unwrappable(); ok && (bubblewrap || landlock) {
		why = fmt.Sprintf("%q must be hidden, and has characters that not every login shell passes on as they are", printable.Clip(name, maxQuoted))
		bubblewrap, landlock = false, false
	}
	if name, ok := can.Hide.in(s.Path); ok && landlock && !bubblewrap {
		why = fmt.Sprintf("%q lies in the sandbox, and Landlock cannot hide it there", printable.Clip(name, maxQuoted))
		landlock = false
	}
	switch {
	case bubblewrap:
		return Enforcement{Level: LevelKernel, How: "bubblewrap", Why: "only the sandbox can be written, /tmp, /run and the account's keys are hidden, and no other process is to be seen" + net}
	case landlock:
		return Enforcement{Level: LevelKernel, How: "landlock", Why: "files can be created, changed and removed in the sandbox only, the account's keys are hidden, and unix sockets are refused; owners, modes and times of the account's other files are not covered" + net}
	}
	if why == "" {
		why = "the host was not asked what its kernel can do"
	}
	if w.Account {
		return Enforcement{Level: LevelAccount, Why: "the operator says that the account can do no more; " + why}
	}
	return Enforcement{Level: LevelChecked, Why: "only the paths that commands name are judged, and nothing holds a program that does otherwise; " + why}
}

// leftOpen says what a kernel does not hold, in sentences for people.
func leftOpen(how string, can Ability, w Wants) []string {
	var out []string
	add := func(text string) { out = append(out, text) }
	if !w.NoNetwork {
		add("network: programs reach every address that the account reaches, this host's own services included (fairlead sandbox edit ID --network none)")
	}
	add("reading: files outside that the account can read and that are not on the list of keys")
	switch how {
	case "bubblewrap":
		if !w.NoNetwork {
			add("abstract unix sockets: programs can connect to those of the host (--network none closes them)")
		}
		add("unix sockets: programs can connect to sockets in directories other than /tmp, /var/tmp, /run and those that are hidden")
		add("hard links and mounts that are in the sandbox already")
	case "landlock":
		add("modes, owners and times of the account's own files outside")
		add("other processes: their command lines and states can be seen in /proc")
		add("System V shared memory and message queues of the account")
		if can.Landlock < 6 {
			add(fmt.Sprintf("signals: programs can signal the account's other processes (the kernel's Landlock is version %d; version 6 stops that)", can.Landlock))
		}
		add("hard links that are in the sandbox already")
	}
	return out
}

// Wrap returns how programs are started for a session under e: for session.Config.Program. It returns nil where they are
// started as they are. What the host has where b does not say is where e says.
func (e Enforcement) Wrap(s Sandbox, b Bubblewrap, l Landlock) func(session.Program) (session.Program, error) {
	switch e.How {
	case "bubblewrap":
		b.At, b.Keys = cmp.Or(b.At, e.At), b.Keys || e.keys
		b.NoNetwork = b.NoNetwork || e.noNetwork
		b.Hide, b.HideFiles = slices.Concat(b.Hide, e.hide.Dirs), slices.Concat(b.HideFiles, e.hide.Files)
		return func(p session.Program) (session.Program, error) { return b.Program(s, p) }
	case "landlock":
		l.NoNetwork = l.NoNetwork || e.noNetwork
		l.Hide = slices.Concat(l.Hide, e.hide.Dirs, e.hide.Files)
		return func(p session.Program) (session.Program, error) { return l.Program(s, p) }
	}
	return nil
}
