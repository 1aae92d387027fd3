package approval_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// world is an agent's session on this machine, judged by the built-in policy, at a desk, on record.
type world struct {
	t       *testing.T
	desk    *approval.Desk
	session *session.Session
	sink    *audit.File
	record  string
	dir     string
}

func newWorld(t *testing.T, who *people, redact func(string) string) *world {
	w := &world{t: t, desk: who.desk(), record: filepath.Join(t.TempDir(), "audit"), dir: t.TempDir()}
	var err error
	w.sink, err = audit.Open(w.record, audit.Config{})
	require.NoError(t, err)
	tr, err := localpty.New(localpty.Config{})
	require.NoError(t, err)
	w.session, err = session.Open(tr, hosts.Host{Name: "here", Transport: hosts.Local, Tier: "prod"}, session.Config{
		Principal: "agent/x", Policy: rules.New(rules.Config{}), Audit: w.sink, Approver: w.desk, Redact: redact,
	})
	require.NoError(t, err)
	t.Cleanup(func() { w.session.Close(); tr.Close(); w.sink.Close() })
	return w
}

// asks starts a command and returns what waits for an answer then.
func (w *world) asks(cmd session.Command) (*session.Exec, approval.Pending) {
	w.t.Helper()
	events, stop := w.desk.Subscribe(1)
	defer stop()
	x, err := w.session.Start(w.t.Context(), cmd)
	require.NoError(w.t, err)
	p, err := w.desk.Get((<-events).ID)
	require.NoError(w.t, err)
	return x, p
}

func (w *world) end(x *session.Exec) session.Result {
	w.t.Helper()
	r, err := x.Wait(w.t.Context())
	require.NoError(w.t, err)
	return r
}

// records returns the record, and closes it.
func (w *world) records() []audit.Event {
	w.t.Helper()
	require.NoError(w.t, w.session.Close())
	require.NoError(w.t, w.sink.Close())
	events, err := audit.Tail(w.record, 100)
	require.NoError(w.t, err)
	return events
}

func one(t *testing.T, events []audit.Event, kind audit.Kind) audit.Event {
	t.Helper()
	for _, e := range events {
		if e.Kind == kind {
			return e
		}
	}
	t.Fatal("there is no ", kind)
	return audit.Event{}
}

// Nothing but the record and the file of approvers: that is what an auditor has.
func TestAnAuditorVerifiesAnApprovalFromTheRecordAlone(t *testing.T) {
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ssh-keygen is needed: ", err)
		}
		t.Skip("no ssh-keygen")
	}
	who := newPeople(t)
	w := newWorld(t, who, nil)
	file := filepath.Join(w.dir, "made")
	x, p := w.asks(session.Command{Script: "cat > " + file, Stdin: strings.NewReader("content"), Reason: "for the test"})
	require.ErrorIs(t, w.desk.Answer(yes(p)), approval.ErrProof, "prod takes a passphrase")
	r := signed(t, p, who.ada)
	r.Proof, r.Reason = approval.Passphrase, "go on"
	require.NoError(t, w.desk.Answer(r))
	res := w.end(x)
	require.Nil(t, res.Err)
	assert.Equal(t, approval.Passphrase, res.Decision.Proof)
	assert.Equal(t, "operator/ada", res.Decision.ApprovedBy)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "content", string(data))

	events := w.records()
	said, done := one(t, events, audit.ApprovalResult), one(t, events, audit.CommandRequest)
	assert.Equal(t, "ada", said.Approver)
	assert.Equal(t, who.all[0].Fingerprint(), said.ApprovalKey)
	assert.Equal(t, "passphrase", said.ApprovalProof)
	assert.Equal(t, said.ApprovalDigest, done.ApprovalDigest, "what ran is what was signed")
	assert.Equal(t, said.Approval, done.Approval)

	dir := t.TempDir()
	allowed, sig := filepath.Join(dir, "approvers"), filepath.Join(dir, "sig")
	require.NoError(t, approval.Enroll(allowed, who.all[0]))
	require.NoError(t, os.WriteFile(sig, []byte(said.ApprovalSignature), 0o600))
	for digest, ok := range map[string]bool{said.ApprovalDigest: true, strings.ToUpper(said.ApprovalDigest): false} {
		cmd := exec.CommandContext(t.Context(), program, "-Y", "verify", "-f", allowed, "-I", said.Approver, "-n", approval.Namespace, "-s", sig)
		cmd.Stdin = strings.NewReader(digest)
		out, err := cmd.CombinedOutput()
		assert.Equal(t, ok, err == nil, "%s", out)
	}
	back, err := approval.Parse([]byte(said.ApprovalDocument))
	require.NoError(t, err)
	assert.Equal(t, said.ApprovalDigest, string(back.Digest()), "and the document says what that was")
	assert.Equal(t, "cat > "+file, back.Question.Command)
	assert.Equal(t, "content", back.Question.StdinHead)
	assert.Equal(t, one(t, events, audit.CommandResult).StdinSHA256, back.Question.StdinSHA256)
}

