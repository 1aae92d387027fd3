package consent

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Refused returns why a command is denied before a rule is asked, or nil: it holds a mark, or the principal's limits do not
// allow it in this form. words are a program and its arguments, in structured mode; none is shell source.
func Refused(engine *rules.Engine, principal, script string, words []string) *policy.Decision {
	if redact.ContainsMark([]byte(script)) {
		return &policy.Decision{
			Class: policy.Unknown, Rule: "builtin/redacted-mark", Reason: "the command has a placeholder of a redacted secret",
			Hint: "write the secret itself",
		}
	}
	l := engine.Limits(principal)
	err := l.Shell()
	if len(words) > 0 {
		err = rules.Structured(words[0], words[1:], l)
	}
	if err == nil {
		return nil
	}
	return beyond(err)
}

// beyond is the refusal of what a principal's limits do not allow.
func beyond(err error) *policy.Decision {
	return &policy.Decision{Class: policy.Unknown, Rule: "policy/principals", Reason: strings.TrimPrefix(err.Error(), "rules: ")}
}
