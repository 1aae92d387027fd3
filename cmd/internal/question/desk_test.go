package question_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// put asks at a Desk, and returns the question as its asker sees it.
func put(t *testing.T, d *question.Desk, ctx context.Context, asker string, q sshconn.Question) (wire.Question, <-chan said) {
	t.Helper()
	c := make(chan said, 1)
	go func() {
		a, err := d.Ask(ctx, "operator/ada", asker, q)
		c <- said{a, err}
	}()
	all := d.List(t.Context(), "operator/ada", asker)
	require.Len(t, all, 1)
	return all[0], c
}

func TestAQuestionIsForItsAskerAndItsPrincipal(t *testing.T) {
	d := question.NewDesk()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	q, c := put(t, d, t.Context(), "one-asker", unknown("web1", "SHA256:1"))
	assert.Empty(t, d.List(over, "operator/ada", "another"))
	assert.Empty(t, d.List(over, "operator/bob", "one-asker"))
	assert.Len(t, d.List(over, "operator/ada", ""), 1)
	assert.ErrorIs(t, d.Answer("operator/bob", q.ID, wire.QuestionAnswer{Trust: true}), question.ErrNoQuestion)
	assert.ErrorContains(t, d.Answer("operator/ada", q.ID, wire.QuestionAnswer{Answers: []string{"x"}}), "it takes 0 answers, and 1 were given")
	require.NoError(t, d.Answer("operator/ada", q.ID, wire.QuestionAnswer{Trust: true}))
	got := <-c
	assert.NoError(t, got.err)
	assert.True(t, got.Trust)
	assert.ErrorIs(t, d.Answer("operator/ada", q.ID, wire.QuestionAnswer{Trust: true}), question.ErrNoQuestion, "once")
	assert.Empty(t, d.List(over, "operator/ada", ""))
}

func TestAQuestionGoesWithWhoWaitsForIt(t *testing.T) {
	d := question.NewDesk()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	q, c := put(t, d, ctx, "one-asker", unknown("web1", "SHA256:1"))
	cancel(gone)
	assert.ErrorIs(t, (<-c).err, gone)
	assert.ErrorIs(t, d.Answer("operator/ada", q.ID, wire.QuestionAnswer{}), question.ErrNoQuestion)

	q, c = put(t, d, t.Context(), "one-asker", unknown("web1", "SHA256:1"))
	require.NoError(t, d.Answer("operator/ada", q.ID, wire.QuestionAnswer{Refuse: true}))
	assert.ErrorContains(t, (<-c).err, "no answer was given")
}

// A person at another process sees the same as one at this.
func TestAQuestionOverTheWireIsShownAsItIsHere(t *testing.T) {
	q := unknown("web1", "SHA256:1")
	q.Unknown.Certificate = errors.New("it has expired")
	q.Unknown.Near = []knownhosts.Known{{File: "/k", Line: 3, Type: "ssh-rsa", Fingerprint: "SHA256:2"}}
	q.Unknown.Skipped = []knownhosts.Warning{{File: "/k", Line: 4, Reason: "holds junk"}}
	far, _ := put(t, question.NewDesk(), t.Context(), "one-asker", q)
	d := newDesk(t)
	c := make(chan wire.QuestionAnswer, 1)
	go func() {
		a, err := d.Wire(t.Context(), far)
		assert.NoError(t, err)
		c <- a
	}()
	d.types(prompt, "yes\r")
	assert.True(t, (<-c).Trust)
	for _, line := range []string{"web1 (10.0.0.1:22) is not known: ssh-ed25519 SHA256:1.", "does not count: it has expired.", "/k:3 has another key: ssh-rsa SHA256:2.", "/k:4 is about this host, but holds junk."} {
		assert.Contains(t, d.shown(), line)
	}

	far, _ = put(t, question.NewDesk(), t.Context(), "one-asker", sshconn.Question{
		Kind: sshconn.AskLogin, Method: "keyboard-interactive", Host: "web1", User: "ada", Prompts: []sshconn.Prompt{{Text: "Code: ", Echo: true}},
	})
	go func() {
		a, err := d.Wire(t.Context(), far)
		assert.NoError(t, err)
		c <- a
	}()
	d.types("(ada at web1) Code: ", "123\r")
	assert.Equal(t, []string{"123"}, (<-c).Answers)
}

// What is typed need not be UTF-8.
func TestAnAnswerMayBeAnyBytes(t *testing.T) {
	d := question.NewDesk()
	q, c := put(t, d, t.Context(), "one-asker", sshconn.Question{Kind: sshconn.AskPassphrase, Host: "web1", KeyFile: "/k"})
	assert.ErrorContains(t, d.Answer("operator/ada", q.ID, wire.QuestionAnswer{Answers: []string{"!"}, Encoding: "base64"}), "encoding")
	require.NoError(t, d.Answer("operator/ada", q.ID, wire.QuestionAnswer{Answers: []string{"cOQ="}, Encoding: "base64"}))
	got := <-c
	require.NoError(t, got.err)
	assert.Equal(t, [][]byte{[]byte("p\xe4")}, got.Secrets)
}