func TestADocumentWithASecretStaysOffTheRecord(t *testing.T) {
	who := newPeople(t)
	w := newWorld(t, who, func(text string) string { return strings.ReplaceAll(text, "hunter2", "«redacted»") })
	x, p := w.asks(session.Command{Script: "touch " + filepath.Join(w.dir, "hunter2")})
	require.NoError(t, w.desk.Answer(signed(t, p, who.ada)))
	require.Nil(t, w.end(x).Err)
	events := w.records()
	said := one(t, events, audit.ApprovalResult)
	assert.Empty(t, said.ApprovalDocument)
	assert.Equal(t, string(p.Digest()), said.ApprovalDigest)
	assert.NotEmpty(t, said.ApprovalSignature)
	text, err := json.Marshal(events)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
}

func TestAnApprovalRunsACommandOnceAndARejectionNever(t *testing.T) {
	who := newPeople(t)
	w := newWorld(t, who, nil)
	file := filepath.Join(w.dir, "count")
	cmd := session.Command{Script: "echo x >> " + file}
	x, p := w.asks(cmd)
	r := signed(t, p, who.ada)
	require.NoError(t, w.desk.Answer(r))
	require.ErrorIs(t, w.desk.Answer(r), approval.ErrSettled)
	require.Nil(t, w.end(x).Err)
	require.ErrorIs(t, w.desk.Answer(r), approval.ErrSettled)

	// The same again is another request: neither the yes nor its signature is one to that.
	x, again := w.asks(cmd)
	assert.NotEqual(t, p.ID, again.ID)
	assert.NotEqual(t, p.Digest(), again.Digest())
	r.ID = again.ID
	require.ErrorIs(t, w.desk.Answer(r), approval.ErrMismatch)
	r.Digest = again.Digest()
	require.ErrorIs(t, w.desk.Answer(r), approval.ErrProof)
	no := yes(again)
	no.Approved = false
	require.NoError(t, w.desk.Answer(no))
	require.ErrorIs(t, w.end(x).Err, session.ErrRejected)
	require.ErrorIs(t, w.desk.Answer(signed(t, again, who.ada)), approval.ErrSettled, "a no stays one")

	x, third := w.asks(cmd)
	assert.NotEqual(t, again.ID, third.ID, "who was refused asks anew")
	require.NoError(t, w.desk.Answer(signed(t, third, who.ada)))
	require.Nil(t, w.end(x).Err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "x\nx\n", string(data))
}

// A yes to what was shown in one session, directory or form is none to anything else.
func TestAYesCountsNowhereElse(t *testing.T) {
	who := newPeople(t)
	w, other := newWorld(t, who, nil), newWorld(t, who, nil)
	x, p := w.asks(session.Command{Script: "touch " + filepath.Join(w.dir, "x")})
	y, q := other.asks(session.Command{Script: "touch " + filepath.Join(w.dir, "x")})
	r := signed(t, p, who.ada)
	require.ErrorIs(t, other.desk.Answer(r), approval.ErrUnknown)
	r.ID = q.ID
	require.ErrorIs(t, other.desk.Answer(r), approval.ErrMismatch)
	x.Stop()
	y.Stop()
	w.end(x)
	other.end(y)
	assert.NoFileExists(t, filepath.Join(w.dir, "x"))
}
