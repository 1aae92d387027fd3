package targets

import "github.com/fairlead-ssh/fairlead/hosts"

// Among returns what reports whether a host is one of hs.
func Among(hs []hosts.Host) func(hosts.Host) bool {
	keys := make(map[Key]bool, len(hs))
	for _, h := range hs {
		keys[KeyOf(h)] = true
	}
	return func(h hosts.Host) bool { return keys[KeyOf(h)] }
}

// Divide returns the hosts for which is holds, and the others, both in order.
func Divide(hs []hosts.Host, is func(hosts.Host) bool) (yes, no []hosts.Host) {
	for _, h := range hs {
		if is(h) {
			yes = append(yes, h)
		} else {
			no = append(no, h)
		}
	}
	return yes, no
}
