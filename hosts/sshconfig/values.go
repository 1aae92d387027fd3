package sshconfig

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// parseFlag reads yes, no, true and false in any case.
func parseFlag(s string) (bool, error) {
	switch lower(s) {
	case "yes", "true":
		return true, nil
	case "no", "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is not yes or no", s)
}

func parseStrict(s string) (StrictHostKeyChecking, error) {
	switch lower(s) {
	case "yes", "true":
		return StrictYes, nil
	case "no", "false", "off":
		return StrictOff, nil
	case "ask":
		return StrictAsk, nil
	case "accept-new":
		return StrictAcceptNew, nil
	}
	return "", fmt.Errorf("%q is not yes, no, ask or accept-new", s)
}

// parseInt reads a number as C's strtoll does: leading blanks and a sign are fine, anything behind it is not.
func parseInt(s string, limit int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimLeft(s, " \t\n\v\f\r"), 10, 64)
	if err != nil || n < 0 || n > limit {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", s, limit)
	}
	return n, nil
}

func parseCount(s string) (int, error) {
	n, err := parseInt(s, math.MaxInt32)
	return int(n), err
}

func parseMaster(s string) (string, error) {
	switch s = lower(s); s {
	case "ask", "auto", "autoask":
		return s, nil
	}
	yes, err := parseFlag(s)
	if err == nil && yes {
		return "yes", nil
	}
	return "no", err
}

func parseTTY(s string) (string, error) {
	switch s = lower(s); s {
	case "auto", "force":
		return s, nil
	}
	yes, err := parseFlag(s)
	if err == nil && yes {
		return "yes", nil
	}
	return "no", err
}

func parseFamily(s string) (string, error) {
	switch s = lower(s); s {
	case "any":
		return "", nil
	case "inet", "inet6":
		return s, nil
	}
	return "", fmt.Errorf("%q is not any, inet or inet6", s)
}

// parsePubkey reads what PubkeyAuthentication may be. Its other two values speak of how a signature is bound to a host, which is
// left to the server.
func parsePubkey(s string) (bool, error) {
	switch lower(s) {
	case "unbound", "host-bound":
		return true, nil
	}
	return parseFlag(s)
}

// parseRekey reads a number of bytes such as 500M or 1.5G, as BSD's scan_scaled does: what stands behind the unit counts only where
// it could be part of it.
func parseRekey(s string) (uint64, error) {
	if lower(s) == "default" {
		return 0, nil
	}
	bad := fmt.Errorf("%q is not a number of bytes such as 500M, or default", s)
	rest := strings.TrimPrefix(strings.TrimLeft(s, " \t\n\v\f\r"), "+")
	end := strings.IndexFunc(rest, func(c rune) bool { return c != '.' && (c < '0' || '9' < c) })
	if end < 0 {
		end = len(rest)
	}
	digits, part, _ := strings.Cut(rest[:end], ".")
	rest = rest[end:]
	whole, err := strconv.ParseUint("0"+digits, 10, 64)
	if err != nil || digits+part == "" || strings.Contains(part, ".") || whole > math.MaxInt64 {
		return 0, bad
	}
	n := whole
	if rest != "" { // without a unit a fraction has no effect
		i := strings.IndexByte("bkmgtpe", lower(rest[:1])[0])
		if i < 0 || len(rest) > 1 && isAlnum(rest[1]) {
			return 0, bad
		}
		unit := uint64(1) << (10 * i)
		if whole > math.MaxInt64/unit {
			return 0, bad
		}
		fraction, _ := strconv.ParseFloat("0."+part+"0", 64)
		n = whole*unit + uint64(fraction*float64(unit))
	}
	if n != 0 && n < 16 {
		return 0, fmt.Errorf("%q is too small", s)
	}
	return n, nil
}

// parsePort reads a port number or the name of a TCP service.
func parsePort(s string) (uint16, error) {
	if n, err := parseInt(s, math.MaxUint16); err == nil && n > 0 {
		return uint16(n), nil
	}
	// net.LookupPort folds case, OpenSSH's lookup does not.
	if s != "" && s == lower(s) && 'a' <= s[0] && s[0] <= 'z' {
		if n, err := net.LookupPort("tcp", s); err == nil && n > 0 && n <= math.MaxUint16 {
			return uint16(n), nil
		}
	}
	return 0, fmt.Errorf("%q is not a port (1 to 65535)", s)
}

// parseTime reads OpenSSH's time format: seconds, or numbers with the units s, m, h, d and w in a row.
func parseTime(s string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a time such as 30, 1m or 1h30m", s)
	units := map[byte]int64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 604800}
	var total int64
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	if rest != "" && rest[0] == '+' {
		rest = rest[1:]
	}
	if rest == "" {
		return 0, bad
	}
	for rest != "" {
		i := 0
		for i < len(rest) && '0' <= rest[i] && rest[i] <= '9' {
			i++
		}
		n, err := strconv.ParseInt(rest[:i], 10, 64)
		if err != nil || n > math.MaxInt32 {
			return 0, bad
		}
		unit := int64(1)
		if rest = rest[i:]; rest != "" {
			if unit = units[lower(rest[:1])[0]]; unit == 0 {
				return 0, bad
			}
			rest = rest[1:]
		}
		if total += n * unit; total > math.MaxInt32 {
			return 0, bad
		}
	}
	return time.Duration(total) * time.Second, nil
}

// foldHost lower-cases a name and leaves an address as it is.
func foldHost(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return s
	}
	return lower(s)
}

// checkHost refuses names that no DNS or inventory has and that could be taken for something else.
func checkHost(s string) error {
	if err := checkName(s); err != nil {
		return fmt.Errorf("host name %q: %w", s, err)
	}
	return nil
}

func checkUser(s string) error {
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0 {
		return nil
	}
	return fmt.Errorf("user name %q: %w", s, checkName(s))
}

func checkName(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: it is empty", ErrBadName)
	case s[0] == '-':
		return fmt.Errorf("%w: it starts with a dash and would be read as an option", ErrBadName)
	}
	for _, r := range s {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`"'\`, r) {
			return fmt.Errorf("%w: it holds %q", ErrBadName, r)
		}
	}
	return nil
}
