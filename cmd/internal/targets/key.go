package targets

import "github.com/fairlead-ssh/fairlead/hosts"

// Key tells the hosts of one request apart: names are unique in an inventory, but not outside of it.
type Key struct {
	name, user string
	port       uint16
	source     hosts.Pos
}

// KeyOf is a host's.
func KeyOf(h hosts.Host) Key { return Key{h.Name, h.User, h.Port, h.Source} }

// Asked is what a host is asked for by, so that another process finds the same one: its name in the inventory, and
// user@host:port or ssh://host:port outside of it.
func Asked(h hosts.Host) string {
	switch {
	case h.Source != (hosts.Pos{}):
		return h.Name
	case h.User == "":
		return formatUnlisted(h)
	}
	return hosts.FormatAdHoc(h)
}
