package programs

import "github.com/fairlead-ssh/fairlead/session/policy"

// Short names, so that the tables stay readable.
const (
	read    = policy.ReadOnly
	secret  = policy.SensitiveRead
	write   = policy.Write
	unknown = policy.Unknown
	danger  = policy.Dangerous
	priv    = policy.Privileged
	forbid  = policy.Forbidden

	// installing is forbidden, and told apart by its rule.
	installing policy.Class = "install"

	// endless is unknown, but for a command that something else ends.
	endless policy.Class = "endless"
)

// Severity orders classes from the mildest, 0 for [policy.ReadOnly]. A class that nobody set, or that this package
// does not know, counts as [policy.Unknown].
func Severity(c policy.Class) int {
	switch c {
	case read:
		return 0
	case secret:
		return 1
	case write:
		return 2
	case danger:
		return 4
	case priv:
		return 5
	case forbid, installing:
		return 6
	default:
		return 3
	}
}

// phrase says what a class means for the sentence "NAME -x …".
func phrase(c policy.Class) string {
	switch c {
	case read:
		return "changes nothing"
	case secret:
		return "may show secrets"
	case write:
		return "writes, changes something or opens a network connection"
	case danger:
		return "stops or removes what others rely on"
	case priv:
		return "takes another account's rights"
	case endless:
		return "may never end"
	case installing:
		return "installs packages"
	case forbid:
		return "may destroy the host or open it to others"
	default:
		return "cannot be told before it runs"
	}
}
