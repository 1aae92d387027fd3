package approval

import (
	"context"
	"fmt"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Group is one question about a command on several hosts, and its answer for each of them. It implements
// policy.Approver for their sessions. It may be used concurrently.
type Group struct {
	// Commands, if not nil, is the command of each host, which the question shows together. It is set before Ask.
	Commands func(h hosts.Host) string

	to policy.Approver
	q  policy.Question

	mu     sync.Mutex // guards what follows
	asked  bool
	answer policy.Answer
	err    error          // why there is no answer
	left   map[string]int // how often a host may still use the answer, by what a document holds of it
}

// NewGroup returns the Group of a question about q.Hosts, which is put to somebody with Ask. It sets q.Host.
func NewGroup(to policy.Approver, q policy.Question) *Group {
	g := &Group{to: to, q: q, left: map[string]int{}}
	var names []string
	for i, h := range q.Hosts {
		names = append(names, h.Name)
		g.left[hostText(h)]++
		if i == 0 || h.TierName() == hosts.Prod {
			g.q.Host.Tier = h.TierName()
		}
	}
	g.q.Host.Name = hosts.Fold(names)
	return g
}

// Settled implements policy.SettledApprover.
func (g *Group) Settled() bool { return true }

// Ask asks, once, and waits for the answer: nil is a yes. A no is an ErrRejected of this package; other errors are those of
// the approver, and no answer.
func (g *Group) Ask(ctx context.Context) error {
	a, err := g.to.Approve(ctx, g.q)
	g.mu.Lock()
	g.asked, g.answer, g.err = true, a, err
	g.mu.Unlock()
	switch {
	case err != nil:
		return err
	case !a.Approved && a.Reason != "":
		return fmt.Errorf("%w by %s: %s", ErrRejected, a.By, a.Reason)
	case !a.Approved:
		return fmt.Errorf("%w by %s", ErrRejected, a.By)
	}
	return nil
}

// Approve gives the answer to a session that asks for what was approved: the same command, for the same principal, on one
// of the hosts as they were shown, each once.
func (g *Group) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	host, command := hostText(q.Host), g.q.Command
	if g.Commands != nil {
		command = g.Commands(q.Host)
	}
	switch {
	case !g.asked:
		return policy.Answer{}, fmt.Errorf("%w: no approval was requested", ErrForbidden)
	case g.err != nil || !g.answer.Approved:
		return g.answer, g.err
	case q.Principal != g.q.Principal || q.Command != command || q.Interactive != g.q.Interactive || q.Typed != g.q.Typed || q.StdinSHA256 != g.q.StdinSHA256:
		return policy.Answer{}, fmt.Errorf("%w: something else was approved", ErrMismatch)
	case g.left[host] == 0:
		return policy.Answer{}, fmt.Errorf("%w: %s is not as it was approved, or was used already", ErrMismatch, q.Host.Name)
	case !g.answer.Proof.AtLeast(q.Decision.LeastProof):
		return policy.Answer{}, fmt.Errorf("%w: %s takes %s", ErrProof, q.Host.Name, q.Decision.LeastProof)
	}
	g.left[host]--
	return g.answer, nil
}
