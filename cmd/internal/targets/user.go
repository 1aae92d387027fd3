package targets

import (
	"regexp"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// asUser is user@SELECTOR, of one selector without a union around it.
var asUser = regexp.MustCompile(`^\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)@(.+)$`)

// splitUser takes the user off user@SELECTOR. A host's name behind it is one of the inventory where that has it, and else a host
// outside of it, of which ok is false. So is it for members of a union, each of which may have a user of its own.
func (r *Resolver) splitUser(expr string) (user, rest string, ok bool) {
	m := asUser.FindStringSubmatch(expr)
	if m == nil || r.As == nil {
		return "", expr, false
	}
	user, rest = m[1], strings.TrimSpace(m[2])
	if _, plain, err := hosts.ParseAdHoc(strings.TrimSpace(expr)); plain && err == nil && rest[0] != '@' {
		inv, err := r.Inventory()
		if err != nil {
			return "", expr, false // it needs none
		}
		if _, err := inv.Lookup(rest); err != nil {
			return "", expr, false
		}
		return user, rest, true
	}
	if topComma(rest) {
		return "", expr, false
	}
	if _, err := r.parse(rest); err != nil {
		return "", expr, false
	}
	return user, rest, true
}

// topComma reports whether a selector is a union, outside of brackets and parentheses.
func topComma(expr string) bool {
	depth := 0
	for _, c := range expr {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',', '|':
			if depth <= 0 {
				return true
			}
		}
	}
	return false
}
