package sshconfig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The values of CanonicalizeHostname. Its default is no.
const (
	canonicalNo     = "no"
	canonicalYes    = "yes"
	canonicalAlways = "always"
)

const (
	maxDomains     = 32               // OpenSSH's limit
	canonicalTime  = 10 * time.Second // for all lookups of one name
	defaultMaxDots = 1
)

// canonical is what the directives about canonical names say.
type canonical struct {
	mode          Value[string]
	domains       []string
	cnames        []cnames
	maxDots       Value[int]
	fallbackLocal Value[bool]
}

// on reports whether names are made canonical; then a second pass follows, for the blocks of those names.
func (c *canonical) on() bool { return c.mode.V == canonicalYes || c.mode.V == canonicalAlways }

// cnames lets names that match from be aliases of such that match to.
type cnames struct{ from, to string }

// canonicalize replaces the name that the first pass gave by the canonical one, where that is asked for.
func (r *resolver) canonicalize() {
	if a, v6, ok := numeric(r.host); ok && r.s.AddressFamily.V != map[bool]string{true: "inet", false: "inet6"}[v6] {
		if !strings.EqualFold(a, r.host) {
			r.host = a
		}
		return
	}
	c := &r.canon
	direct := !r.s.ProxyJump.isHop() && (!r.s.ProxyCommand.isSet() || lower(r.s.ProxyCommand.V) == None)
	if r.offline || !c.on() || looksNumeric(r.host) || !direct && c.mode.V != canonicalAlways {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), canonicalTime)
	defer cancel()
	dots := defaultMaxDots
	if c.maxDots.isSet() {
		dots = c.maxDots.V
	}
	var try []string
	switch {
	case strings.HasSuffix(r.host, "."):
		try = []string{r.host}
	case strings.Count(r.host, ".") > dots:
		r.follow(ctx, r.host)
		return
	default:
		for _, domain := range c.domains {
			try = append(try, r.host+"."+domain+".")
		}
	}
	for _, name := range try {
		if !r.exists(ctx, name) {
			continue
		}
		r.canonFrom = c.mode.From
		r.host = lower(strings.TrimSuffix(name, "."))
		r.follow(ctx, name)
		return
	}
	switch {
	case ctx.Err() != nil:
		r.problems.add(errorAt(c.mode.From, "CanonicalizeHostname: looking up %s took longer than %v", r.host, canonicalTime))
	case c.fallbackLocal.isSet() && !c.fallbackLocal.V:
		r.problems.add(errorAt(c.fallbackLocal.From, "the name %s is in none of CanonicalDomains (%s), and CanonicalizeFallbackLocal is no",
			r.host, or(strings.Join(c.domains, " "), "which is empty")))
	default:
		r.follow(ctx, r.host)
	}
}

// follow takes the name that an alias in DNS stands for, where CanonicalizePermittedCNAMEs allows it.
func (r *resolver) follow(ctx context.Context, name string) {
	if len(r.canon.cnames) == 0 {
		return
	}
	target, err := r.cfg.local.resolver().LookupCNAME(ctx, name)
	if ctx.Err() != nil {
		r.problems.add(errorAt(r.canon.mode.From, "CanonicalizeHostname: looking up %s took longer than %v", name, canonicalTime))
		return
	}
	if target = lower(strings.TrimSuffix(target, ".")); err != nil || target == "" || target == r.host {
		return
	}
	for _, rule := range r.canon.cnames {
		if !matchList(r.host, rule.from, true) || !matchList(target, rule.to, true) {
			continue
		}
		if err := checkHost(target); err != nil {
			r.problems.add(&Error{Pos: r.canon.mode.From, Msg: "CanonicalizePermittedCNAMEs", Err: err})
			return
		}
		r.host, r.canonFrom = target, r.canon.mode.From
		return
	}
}

// exists reports whether a name has an address.
func (r *resolver) exists(ctx context.Context, name string) bool {
	kind := map[string]string{"": "ip", "inet": "ip4", "inet6": "ip6"}[r.s.AddressFamily.V]
	all, err := r.cfg.local.resolver().LookupNetIP(ctx, kind, name)
	return err == nil && len(all) > 0
}

