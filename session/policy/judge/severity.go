package judge

import "github.com/fairlead-ssh/fairlead/session/policy"

// order is from the mildest class to the worst. Unknown is worse than Write because a policy may well allow writes
// where it does not allow what nobody can tell, and milder than Dangerous because what is known to be dangerous is the
// better thing to say. A policy that allows dangerous commands but not unknown ones must look at Report.Classes.
var order = [...]policy.Class{
	policy.ReadOnly, policy.SensitiveRead, policy.NetworkRead, policy.Write, policy.Unknown, policy.Dangerous, policy.Privileged, policy.Forbidden,
}

const rankUnknown = 4

// Rank orders classes: the higher, the worse. A class that is no class ranks as Unknown.
func Rank(c policy.Class) int {
	for i, o := range order {
		if c == o {
			return i
		}
	}
	return rankUnknown
}

// Worse reports whether a is worse than b.
func Worse(a, b policy.Class) bool { return Rank(a) > Rank(b) }
