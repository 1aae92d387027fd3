package targets

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// unlisted begins a host outside of the inventory that is named without a user.
const unlisted = "ssh://"

// ParseUnlisted reads ssh://host or ssh://host:port, which is user@host without the user: that one is for ssh_config to say.
// ok reports whether s has that shape at all.
func ParseUnlisted(s string) (h hosts.Host, ok bool, err error) {
	rest, ok := strings.CutPrefix(s, unlisted)
	if !ok {
		return h, false, nil
	}
	if strings.Contains(rest, "@") {
		return h, true, &hosts.ParseError{Msg: "write user@host without ssh://"}
	}
	h, ok, err = hosts.ParseAdHoc("x@" + rest)
	if err == nil && !ok {
		err = &hosts.ParseError{Msg: "the name of a host is missing behind ssh://"}
	}
	h.User = ""
	return h, true, err
}

// formatUnlisted is what ParseUnlisted reads as h.
func formatUnlisted(h hosts.Host) string {
	h.User = "x"
	return unlisted + strings.TrimPrefix(hosts.FormatAdHoc(h), "x@")
}