func (l Loader) resolver() *net.Resolver {
	if l.Resolver != nil {
		return l.Resolver
	}
	return net.DefaultResolver
}

// isHop reports whether hosts are jumped through.
func (v Value[T]) isHop() bool {
	jumps, ok := any(v.V).([]Jump)
	return ok && len(jumps) > 0
}

// canonicalDirective takes one line into what canonicalize reads.
func (r *resolver) canonicalDirective(l *line, active bool) error {
	c := &r.canon
	switch l.key {
	case "canonicalizehostname":
		return one(l, active, &c.mode, parseCanonical)
	case "canonicalizemaxdots":
		return one(l, active, &c.maxDots, parseCount)
	case "canonicalizefallbacklocal":
		return one(l, active, &c.fallbackLocal, parseFlag)
	case "canonicaldomains":
		list, err := words(l, checkDomain)
		if active && c.domains == nil {
			c.domains = list
		}
		return err
	}
	list, err := words(l, checkCNAMEs)
	if active && c.cnames == nil {
		for _, rule := range list {
			from, to, ok := strings.Cut(lower(rule), ":")
			if !ok {
				to = from // "*"
			}
			c.cnames = append(c.cnames, cnames{from, to})
		}
	}
	return err
}

// words returns the words of a line, each as check gives it; none for "none".
func words(l *line, check func(string) (string, error)) ([]string, error) {
	if len(l.args) == 0 {
		return nil, errMissing
	}
	if len(l.args) > maxDomains {
		return nil, fmt.Errorf("more than %d words", maxDomains)
	}
	out := make([]string, 0, len(l.args))
	for _, word := range l.args {
		switch {
		case word == "":
			return nil, errMissing
		case lower(word) == None && len(l.args) > 1:
			return nil, errors.New("none must be the only value")
		case lower(word) == None:
			continue
		}
		word, err := check(word)
		if err != nil {
			return nil, err
		}
		out = append(out, word)
	}
	return out, nil
}

func parseCanonical(s string) (string, error) {
	if lower(s) == canonicalAlways {
		return canonicalAlways, nil
	}
	yes, err := parseFlag(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not yes, no or always", s)
	case yes:
		return canonicalYes, nil
	}
	return canonicalNo, nil
}

// checkDomain returns a domain in lower case, without a dot at the end.
func checkDomain(s string) (string, error) {
	s = lower(s)
	bad := fmt.Errorf("%q is not the name of a domain", s)
	if !isAlnum(s[0]) || strings.Contains(s, "..") {
		return "", bad
	}
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '-' && c != '.' && c != '_' {
			return "", bad
		}
	}
	return strings.TrimSuffix(s, "."), nil
}

func checkCNAMEs(s string) (string, error) {
	if _, to, _ := strings.Cut(s, ":"); s != "*" && to == "" {
		return "", fmt.Errorf("%q is not a pair FROM:TO of lists of names", s)
	}
	return s, nil
}

// looksNumeric reports whether a name can be nothing but an address, if a broken one.
func looksNumeric(s string) bool {
	return strings.Contains(s, ":") || strings.Trim(s, "0123456789.") == ""
}

// numeric returns how an address is written, where s is one: also in the short, octal and hexadecimal forms that C libraries read.
func numeric(s string) (text string, v6, ok bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String(), a.Is6(), true
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 || slices.Contains(parts, "") {
		return "", false, false
	}
	var ip uint64
	for i, p := range parts {
		last := i == len(parts)-1
		n, err := strconv.ParseUint(cNumber(p), 0, 32)
		limit := uint64(255)
		if last {
			limit = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || n > limit || strings.Contains(p, "_") {
			return "", false, false
		}
		if last {
			ip = ip<<(8*(5-len(parts))) | n
		} else {
			ip = ip<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String(), false, true
}

// cNumber makes a number of C one that strconv reads alike: Go has more prefixes.
func cNumber(s string) string {
	if s[0] < '0' || s[0] > '9' {
		return "" // a sign
	}
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		return "0o" + s[1:]
	}
	if len(s) > 1 && s[0] == '0' && s[1] != 'x' && s[1] != 'X' {
		return ""
	}
	return s
}
