package rules

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// addressPattern is where a command may connect to: one of the words, addresses, or a name.
type addressPattern struct {
	loopback, private bool
	prefix            netip.Prefix
	name              string // in lower case
	below             bool   // any name below it, and not the name itself
}

const addressForms = "must be loopback, private, an address (192.0.2.7), a network (10.1.0.0/16), a name (db.example.com) or all names below one (*.example.com)"

func parseAddressPattern(s string) (a addressPattern, err error) {
	bad := errors.New(addressForms)
	switch s {
	case "loopback":
		return addressPattern{loopback: true}, nil
	case "private":
		return addressPattern{private: true}, nil
	}
	if strings.Contains(s, "/") {
		a.prefix, err = netip.ParsePrefix(s)
		switch {
		case err != nil:
			return a, bad
		case a.prefix != a.prefix.Masked():
			return a, errors.New("has bits set behind the length of the network: write " + a.prefix.Masked().String())
		case a.prefix.Addr().Is4In6():
			return a, bad
		}
		return a, nil
	}
	if word := strings.ToLower(s); word == "loopback" || word == "private" {
		return a, errors.New("must be in small letters: " + word)
	}
	for _, word := range []string{"loopback", "private"} {
		if oneOff(s, word) {
			return a, errors.New("is not known (did you mean " + word + "?)")
		}
	}
	a.name, a.below = strings.CutPrefix(s, "*.")
	host := programs.Host(a.name)
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "", a.below && err == nil:
		return a, bad
	case err == nil:
		return addressPattern{prefix: netip.PrefixFrom(addr, addr.BitLen())}, nil
	}
	a.name = host
	return a, nil
}

// oneOff reports whether a word becomes another one by a letter more, less or other, or by two that changed places.
func oneOff(a, b string) bool {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	x, y := a[from:], b[from:]
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x) < 2 && len(y) < 2 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}

// metadata reports whether the pattern stands for metadata services alone.
func (a addressPattern) metadata() bool {
	switch {
	case a.name != "":
		return !a.below && judge.Metadata(a.name)
	case a.prefix.IsValid():
		return judge.MetadataPrefix(a.prefix)
	}
	return false
}

// matches reports whether a host of a [judge.Report] is surely one of those. What a name leads to is not known, but for this
// machine's own.
func (a addressPattern) matches(host string) bool {
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "":
		return false
	case a.name != "":
		return err != nil && (!a.below && host == a.name || a.below && strings.HasSuffix(host, "."+a.name))
	case err != nil:
		return a.loopback && (host == "localhost" || strings.HasSuffix(host, ".localhost"))
	case a.loopback:
		return addr.IsLoopback()
	case a.private:
		return addr.IsPrivate() && !judge.MetadataAddr(addr)
	}
	return a.prefix.Contains(addr)
}

func (r *rule) leadsTo(host string) bool {
	return slices.ContainsFunc(r.to, func(a addressPattern) bool { return a.matches(host) })
}

// coversAddresses reports whether all that the command connects to is surely what the rule is for, and the unit connects to
// some of it. Metadata services take a rule that names the class sensitive-read.
func (r *rule) coversAddresses(c *command, u *unit, class policy.Class) bool {
	if class != policy.ReadOnly && slices.ContainsFunc(c.rep.To, judge.Metadata) && !slices.Contains(r.classes, policy.SensitiveRead) {
		return false
	}
	switch {
	case len(r.to) == 0:
		return true
	case c.rep.Capped || len(c.rep.To) == 0:
		return false
	case len(u.to) == 0 && class != policy.ReadOnly: // what reads beside it, such as a filter, connects to nothing
		return false
	}
	return !slices.ContainsFunc(c.rep.To, func(host string) bool { return !r.leadsTo(host) })
}

// touchesAddresses says whether the command connects to what the rule is for. Where a name leads to is known to nobody.
func (r *rule) touchesAddresses(rep *judge.Report) match {
	m := no
	if rep.Capped || rep.Hidden {
		m = maybe
	}
	for _, host := range rep.To {
		_, err := netip.ParseAddr(host)
		switch {
		case r.leadsTo(host):
			return yes
		case host == "", err != nil && slices.ContainsFunc(r.to, func(a addressPattern) bool { return a.name == "" }),
			err == nil && slices.ContainsFunc(r.to, func(a addressPattern) bool { return a.name != "" }):
			m = maybe
		}
	}
	return m
}

// whyAddresses says what keeps a rule from covering where a command connects to.
func (r *rule) whyAddresses(c *command) string {
	switch {
	case len(c.rep.To) == 0:
		return "it connects to no address that Fairlead knows"
	case len(r.to) == 0, slices.ContainsFunc(c.rep.To, judge.Metadata) && !slices.Contains(r.classes, policy.SensitiveRead):
		return "it reads a metadata service, which the rule covers only if classes name sensitive-read"
	}
	for _, host := range c.rep.To {
		switch {
		case host == "":
			return "Fairlead cannot determine all addresses that it connects to"
		case !r.leadsTo(host):
			return "it connects to " + host + ", which is not one of the rule's addresses"
		}
	}
	return "a part of it connects to no address"
}

// connects reports whether a command that the pattern is for may be a network-read.
func (p pattern) connects() bool {
	return slices.ContainsFunc(p.words, func(w string) bool { return programs.Connects(w[strings.LastIndexByte(w, '/')+1:]) })
}
