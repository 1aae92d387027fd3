package keeper

import (
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// scriptOf is the script of a request: shell source, where its caller may run that, or a program with exact arguments. words
// are the latter; nil is shell source.
func scriptOf(l rules.Limits, source, program string, args []string) (script string, words []string, err error) {
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
