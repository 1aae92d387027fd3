package approval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// says is an approver with one answer.
type says struct {
	answer policy.Answer
	err    error
	asked  []policy.Question
}

func (s *says) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	s.asked = append(s.asked, q)
	return s.answer, s.err
}

func fleet() policy.Question {
	return policy.Question{Principal: "agent/a", Command: "touch x", Hosts: []hosts.Host{
		{Name: "web1", Addr: "10.0.0.1", Tier: "dev"}, {Name: "web2", Addr: "10.0.0.2", Tier: "prod"}, {Name: "web3", Addr: "10.0.0.3", Tier: "dev"},
	}}
}

func TestAGroupIsAskedOnceAndAnswersEachHostOnce(t *testing.T) {
	to := &says{answer: policy.Answer{Approved: true, ID: "a_1", By: "operator/ada", Proof: policy.Passphrase}}
	g := approval.NewGroup(to, fleet())
	member := func(i int) policy.Question {
		q := fleet()
		q.Host, q.Hosts, q.Exec, q.Session = q.Hosts[i], nil, "e_1", "s_1"
		return q
	}
	_, err := g.Approve(t.Context(), member(0))
	require.ErrorIs(t, err, approval.ErrForbidden, "nobody was asked yet")
	require.NoError(t, g.Ask(t.Context()))
	require.Len(t, to.asked, 1)
	assert.Equal(t, "web[1-3]", to.asked[0].Host.Name)
	assert.Equal(t, hosts.Prod, to.asked[0].Host.TierName(), "the most careful of all")

	a, err := g.Approve(t.Context(), member(0))
	require.NoError(t, err)
	assert.Equal(t, to.answer, a)
	_, err = g.Approve(t.Context(), member(0))
	require.ErrorIs(t, err, approval.ErrMismatch, "used already")
	for name, change := range map[string]func(*policy.Question){
		"another command":     func(q *policy.Question) { q.Command = "touch y" },
		"another principal":   func(q *policy.Question) { q.Principal = "agent/b" },
		"another address":     func(q *policy.Question) { q.Host.Addr = "10.0.0.9" },
		"another way there":   func(q *policy.Question) { q.Host.Via = []string{"gate"} },
		"another host":        func(q *policy.Question) { q.Host.Name = "web4" },
		"with a terminal":     func(q *policy.Question) { q.Interactive = true },
		"to be typed":         func(q *policy.Question) { q.Typed = "x" },
		"with input":          func(q *policy.Question) { q.StdinSHA256 = "ab" },
		"with a new variable": func(q *policy.Question) { q.Host.Env = []string{"A=1"} },
	} {
		q := member(1)
		change(&q)
		_, err := g.Approve(t.Context(), q)
		require.ErrorIs(t, err, approval.ErrMismatch, name)
	}
	q := member(1)
	q.Decision.LeastProof = policy.Touch
	_, err = g.Approve(t.Context(), q)
	require.ErrorIs(t, err, approval.ErrProof)
	_, err = g.Approve(t.Context(), member(1))
	require.NoError(t, err, "what was refused has used nothing up")
	assert.Len(t, to.asked, 1)
}

func TestAGroupThatIsRefusedIsRefusedForAll(t *testing.T) {
	g := approval.NewGroup(&says{answer: policy.Answer{By: "operator/ada", Reason: "not today"}}, fleet())
	require.EqualError(t, g.Ask(t.Context()), "approval: it was refused by operator/ada: not today")
	q := fleet()
	q.Host = q.Hosts[0]
	a, err := g.Approve(t.Context(), q)
	require.NoError(t, err)
	assert.False(t, a.Approved)
	g = approval.NewGroup(&says{err: approval.ErrFull}, fleet())
	require.ErrorIs(t, g.Ask(t.Context()), approval.ErrFull)
	_, err = g.Approve(t.Context(), q)
	require.ErrorIs(t, err, approval.ErrFull)
}

func TestADocumentHoldsEveryHostOfAGroup(t *testing.T) {
	q := fleet()
	q.Host.Name = "web[1-3]"
	p := approval.Pending{ID: "a_1", Question: q}
	got, err := approval.Parse(p.Document())
	require.NoError(t, err)
	assert.Equal(t, q.Hosts, got.Question.Hosts)
	digest := p.Digest()
	q.Hosts[1].Addr = "10.0.0.9"
	assert.NotEqual(t, digest, approval.Pending{ID: "a_1", Question: q}.Digest())
}
