package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// ParseAdHoc reads user@host or user@host:port, which names a host outside the inventory. ok reports whether s has that
// shape at all; if not, it is a selector. An IPv6 address stands in brackets: user@[2001:db8::1]:22.
//
// The host is resolved by ssh_config alone: Name is the host part, as it would be given to ssh(1), User and Port are what
// was written. It has no tier, so it counts as prod, no groups, no labels, and a zero Source, which tells it from a host
// of the inventory of the same name. Errors are [*ParseError].
func ParseAdHoc(s string) (h Host, ok bool, err error) {
	at := strings.LastIndexByte(s, '@')
	if at < 0 || s[0] == '@' || strings.ContainsAny(s, ",|&!()\"=~^ \t\r\n") ||
		strings.HasPrefix(s, "re:") || strings.HasPrefix(s, "file:") {
		return Host{}, false, nil
	}
	user, rest := s[:at], s[at+1:]
	fail := func(format string, args ...any) (Host, bool, error) {
		return Host{}, true, &ParseError{Msg: fmt.Sprintf("%q: ", shorten(s)) + fmt.Errorf(format, args...).Error()}
	}
	if err := CheckUser(user); err != nil {
		return fail("user name %w", err)
	}
	name, port, err := splitPort(rest)
	if err != nil {
		return fail("%w", err)
	}
	h = Host{Name: name, User: user}
	if strings.HasPrefix(rest, "[") {
		if addr, err := netip.ParseAddr(name); err != nil || !addr.Is6() {
			return fail("%q is not an IPv6 address", shorten(name))
		}
	} else if err := CheckName(name); err != nil {
		return fail("host name %w", err)
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return fail("port %q is not between 1 and 65535", shorten(port))
		}
		h.Port = uint16(n)
	}
	return h, true, nil
}

// splitPort splits host:port and [address]:port.
func splitPort(s string) (host, port string, err error) {
	if inner, found := strings.CutPrefix(s, "["); found {
		host, after, closed := strings.Cut(inner, "]")
		if !closed {
			return "", "", errors.New("[ without ]")
		}
		if after == "" {
			return host, "", nil
		}
		if port, found = strings.CutPrefix(after, ":"); !found || port == "" {
			return "", "", errors.New("after ] only :port may follow")
		}
		return host, port, nil
	}
	host, port, found := strings.Cut(s, ":")
	switch {
	case strings.Contains(port, ":"):
		return "", "", errors.New("write an IPv6 address in brackets, as in user@[2001:db8::1]")
	case found && port == "":
		return "", "", errors.New("no port follows the colon")
	}
	return host, port, nil
}

// CheckUser says whether user can be the name of an account to log in as: nothing that could be taken for an option, or
// that means something to a shell, which a command in ssh_config may hand it to. The error completes a sentence about it.
func CheckUser(user string) error {
	if user == "" {
		return errors.New("is missing before @")
	}
	if len(user) > maxName {
		return fmt.Errorf("has %d bytes, more than %d", len(user), maxName)
	}
	if user[0] == '-' {
		return errors.New("must not begin with -")
	}
	for _, r := range user {
		if !unicode.IsPrint(r) || r == ' ' || r == unicode.ReplacementChar || strings.ContainsRune("'`\"$;<>{}[]*?:/", r) {
			return fmt.Errorf("must not contain %q", r)
		}
	}
	if user[len(user)-1] == '\\' {
		return errors.New(`must not end in \`)
	}
	return nil
}

// FormatAdHoc is what ParseAdHoc reads as h: user@host or user@host:port.
func FormatAdHoc(h Host) string {
	name := h.Name
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if h.Port != 0 {
		name += ":" + strconv.Itoa(int(h.Port))
	}
	return h.User + "@" + name
}
