package approval

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// MaxFor is the longest that an approval for a session holds.
const MaxFor = 24 * time.Hour

// Scope is what an approval for a session covers: the exact same command, or the commands that begin with a prefix. It holds
// until the session ends, at most for MaxFor.
type Scope struct {
	Prefix []string      // literal words; none means the exact same command
	For    time.Duration // whole seconds, from the answer; 0 means MaxFor
}

// String says it in words.
func (s Scope) String() string {
	text := "this command"
	if len(s.Prefix) > 0 {
		words := make([]string, len(s.Prefix))
		for i, w := range s.Prefix {
			words[i] = w
			if w == "" || strings.ContainsFunc(w, func(r rune) bool {
				return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,+@%=", r))
			}) {
				words[i] = strconv.Quote(w)
			}
		}
		text = "commands that begin with: " + strings.Join(words, " ")
	}
	if s.For > 0 {
		text += ", for " + s.For.String()
	}
	return text
}

// check reports why it cannot be given for p. begins says whether a command has a prefix.
func (s Scope) check(p Pending, begins func(policy.Question, []string) error) error {
	q := p.Question
	no := func(why string) error { return fmt.Errorf("%w: %s", ErrScope, why) }
	switch {
	case q.Typed != "":
		return no("what is typed at a command is approved once")
	case len(q.Hosts) > 0:
		return no("the command runs on several hosts, and has no session")
	case q.Session == "" && q.Sandbox == "":
		return no("the command has no session")
	case q.Dir == "":
		return no("the directory is not known yet")
	case q.StdinSHA256 != "":
		return no("a command with standard input is approved once")
	case q.Decision.Rests != "":
		return no("an earlier command of the session has set " + strconv.Quote(q.Decision.Rests) + ", which the command uses")
	case len(q.Decision.Sets) > 0:
		return no("the command sets names in the session, and is approved each time")
	case s.For < 0 || s.For > MaxFor || s.For%time.Second != 0:
		return no(fmt.Sprintf("its time is whole seconds, at most %v", MaxFor))
	}
	switch q.Decision.Class {
	case policy.ReadOnly, policy.NetworkRead, policy.Write, policy.Unknown:
	case policy.SensitiveRead:
		if len(s.Prefix) > 0 {
			return no("commands that may show secrets are approved one by one, or the exact command")
		}
	default:
		return no(fmt.Sprintf("a command of the class %s is approved each time", q.Decision.Class))
	}
	if len(s.Prefix) == 0 {
		return nil
	}
	if begins == nil {
		return no("prefixes are not supported here")
	}
	if q.Interactive {
		return no("an interactive command has no prefix")
	}
	if err := begins(q, s.Prefix); err != nil {
		return fmt.Errorf("%w: %w", ErrScope, err)
	}
	return nil
}

// scope writes the fields of an approval for a session.
func (d *document) scope(s *Scope) {
	if s == nil {
		return
	}
	d.flag("for-session", true)
	d.list("prefix", s.Prefix)
	if s.For > 0 {
		d.field("for-seconds", strconv.FormatInt(int64(s.For/time.Second), 10))
	}
}

// setScope reports whether name is a field of an approval for a session, and value one of its values.
func setScope(p *Pending, name, value string) (known, ok bool) {
	if name == "for-session" {
		p.ForSession = &Scope{}
		return true, true
	}
	switch {
	case p.ForSession == nil:
		return false, false
	case name == "prefix":
		p.ForSession.Prefix = append(p.ForSession.Prefix, value)
		return true, utf8.ValidString(value)
	case name == "for-seconds":
		n, err := strconv.ParseInt(value, 10, 32)
		p.ForSession.For = time.Duration(n) * time.Second
		return true, err == nil && n > 0
	}
	return false, false
}
