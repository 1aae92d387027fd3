package sshconfig

import (
	"fmt"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Options holds what whoever asks has fixed already, as ssh's command line would. The zero value fixes nothing.
type Options struct {
	User string // "" means what the configuration says, else the local account's name
	Port uint16 // 0 means what the configuration says, else 22
	Tag  string // for Match tagged

	// Lines are options of a command line, "Keyword=value" or "Keyword value" each. They go before the fields above and all
	// files. See [ParseOption].
	Lines []string
	// Offline looks up no names and runs no programs: names stay as they are, and no Match exec holds.
	Offline bool
	// Programs is for a caller that obeys RemoteCommand and RequestTTY: without it the one refuses the host, and the other is skipped.
	Programs bool
	// LookupEnv is the environment of whoever asks, for "${NAME}" and SSH_AUTH_SOCK; nil means that of the Loader.
	LookupEnv func(string) (string, bool)
}

// Resolve says how to reach alias, a host name as typed: without user and port, IPv6 addresses without brackets.
//
// Errors are joined, each an [*Error] with the line to look at, or wrap [ErrBadName]. There are errors for lines that
// are broken even where their block does not apply, as in OpenSSH; for directives that would change which host is
// reached or what protects the connection and are not supported; and for values that cannot be expanded.
func (c *Config) Resolve(alias string, o Options) (Settings, error) {
	r, err := c.resolve(alias, o)
	if err != nil {
		return Settings{}, err
	}
	return r.s, nil
}

// resolve is Resolve, with what it has gone through. The resolver is never nil.
func (c *Config) resolve(alias string, o Options) (*resolver, error) {
	if err := checkHost(alias); err != nil {
		return &resolver{}, fmt.Errorf("sshconfig: %w", err)
	}
	cfg := *c
	local, err := c.local.complete() // a zero Config has not been through a Loader
	if err != nil {
		return &resolver{}, err
	}
	cfg.local = local
	if o.LookupEnv == nil {
		o.LookupEnv = local.LookupEnv
	}
	cfg.local.LookupEnv = o.LookupEnv
	r := &resolver{cfg: &cfg, env: o.LookupEnv, host: alias, offline: o.Offline, programs: o.Programs, seen: map[string]bool{}}
	r.s.Alias = alias
	r.given(o.Lines)
	given := hosts.Pos{File: Given}
	if o.User != "" && !r.s.User.isSet() {
		r.s.User = Value[string]{V: o.User, From: given}
	}
	if o.Port != 0 && !r.s.Port.isSet() {
		r.s.Port = Value[uint16]{V: o.Port, From: given}
	}
	if o.Tag != "" && !r.s.Tag.isSet() {
		r.s.Tag = Value[string]{V: o.Tag, From: given}
	}
	r.pass()
	r.fixHostName()
	r.wantFinal = r.wantFinal || r.canon.on()
	if r.wantFinal && r.problems.list == nil {
		r.final = true
		r.pass()
	}
	if r.problems.list == nil {
		r.finish()
	}
	return r, r.problems.err()
}

// resolver evaluates a Config for one host.
type resolver struct {
	cfg *Config
	env func(string) (string, bool)
	s   Settings

	host      string // what Host patterns are compared with: the alias, in the final pass the resolved name
	system    bool   // what is read now is the system's file
	final     bool   // this is the second pass
	wantFinal bool   // some Match line asks for one
	offline   bool   // nothing is looked up or run
	programs  bool   // see Options.Programs
	asked     bool   // a Match exec would have been run, but for offline

	programLines []string // those that Match exec would have run

	controlMaster Value[string]

	canon     canonical
	canonFrom hosts.Pos // what made the name another one; File is "" where nothing did

	userHostsFrom, globalHostsFrom hosts.Pos
	ignoreUnknown                  string
	seen                           map[string]bool // keywords without a field that have had their first active line
	problems                       problems
}

func (r *resolver) pass() {
	for _, f := range r.cfg.files {
		r.file(f, true, false)
	}
}

// file evaluates one file. active says whether its first lines apply; never says that no block in it does, because it
// was included from one that does not.
func (r *resolver) file(f *file, active, never bool) {
	for i := range f.lines {
		l := &f.lines[i]
		r.system = f.system
		var err error
		switch l.key {
		case "host":
			active, err = r.matchHost(l)
			active = active && !never
		case "match":
			active, err = r.match(l, never)
			active = active && !never
		case "include":
			for _, in := range l.incl {
				r.file(in, active, never || !active)
			}
		default:
			err = r.directive(l, active)
		}
		r.problems.add(err)
	}
}

// fixHostName takes the name that the first pass gave into use.
func (r *resolver) fixHostName() {
	name := r.s.Alias
	if r.s.HostName.isSet() {
		var err error
		if name, err = r.expandHostName(); err != nil {
			r.problems.add(err)
			return
		}
		if err := checkHost(name); err != nil {
			r.problems.add(&Error{Pos: r.s.HostName.From, Msg: "HostName", Err: err})
		}
	}
	r.host = foldHost(name)
	if r.problems.list == nil {
		r.canonicalize()
	}
	if (r.wantFinal || r.canon.on()) && !r.s.HostName.isSet() {
		// Nothing may set it in the final pass. The marker is taken back by finish.
		r.s.HostName.From.File = Given
	}
}
