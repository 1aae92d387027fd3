package sandboxed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// errVoid is why a yes does not count any more.
var errVoid = errors.New("what was approved is not what would run now")

// Answered is a yes that a command brings along, with what it was for.
type Answered struct {
	Question policy.Question
	Answer   policy.Answer
	Way      string // how its host was reached then, see Place
}

type answeredKey struct{}

// Given returns the answer to q that a command in a sandbox brings along, if ctx is of one. It must be what was asked about.
func Given(ctx context.Context, q policy.Question) (a policy.Answer, given bool, err error) {
	yes, given := ctx.Value(answeredKey{}).(Answered)
	if given && !same(yes.Question, q) {
		return policy.Answer{}, true, errVoid
	}
	return yes.Answer, given, nil
}

// unchanged refuses a host that is not the one that was approved, where there was an approval: before anything is dialed,
// since a login at another address would show it the keys.
func unchanged(ctx context.Context, at Place) error {
	given, ok := ctx.Value(answeredKey{}).(Answered)
	if !ok || given.Answer.ID == "" {
		return nil
	}
	q, h := given.Question, at.Host()
	q.Host = h
	switch {
	case !same(given.Question, q):
		return fmt.Errorf("%w: the inventory says something else of %s than when it was approved. Request it again", errVoid, h.Name)
	case given.Way != at.Way():
		return fmt.Errorf("%w: ssh_config leads to %s in another way than when it was approved. Request it again", errVoid, h.Name)
	}
	return nil
}

// same reports whether two questions are about the same command at the same place, judged alike.
func same(a, b policy.Question) bool {
	return string(essence(a)) == string(essence(b))
}

// essence is what of a question a yes is bound to beyond the moment in which it was asked.
func essence(q policy.Question) []byte {
	q.Exec, q.Session, q.Sandbox, q.Shell, q.Asked, q.Expires = "", "", "", "", time.Time{}, time.Time{}
	q.Decision = policy.Decision{Class: q.Decision.Class, Rule: q.Decision.Rule}
	return approval.Pending{Question: q}.Document()
}
