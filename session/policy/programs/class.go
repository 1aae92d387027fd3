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

// rank is [policy.Class.Rank], for the classes of tables too.
func rank(c policy.Class) int {
	switch c {
	case installing:
		c = forbid
	case recode:
		c = read
	}
	return c.Rank()
}

// phrase says what a class means for the sentence "NAME -x …".
func phrase(c policy.Class) string {
	switch c {
	case read:
		return "changes nothing"
	case secret:
		return "may show secrets"
	case network:
		return "reads over the network"
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
		return "cannot be determined before it runs"
	}
}
