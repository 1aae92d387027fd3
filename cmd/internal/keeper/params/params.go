// Package params reads what requests of several routes say in the same way: times in seconds, and the command that is to run.
package params

import (
	"encoding/json"
	"math"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Seconds reads a time in seconds; nil means def.
func Seconds(name string, s *float64, def, most time.Duration) (time.Duration, error) {
	switch {
	case s == nil:
		return def, nil
	case math.IsNaN(*s) || *s < 0:
		return 0, problem.Invalid("%s must not be negative", name)
	case *s > most.Seconds():
		return most, nil
	}
	return time.Duration(*s * float64(time.Second)), nil
}

// Timeout is how long a command may run; zero is no limit, which agents do not get.
func Timeout(c *access.Caller, limits rules.Limits, s *float64) (time.Duration, error) {
	def := time.Duration(0)
	if rules.RoleOf(c.Principal) != rules.Operator {
		def = route.AgentTimeout
	}
	d, err := Seconds("timeout_s", s, def, route.MaxTimeout)
	if err == nil && s != nil && d == 0 {
		err = problem.Invalid("timeout_s must be more than zero")
	}
	return limits.Timeout(d), err
}

// Script is the script of a request: shell source, where its caller may run that, or a program with exact arguments. words
// are the latter; nil is shell source.
func Script(l rules.Limits, source, program string, args []string) (script string, words []string, err error) {
	switch {
	case program != "" && source != "":
		return "", nil, problem.Invalid("give command, or program and args, not both")
	case program == "" && len(args) > 0:
		return "", nil, problem.Invalid("args needs program")
	case program == "":
		return source, nil, l.Shell()
	}
	if err := rules.Structured(program, args, l); err != nil {
		return "", nil, err
	}
	words = append([]string{program}, args...)
	if script, err = session.Words(words...); err != nil {
		return "", nil, problem.Invalid("%v", err)
	}
	return script, words, nil
}

// Scope reads what an approval for a session is to cover; nil is one command.
func Scope(s *wire.ForSession) (*approval.Scope, error) {
	if s == nil {
		return nil, nil
	}
	out := &approval.Scope{For: time.Duration(s.ForS) * time.Second}
	if s.Prefix != "" {
		words, err := rules.ParsePrefix(s.Prefix)
		if err != nil {
			return nil, problem.Invalid("prefix: %v", err)
		}
		out.Prefix = words
	}
	return out, nil
}

// JSON is a value in the form in which the store keeps it.
func JSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
