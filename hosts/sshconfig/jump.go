package sshconfig

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Jump is one hop of a ProxyJump chain.
type Jump struct {
	User string // "" means what the configuration says for Host
	Host string // alias of the hop
	Port uint16 // 0 means what the configuration says for Host
}

// parseJumps reads the value of ProxyJump: "none", which gives an empty list, or hops separated by commas. Unlike other
// values it is not split into words, and "#" ends it wherever it stands.
func parseJumps(raw string) ([]Jump, error) {
	raw, _, _ = strings.Cut(strings.TrimLeft(raw, space+"="), "#")
	raw = strings.TrimRight(raw, space)
	if lower(raw) == None {
		return nil, nil
	}
	var out []Jump
	for hop := range strings.SplitSeq(raw, ",") {
		j, err := parseJump(hop)
		if err != nil {
			return nil, fmt.Errorf("hop %q: %w", hop, err)
		}
		out = append(out, j)
	}
	return out, nil
}

func parseJump(s string) (j Jump, err error) {
	if lower(s) == None {
		return j, errors.New("none must be the only value")
	}
	uri := len(s) >= 6 && lower(s[:6]) == "ssh://"
	if uri {
		s = strings.TrimSuffix(s[6:], "/")
	}
	hostport := s
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		j.User, hostport = s[:i], s[i+1:]
		if uri {
			if j.User, err = url.PathUnescape(j.User); err != nil || strings.Contains(j.User, ";") {
				return j, errors.New("the user part of this address is not supported")
			}
		}
		if err := checkUser(j.User); err != nil {
			return j, err
		}
	}
	port, hasPort := "", false
	if rest, ok := strings.CutPrefix(hostport, "["); ok {
		var closed bool
		if j.Host, port, closed = strings.Cut(rest, "]"); !closed {
			return j, errors.New("the bracket is not closed")
		}
		if port, hasPort = strings.CutPrefix(port, ":"); !hasPort && port != "" {
			return j, errors.New("only a port may follow the bracket")
		}
	} else {
		j.Host, port, hasPort = strings.Cut(hostport, ":")
		if strings.Contains(port, ":") {
			return j, errors.New("an IPv6 address needs brackets")
		}
	}
	if strings.Contains(j.Host, "/") {
		return j, errors.New("a path is not allowed")
	}
	if hasPort && port != "" {
		if j.Port, err = parsePort(port); err != nil {
			return j, err
		}
	}
	return j, checkHost(j.Host)
}

// finishJumps expands the tokens that OpenSSH allows in hops and refuses a host that is its own jump host, where names are not left as
// they are: a name may stand for another address as a hop.
func (s *Settings) finishJumps(offline bool) error {
	if len(s.ProxyJump.V) == 0 {
		return nil
	}
	all := s.tokens(Loader{})
	t := tokens{'h': all['h'], 'n': all['n'], 'p': all['p'], 'r': all['r']}
	for i := range s.ProxyJump.V {
		j := &s.ProxyJump.V[i]
		var err error
		for _, part := range []*string{&j.User, &j.Host} {
			if *part, err = expand(*part, t, nil); err != nil {
				return &Error{Pos: s.ProxyJump.From, Msg: "ProxyJump", Err: err}
			}
		}
	}
	last := s.ProxyJump.V[len(s.ProxyJump.V)-1]
	port := last.Port
	if port == 0 {
		port = DefaultPort
	}
	if !offline && last.Host == s.HostName.V && port == s.Port.V && or(last.User, s.User.V) == s.User.V {
		return errorAt(s.ProxyJump.From, "ProxyJump: %s is its own jump host; put \"ProxyJump none\" before this line for it",
			last.Host)
	}
	return nil
}
