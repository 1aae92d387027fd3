package hosts

import (
	"errors"
	"maps"
	"slices"
)

// Credential says how some principals log in to some hosts over SSH. Of the credentials that are for a principal and a
// host one counts, alone: the one that names the principal most closely, by name before role and role before "*".
type Credential struct {
	Principals []string // names such as agent/mcp, role=agent, or "*"; see CheckPrincipal
	Hosts      Selector // over the inventory
	User       string   // the account; "" means the host's
	Identity   []string // the only keys that are offered; none means the host's, and those that ssh would try
	// Sandboxed is an operator's word that User can do no more, on these hosts, than what the sandboxes of these principals
	// allow. Nobody checks it. It needs User.
	Sandboxed bool
	Source    Pos
}

// equal reports whether two say the same about a login.
func (c Credential) equal(o Credential) bool {
	return c.User == o.User && c.Sandboxed == o.Sandboxed && slices.Equal(c.Identity, o.Identity)
}

// standing is that of the principal among c's.
func (c Credential) standing(principal string) (most int) {
	for _, s := range c.Principals {
		most = max(most, standing(s, principal))
	}
	return most
}

func (c Credential) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, problem(c.Source, format, args...)) }
	if len(c.Principals) == 0 {
		bad("a credential without principals: say whom it is for")
	}
	for _, s := range c.Principals {
		if err := CheckPrincipal(s); err != nil {
			bad("principals: %q %w", shorten(s), err)
		}
	}
	switch {
	case c.Hosts.IsZero():
		bad("a credential without hosts: say where it is for")
	case c.User == "" && len(c.Identity) == 0:
		bad("a credential without user and identity: say the account, the keys, or both")
	case c.User == "" && c.Sandboxed:
		bad("sandboxed is about an account: say which with user")
	}
	return errors.Join(errs...)
}

// logins are the credentials of an inventory, and how one principal looks at them.
type logins struct {
	all []Credential
	who string       // "" is nobody: hosts are as their entries say
	own []Credential // those for who, the closest first
}

// WithCredentials returns the inventory with credentials, which count from [Inventory.As] on; also with none at all, so
// that nobody has any. It copies what it is given. What is wrong with them, and two that say different things of the same
// host to principals that they name in the same way, are [*ParseError], all of them joined.
func (inv *Inventory) WithCredentials(creds []Credential) (*Inventory, error) {
	l := &logins{all: make([]Credential, len(creds))}
	var errs []error
	for i, c := range creds {
		c.Principals, c.Identity = slices.Clone(c.Principals), slices.Clone(c.Identity)
		l.all[i] = c
		errs = append(errs, c.check())
	}
	if err := errors.Join(append(errs, inv.disagreements(l.all)...)...); err != nil {
		return nil, err
	}
	out := *inv
	out.logins = l
	return &out, nil
}

// disagreements finds hosts to which a principal has two logins.
func (inv *Inventory) disagreements(creds []Credential) (errs []error) {
	naming := map[string][]int{} // credentials, by how they name a principal
	for i, c := range creds {
		for _, s := range c.Principals {
			if !slices.Contains(naming[s], i) {
				naming[s] = append(naming[s], i)
			}
		}
	}
	said := map[[2]int]bool{}
	for _, s := range slices.Sorted(maps.Keys(naming)) {
		for pair, names := range inv.clashes(creds, naming[s]) {
			if said[pair] {
				continue
			}
			said[pair] = true
			errs = append(errs, problem(creds[pair[1]].Source, `%s has two logins to %s, the other one is on line %d: take the hosts out of one of them, as in "all,!web01"`,
				s, shorten(Fold(names)), creds[pair[0]].Source.Line))
		}
	}
	return errs
}

// clashes returns the hosts that two of some credentials are for and do not say the same about, by those two.
func (inv *Inventory) clashes(creds []Credential, some []int) map[[2]int][]string {
	if len(some) < 2 {
		return nil
	}
	out := map[[2]int][]string{}
	for _, h := range inv.hosts {
		if !h.overSSH() {
			continue
		}
		first := -1
		for _, i := range some {
			switch {
			case !creds[i].Hosts.Match(h):
			case first < 0:
				first = i
			case !creds[first].equal(creds[i]):
				pair := [2]int{first, i}
				out[pair] = append(out[pair], h.Name)
			}
		}
	}
	return out
}

// As returns the inventory as a principal logs in to its hosts: what Lookup, Select and All return has the User and
// Identity of the credential that counts. Where an inventory has credentials, an agent does not log in to a host over SSH
// whose tier is not [Dev] with any other keys than those of its credential: without one that has an Identity such a host
// has NoLogin set. An inventory without credentials is returned as it is.
func (inv *Inventory) As(principal string) *Inventory {
	if inv.logins == nil {
		return inv
	}
	l := &logins{all: inv.logins.all, who: principal}
	for _, c := range l.all {
		if c.standing(principal) > 0 {
			l.own = append(l.own, c)
		}
	}
	slices.SortStableFunc(l.own, func(a, b Credential) int { return b.standing(principal) - a.standing(principal) })
	out := *inv
	out.logins = l
	return &out
}

// Credential returns the one that counts for the principal of [Inventory.As] on a host of the inventory. ok is false where
// there is none.
func (inv *Inventory) Credential(h Host) (c Credential, ok bool) {
	if inv.logins == nil || !h.overSSH() {
		return Credential{}, false
	}
	for _, c := range inv.logins.own {
		if c.Hosts.Match(h) {
			return c, true
		}
	}
	return Credential{}, false
}

// Outside returns a host that is not in the inventory as the principal of [Inventory.As] logs in to it: no credential is
// for it, so where there are any an agent does not.
func (inv *Inventory) Outside(h Host) Host {
	if inv.logins != nil && RoleOf(inv.logins.who) == RoleAgent && inv.logins.who != "" && h.overSSH() {
		h.NoLogin = "it is not in the inventory, whose credentials say how " + inv.logins.who +
			" logs in: add it there, and where it is a jump host name it in via"
	}
	return h
}

// login returns a host of the inventory as its principal logs in to it.
func (inv *Inventory) login(h Host) Host {
	if inv.logins == nil || inv.logins.who == "" || !h.overSSH() {
		return h
	}
	c, ok := inv.Credential(h)
	if c.User != "" {
		h.User = c.User
	}
	if len(c.Identity) > 0 {
		h.Identity, h.IdentityOnly = c.Identity, true
	}
	h.Sandboxed = c.Sandboxed
	if who := inv.logins.who; !h.IdentityOnly && h.TierName() != Dev && RoleOf(who) == RoleAgent {
		h.NoLogin = "the inventory's credentials give " + who + " no key for it, and outside tier dev an agent never uses the operator's: "
		if ok {
			h.NoLogin += "add identity to the entry that gives it the user " + c.User
		} else {
			h.NoLogin += "add an entry with principals, hosts and identity under credentials"
		}
	}
	return h
}

// overSSH reports whether a host is logged in to with keys and accounts of the caller's choice.
func (h Host) overSSH() bool { return h.Transport == "" || h.Transport == SSH }
