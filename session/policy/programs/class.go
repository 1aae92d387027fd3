package programs

import "github.com/fairlead-ssh/fairlead/session/policy"

// Short names, so that the tables stay readable.
const (
	read    = policy.ReadOnly
	secret  = policy.SensitiveRead
	network = policy.NetworkRead
	write   = policy.Write
	unknown = policy.Unknown
	danger  = policy.Dangerous
	priv    = policy.Privileged
	forbid  = policy.Forbidden

	// installing is forbidden, and told apart by its rule.
	installing policy.Class = "install"

	// endless is unknown, but for a command that something else ends.
	endless policy.Class = "endless"

	// recode is a read of files in which nobody finds secrets afterwards: whether they hold any is the caller's question.
	recode policy.Class = "recode"
)

// Severity orders classes from the mildest, 0 for [policy.ReadOnly]. A class that nobody set, or that this package
// does not know, counts as [policy.Unknown].
func Severity(c policy.Class) int {
	switch c {
	case read, recode:
		return 0
	case secret:
		return 1
	case network:
		return 2
	case write:
		return 3
	case danger:
		return 5
	case priv:
		return 6
	case forbid, installing:
		return 7
	default:
		return 4
	}
}

// phrase says what a class means for the sentence "NAME -x …".
func phrase(c policy.Class) string {
	switch c {
	case read:
		return "changes nothing"
	case secret:
		return "may show secrets"
	case network:
		return "asks over the network"
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
