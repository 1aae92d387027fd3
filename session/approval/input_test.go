package approval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// withInput is what a yes says that covers what is typed.
func withInput(p approval.Pending) approval.Pending {
	p.WithInput = true
	return p
}

func TestAYesWithInputIsSignedAsOneAndAPlainYesIsNone(t *testing.T) {
	who := newPeople(t)
	d := who.desk()
	p, done := asks(t, t.Context(), d, on("prod", ""))
	plain, whole := signed(t, p, who.ada), signed(t, withInput(p), who.ada)
	whole.WithInput = true
	require.NotEqual(t, plain.Digest, whole.Digest)

	for name, tt := range map[string]struct {
		change func(r approval.Response) approval.Response
		want   error
	}{
		"a plain yes that calls itself one":            {func(approval.Response) approval.Response { r := plain; r.WithInput = true; return r }, approval.ErrMismatch},
		"its digest, and the signature of a plain yes": {func(r approval.Response) approval.Response { r.Signature = plain.Signature; return r }, approval.ErrProof},
		"a plain digest with its signature":            {func(r approval.Response) approval.Response { r.Digest = plain.Digest; return r }, approval.ErrProof},
		"one that calls itself a plain yes":            {func(r approval.Response) approval.Response { r.WithInput = false; return r }, approval.ErrMismatch},
		"no signature":                                 {func(r approval.Response) approval.Response { r.Signature = nil; return r }, approval.ErrProof},
		"a no":                                         {func(r approval.Response) approval.Response { r.Signature, r.Approved = nil, false; return r }, approval.ErrInvalid},
	} {
		assert.ErrorIs(t, d.Answer(tt.change(whole)), tt.want, name)
	}
	require.NoError(t, d.Answer(whole))
	got := <-done
	require.NoError(t, got.err)
	assert.True(t, got.WithInput)
	assert.Equal(t, string(whole.Digest), got.Digest)
	back, err := approval.Parse([]byte(got.Document))
	require.NoError(t, err)
	assert.True(t, back.WithInput, "the document that was signed says so")
	assert.Equal(t, whole.Digest, back.Digest())
}

func TestOnlyInteractiveCommandsAreApprovedWithInput(t *testing.T) {
	for name, change := range map[string]func(q *policy.Question){
		"not interactive": func(q *policy.Question) { q.Interactive = false },
		"what is typed":   func(q *policy.Question) { q.Typed = "ls\n" },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			d, q := approval.NewDesk(approval.Config{}), question("agent/x")
			change(&q)
			p, done := asks(t, ctx, d, q)
			r := yes(withInput(p))
			r.WithInput = true
			require.ErrorIs(t, d.Answer(r), approval.ErrInvalid)
			assert.Equal(t, q.Typed != "", p.Summary().Typed)
			cancel()
			<-done
		})
	}
}
