package approval_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// greets reads names until one is "end".
const greets = `echo ready; while read -r n && [ "$n" != end ]; do echo "hello $n"; done`

// talks starts greets, which is approved as answer says.
func (w *world) talks(who *people, answer func(p approval.Pending) approval.Pending) *session.Exec {
	w.t.Helper()
	x, p := w.asks(session.Command{Script: greets, Interactive: true})
	said := answer(p)
	r := signed(w.t, said, who.ada)
	r.Proof, r.WithInput = approval.Passphrase, said.WithInput
	require.NoError(w.t, w.desk.Answer(r))
	w.prints(x, "ready")
	return x
}

func plain(p approval.Pending) approval.Pending { return p }

// prints waits until x has printed text.
func (w *world) prints(x *session.Exec, text string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return strings.Contains(string(x.Result().Stdout), text) }, time.Minute, time.Millisecond,
		"%q is not in the output", text)
}

// types starts to type at x, and returns the question that this is.
func (w *world) types(x *session.Exec, text string) (*session.Typing, approval.Pending) {
	w.t.Helper()
	events, stop := w.desk.Subscribe(10)
	defer stop()
	t := x.Type(w.t.Context(), []byte(text))
	require.NoError(w.t, t.Err())
	for e := range events {
		if e.Kind == approval.Asked {
			p, err := w.desk.Get(e.ID)
			require.NoError(w.t, err)
			return t, p
		}
	}
	return nil, approval.Pending{}
}

// became waits for what has become of something typed.
func became(t *session.Typing) error {
	<-t.Done()
	return t.Err()
}

func kinds(events []audit.Event) (all []string) {
	for _, e := range events {
		kind := string(e.Kind)
		for name, is := range map[string]bool{" typed": e.Typed, " with input": e.WithInput} {
			if is {
				kind += name
			}
		}
		if e.Status != "" {
			kind += " " + e.Status
		}
		all = append(all, kind)
	}
	return all
}

func TestWhatIsTypedAtACommandThatWasApprovedWithInputIsNotAskedAbout(t *testing.T) {
	who := newPeople(t)
	w := newWorld(t, who, func(text string) string { return strings.ReplaceAll(text, "hunter2", "«redacted»") })
	x := w.talks(who, withInput)
	assert.True(t, x.Result().Decision.WithInput)
	require.NoError(t, x.Input(t.Context(), []byte("ada\n")))
	w.prints(x, "hello ada")
	require.NoError(t, x.Input(t.Context(), []byte("hunter2\n")))
	w.prints(x, "hello hunter2")
	require.NoError(t, x.Input(t.Context(), []byte("\r")), "keys are free")
	require.NoError(t, x.Input(t.Context(), []byte("end\n")))
	require.Nil(t, w.end(x).Err)
	assert.Empty(t, w.desk.List())

	// It ends with the command.
	x = w.talks(who, plain)
	assert.False(t, x.Result().Decision.WithInput)
	typing, _ := w.types(x, "eve\n")
	require.True(t, typing.Awaiting())
	require.NoError(t, w.session.Close())
	require.Error(t, became(typing))
	assert.NotContains(t, string(x.Result().Stdout), "eve")

	events := w.records()
	assert.Equal(t, []string{
		"approval.request", "approval.result with input approved", "command.request with input",
		"command.input with input", "command.input with input", "command.input", "command.input with input", "command.result ok",
		"approval.request", "approval.result approved", "command.request", "approval.request typed", "approval.result typed canceled", "command.result canceled",
	}, kinds(events))
	said, input := one(t, events, audit.ApprovalResult), one(t, events, audit.CommandInput)
	back, err := approval.Parse([]byte(said.ApprovalDocument))
	require.NoError(t, err)
	assert.True(t, back.WithInput)
	assert.Equal(t, said.ApprovalDigest, string(back.Digest()), "what was signed says so")
	assert.Equal(t, said.ApprovalDigest, input.ApprovalDigest, "and that is why it was typed")
	assert.Equal(t, "allow", input.Verdict)
	assert.Equal(t, "unknown", input.Class)
	assert.Equal(t, "ada\n", input.Command)
	text, err := json.Marshal(events)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
}

