package judge

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Request is what is judged: a script, or with Program set exact words that no shell interprets.
type Request struct {
	Script      string
	Shell       string // "bash", "zsh", "mksh", "ksh", "dash", "ash", "sh"; "" judges for any of them
	Interactive bool   // somebody types into it: history expansion and pagers count
	Dir         string // where it would run, absolute; "" when nobody knows
	Resolved    bool   // the caller looks its paths up on the host before it runs: ".." behind a name leads to no doubt
	Installs    bool   // package installs are dangerous: no agent asks for them. Else they are forbidden
	Elsewhere   bool   // no shell of the session's runs it: a job, or a program that is started with exact words
	Own         *Own   // what belongs to Fairlead there, which counts as forbidden; nil is nothing

	// Program and Args are the words of structured mode. Script is ignored when Program is set.
	Program string
	Args    []string
}

// Report is what a script means. Reports may be shared: treat slices as read-only.
type Report struct {
	Class  policy.Class // the worst over all parts
	Rule   string       // which rule decided, such as "shell/redirect"
	Reason string       // one sentence about the deciding part

	Classes []policy.Class // every class that some part has, from the mildest
	Parts   []Part         // the commands in order; bounded, see Capped

	// Sets names the variables, functions, aliases and options that the script sets in its own shell, sorted. "*" stands
	// for names that cannot be told.
	Sets []string

	// Uses names the variables and commands that the script's meaning rests on, sorted. A trailing "*" makes a prefix.
	Uses []string

	// Reads and Writes are operands that name files, in order, bounded like Parts.
	Reads, Writes []Path

	// To names the hosts that the script connects to, as far as the tables know the programs that do: IP addresses, and names
	// in lower case; "" is one that is not certain. Bounded like Parts.
	To []string

	// Taints is true when the script could shape what later commands in the same shell mean.
	Taints bool

	// Ends is true where a script changes its own shell for itself alone, and is allowed only because of that: the next command is to
	// get another.
	Ends bool

	// Traceless is true where a script that only reads leaves its shell as it finds it, also to those who look: it starts programs
	// and waits for them.
	Traceless bool

	// Own is true when the script uses what [Request.Own] says, OwnAsks when it works on all that is below a directory above
	// it. Named are words that may lead there through links; both are empty without Request.Own.
	Own, OwnAsks bool
	Named        []Named

	// Hidden is true when the script runs what it does not say: words or code that are known only when it runs, or what an
	// interpreter is fed. Files that are run do not count.
	Hidden bool

	// Capped is true when the script is longer, deeper or holds more parts than is looked at.
	Capped bool
}

// UsesAny reports the first of names that the script's meaning rests on.
func (r Report) UsesAny(names []string) (string, bool) {
	for _, n := range names {
		if n == "*" && len(r.Uses) > 0 || policy.RestsOn(r.Uses, n) {
			return n, true
		}
	}
	return "", false
}

// Part is one command of the script, or a nested one.
type Part struct {
	Line, Col int    // from 1, in the script or, for a nested one, in its own text; 0 when there is none
	Text      string // as written, at most 200 bytes of it
	Class     policy.Class
	Rule      string
	Reason    string
	To        []string // hosts that it connects to by itself, see Report
	Parts     []Part   // substitutions, wrapped commands, scripts within
}

// Path is an operand that names a file.
type Path struct {
	Text    string // after quote removal; for a word that is not literal the certain beginning
	Literal bool
	Source  string // as written
	Dir     string // what a relative path is relative to; "" when nobody knows
	Delete  bool
	Remote  bool // on another machine or in a container
}

// Reaches lists the hosts that a part connects to, with those of the parts within it.
func (p *Part) Reaches() []string {
	out := slices.Clip(p.To)
	for i := range p.Parts {
		out = append(out, p.Parts[i].Reaches()...)
	}
	return out
}

func classesOf(set uint8) []policy.Class {
	out := make([]policy.Class, 0, 2)
	for i, c := range policy.Classes {
		if set&(1<<i) != 0 {
			out = append(out, c)
		}
	}
	return out
}

func sortedNames(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