func TestWhatIsTypedWaitsForAYesOfItsOwn(t *testing.T) {
	who := newPeople(t)
	w := newWorld(t, who, nil)
	x := w.talks(who, plain)
	typing, p := w.types(x, "ada\n")
	q := p.Question
	assert.Equal(t, "ada\n", q.Typed)
	assert.Equal(t, greets, q.Command)
	assert.Equal(t, x.ID(), q.Exec)
	assert.Equal(t, "agent/x", q.Principal)
	assert.Equal(t, "here", q.Host.Name)
	assert.Equal(t, w.session.ID(), q.Session)
	assert.True(t, typing.Awaiting())
	assert.Same(t, typing, x.Asked())
	require.ErrorIs(t, w.desk.Answer(yes(p)), approval.ErrProof, "prod takes a passphrase")
	assert.NotContains(t, string(x.Result().Stdout), "ada")
	require.ErrorIs(t, x.Input(t.Context(), []byte("eve\n")), session.ErrBusy, "one at a time")

	r := signed(t, p, who.ada)
	r.Proof = approval.Passphrase
	require.NoError(t, w.desk.Answer(r))
	require.NoError(t, became(typing))
	w.prints(x, "hello ada")

	typing, p = w.types(x, "bob\n")
	no := yes(p)
	no.Approved, no.Reason = false, "not him"
	require.NoError(t, w.desk.Answer(no))
	err := became(typing)
	require.ErrorIs(t, err, session.ErrRejected)
	assert.ErrorContains(t, err, "by operator/ada: not him; nothing was typed")
	assert.ErrorContains(t, err, "approve ID --with-input")
	assert.NotContains(t, err.Error(), "bob")

	require.NoError(t, x.Input(t.Context(), []byte{4}), "keys are free")
	require.Nil(t, w.end(x).Err)
	assert.NotContains(t, string(x.Result().Stdout), "bob")
	events := w.records()
	assert.Equal(t, []string{
		"approval.request typed", "approval.result typed approved", "command.input",
		"approval.request typed", "approval.result typed rejected", "command.input", "command.result ok",
	}, kinds(events)[3:])
	said, input := events[4], events[5]
	back, err := approval.Parse([]byte(said.ApprovalDocument))
	require.NoError(t, err)
	assert.Equal(t, "ada\n", back.Question.Typed)
	assert.Equal(t, said.ApprovalDigest, input.ApprovalDigest)
	assert.Equal(t, "operator/ada", input.ApprovedBy)
	report, err := audit.Verify(w.record)
	require.NoError(t, err)
	assert.True(t, report.OK())
	assert.Empty(t, report.Pending, "each question has its answer")
}

// What is to be typed was for what the program was at when it was asked about.
func TestWhatWaitsToBeTypedIsTakenBackByWhatComesBeforeTheAnswer(t *testing.T) {
	for name, do := range map[string]func(ctx context.Context, x *session.Exec) error{
		"a key":    func(ctx context.Context, x *session.Exec) error { return x.Input(ctx, []byte("\r")) },
		"a signal": func(ctx context.Context, x *session.Exec) error { return x.Signal(ctx, "INT") },
		"the end":  func(ctx context.Context, x *session.Exec) error { return x.Input(ctx, []byte{4}) },
		"a stop":   func(_ context.Context, x *session.Exec) error { x.Stop(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			who := newPeople(t)
			w := newWorld(t, who, nil)
			x := w.talks(who, plain)
			typing, p := w.types(x, "ada\n")
			require.NoError(t, do(t.Context(), x))
			err := became(typing)
			require.ErrorContains(t, err, "before an answer came: nothing was typed")
			require.ErrorIs(t, w.desk.Answer(signed(t, p, who.ada)), approval.ErrSettled)
			require.NoError(t, w.session.Close())
			assert.NotContains(t, string(x.Result().Stdout), "hello ada")
		})
	}
	t.Run("the session's end", func(t *testing.T) {
		who := newPeople(t)
		w := newWorld(t, who, nil)
		x := w.talks(who, plain)
		typing, _ := w.types(x, "ada\n")
		require.NoError(t, w.session.Close())
		require.Error(t, became(typing))
		assert.Empty(t, w.desk.List())
	})
	t.Run("who waits for it gives up", func(t *testing.T) {
		who := newPeople(t)
		w := newWorld(t, who, nil)
		x := w.talks(who, plain)
		events, stop := w.desk.Subscribe(1)
		defer stop()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-events; cancel() }()
		require.ErrorIs(t, x.Input(ctx, []byte("ada\n")), context.Canceled)
		assert.Empty(t, w.desk.List())
	})
}

func TestASecretThatIsTypedIsNotShownToThoseWhoApproveIt(t *testing.T) {
	who := newPeople(t)
	w := newWorld(t, who, nil)
	x := w.talks(who, plain)
	events, stop := w.desk.Subscribe(1)
	defer stop()
	typed := make(chan error, 1)
	go func() { typed <- x.InputSecret(t.Context(), []byte("hunter2\n")) }()
	p, err := w.desk.Get((<-events).ID)
	require.NoError(t, err)
	assert.Equal(t, "«secret»", p.Question.Typed)
	r := signed(t, p, who.ada)
	r.Proof = approval.Passphrase
	require.NoError(t, w.desk.Answer(r))
	require.NoError(t, <-typed)
	w.prints(x, "hello hunter2")
	text, err := json.Marshal(w.records())
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
}

func TestADocumentOfTypingWithASecretStaysOffTheRecord(t *testing.T) {
	who := newPeople(t)
	w := newWorld(t, who, func(text string) string { return strings.ReplaceAll(text, "hunter2", "«redacted»") })
	x := w.talks(who, plain)
	typing, p := w.types(x, "hunter2\n")
	assert.Equal(t, "hunter2\n", p.Question.Typed, "who approves sees the exact bytes")
	r := signed(t, p, who.ada)
	r.Proof = approval.Passphrase
	require.NoError(t, w.desk.Answer(r))
	require.NoError(t, became(typing))
	w.prints(x, "hello hunter2")
	all, err := json.Marshal(w.records())
	require.NoError(t, err)
	assert.NotContains(t, string(all), "hunter2")
	assert.Contains(t, string(all), "«redacted»")
}
