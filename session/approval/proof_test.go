package approval_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig/sshsigtest"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// people are approvers with their keys, and one whose key is not enrolled.
type people struct {
	ada, agent, late, stranger ssh.Signer
	bob                        *sshsigtest.SecurityKey
	all                        []approval.Approver
}

func newPeople(t testing.TB) *people {
	p := &people{ada: newKey(t), agent: newKey(t), late: newKey(t), stranger: newKey(t), bob: sshsigtest.New(t, ssh.KeyAlgoSKED25519)}
	p.all = []approval.Approver{
		{Name: "ada", Key: p.ada.PublicKey(), Proof: approval.Passphrase},
		{Name: "bob", Key: p.bob.PublicKey(), Proof: approval.Touch},
		{Name: "agent", Key: p.agent.PublicKey(), Proof: approval.Unproven},
		{Name: "late", Key: p.late.PublicKey(), Proof: approval.Passphrase, Before: time.Now().Add(-time.Hour)},
	}
	return p
}

func (p *people) desk() *approval.Desk {
	return approval.NewDesk(approval.Config{Approvers: func() ([]approval.Approver, error) { return p.all, nil }})
}

func signed(t testing.TB, p approval.Pending, s ssh.Signer) approval.Response {
	sig, err := approval.Sign(p, s)
	require.NoError(t, err)
	r := yes(p)
	r.Signature = sig
	return r
}

// on is a question that needs a proof on a tier; "" is what the tier needs by itself.
func on(tier string, least approval.Proof) policy.Question {
	q := question("agent/x")
	q.Host.Tier, q.Decision.LeastProof = tier, least
	return q
}

func several(tiers ...string) policy.Question {
	q := on(tiers[0], "")
	for i, tier := range tiers {
		h := q.Host
		h.Name, h.Tier = fmt.Sprint("web", i), tier
		q.Hosts = append(q.Hosts, h)
	}
	return q
}

func TestTheLeastProofIsThePolicysOrThatOfTheTierOnceSomebodyIsEnrolled(t *testing.T) {
	everybody := func() ([]approval.Approver, error) { return newPeople(t).all, nil }
	nobody := func() ([]approval.Approver, error) { return nil, nil }
	broken := func() ([]approval.Approver, error) { return nil, errors.New("broken") }
	for name, tt := range map[string]struct {
		approvers func() ([]approval.Approver, error)
		q         policy.Question
		want      approval.Proof
	}{
		"nobody is enrolled":             {nobody, on("prod", ""), approval.Unproven},
		"nobody asks who is":             {nil, on("", ""), approval.Unproven},
		"prod":                           {everybody, on("prod", ""), approval.Passphrase},
		"a host without a tier":          {everybody, on("", ""), approval.Passphrase},
		"one host of several":            {everybody, several("dev", "prod"), approval.Passphrase},
		"several of another tier":        {everybody, several("dev", "dev"), approval.Unproven},
		"another tier":                   {everybody, on("dev", ""), approval.Unproven},
		"the policy wants more":          {everybody, on("dev", approval.Touch), approval.Touch},
		"the policy wants less":          {everybody, on("prod", approval.Unproven), approval.Unproven},
		"nobody is, and the policy asks": {nobody, on("prod", approval.Passphrase), approval.Passphrase},
		"who is enrolled is not known":   {broken, on("prod", ""), approval.Passphrase},
	} {
		t.Run(name, func(t *testing.T) {
			d := approval.NewDesk(approval.Config{Approvers: tt.approvers})
			ctx, cancel := context.WithCancel(t.Context())
			p, done := asks(t, ctx, d, tt.q)
			assert.Equal(t, tt.want, p.Question.Decision.LeastProof, "it is shown, and bound")
			assert.Equal(t, tt.want, p.Summary().Proof)
			if tt.want != approval.Unproven {
				require.ErrorIs(t, d.Answer(yes(p)), approval.ErrProof)
			}
			cancel()
			<-done
		})
	}
}

func TestWhatWaitsTakesAProofOnceSomebodyIsEnrolled(t *testing.T) {
	who := newPeople(t)
	for name, tt := range map[string]struct {
		q    policy.Question
		want approval.Proof
	}{
		"prod":                   {on("prod", ""), approval.Passphrase},
		"a host without a tier":  {on("", ""), approval.Passphrase},
		"one host of several":    {several("dev", "prod"), approval.Passphrase},
		"another tier":           {on("dev", ""), approval.Unproven},
		"the policy wants less":  {on("prod", approval.Unproven), approval.Unproven},
		"the policy wanted more": {on("prod", approval.Touch), approval.Touch},
	} {
		t.Run(name, func(t *testing.T) {
			var enrolled atomic.Pointer[[]approval.Approver]
			enrolled.Store(new([]approval.Approver))
			d := approval.NewDesk(approval.Config{Approvers: func() ([]approval.Approver, error) { return *enrolled.Load(), nil }})
			p, done := asks(t, t.Context(), d, tt.q)
			enrolled.Store(&who.all)
			if tt.want != approval.Unproven {
				require.ErrorIs(t, d.Answer(yes(p)), approval.ErrProof)
				require.NoError(t, d.Answer(signed(t, p, who.bob)), "what was shown can be signed")
			} else {
				require.NoError(t, d.Answer(yes(p)))
			}
			<-done
		})
	}
}

func TestASignatureProvesWhatItsKeyIsEnrolledFor(t *testing.T) {
	who := newPeople(t)
	for name, tt := range map[string]struct {
		signer ssh.Signer
		claim  approval.Proof
		name   string
		want   approval.Proof
	}{
		"a passphrase":                          {who.ada, approval.Passphrase, "ada", approval.Passphrase},
		"a passphrase of which nothing is said": {who.ada, "", "ada", approval.Passphrase},
		"a key that an agent held open":         {who.ada, approval.Unproven, "ada", approval.Unproven},
		"a touch":                               {who.bob, approval.Touch, "bob", approval.Touch},
		"a touch by way of an agent":            {who.bob, approval.Unproven, "bob", approval.Touch},
		"a key without a passphrase":            {who.agent, approval.Touch, "agent", approval.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			for _, least := range policy.Proofs {
				d := who.desk()
				ctx, cancel := context.WithCancel(t.Context())
				p, done := asks(t, ctx, d, on("dev", least))
				r := signed(t, p, tt.signer)
				r.Proof = tt.claim
				err := d.Answer(r)
				if !tt.want.AtLeast(least) {
					require.ErrorIs(t, err, approval.ErrProof)
					assert.ErrorContains(t, err, "can sign it at a terminal: fairlead approvals approve "+p.ID)
					assert.ErrorContains(t, err, tt.name)
					cancel()
					require.ErrorIs(t, (<-done).err, context.Canceled)
					continue
				}
				require.NoError(t, err)
				got := <-done
				cancel()
				require.NoError(t, got.err)
				assert.Equal(t, policy.Answer{
					Approved: true, ID: p.ID, By: "operator/ada", Proof: tt.want, Digest: string(p.Digest()), Document: string(p.Document()),
					Approver: tt.name, Key: ssh.FingerprintSHA256(tt.signer.PublicKey()), Signature: string(r.Signature),
				}, got.Answer)
			}
		})
	}
}

func TestASignatureThatProvesNothingIsRefused(t *testing.T) {
	who := newPeople(t)
	d := who.desk()
	p, done := asks(t, t.Context(), d, on("prod", ""))
	other, otherDone := asks(t, t.Context(), d, on("prod", ""))
	untouched := *who.bob
	untouched.Flags = 0
	_, err := approval.Sign(p, &untouched)
	require.ErrorIs(t, err, sshsig.ErrPresence)
	for name, tt := range map[string]struct {
		change func(r *approval.Response)
		want   error
		text   string
	}{
		"none, for prod":           {func(r *approval.Response) { r.Signature = nil }, approval.ErrProof, "one of ada, bob can sign it"},
		"none, whatever is said":   {func(r *approval.Response) { r.Signature, r.Proof = nil, approval.Touch }, approval.ErrProof, "an approval without a signature is unproven"},
		"a stranger's":             {func(r *approval.Response) { *r = signed(t, p, who.stranger) }, approval.ErrProof, "is not enrolled"},
		"of a key that is too old": {func(r *approval.Response) { *r = signed(t, p, who.late) }, approval.ErrProof, "has counted until"},
		"of another question":      {func(r *approval.Response) { r.Signature = signed(t, other, who.ada).Signature }, approval.ErrProof, "does not verify; what is signed is the digest"},
		"of another question whole": {func(r *approval.Response) {
			*r = signed(t, other, who.ada)
			r.ID = p.ID
		}, approval.ErrMismatch, ""},
		"for another purpose": {func(r *approval.Response) {
			sig, err := sshsig.Sign(rand.Reader, who.ada, "file", []byte(r.Digest))
			require.NoError(t, err)
			r.Signature = sig.Armor()
		}, approval.ErrProof, "it is for \"file\""},
		"no signature at all": {func(r *approval.Response) { r.Signature = []byte("yes") }, approval.ErrProof, "this is not a signature"},
		"an empty one":        {func(r *approval.Response) { r.Signature = []byte{} }, approval.ErrProof, "this is not a signature"},
		"an unknown proof":    {func(r *approval.Response) { r.Proof = "oath" }, approval.ErrInvalid, "oath"},
		"a proof of nothing": {func(r *approval.Response) {
			r.Approved, r.Signature, r.Proof = false, nil, approval.Touch
		}, approval.ErrInvalid, "a proof is about a signature"},
		"under a no":        {func(r *approval.Response) { r.Approved = false }, approval.ErrInvalid, "only approvals are signed"},
		"an agent's answer": {func(r *approval.Response) { r.By = "agent/x" }, approval.ErrForbidden, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := signed(t, p, who.ada)
			tt.change(&r)
			err := d.Answer(r)
			require.ErrorIs(t, err, tt.want)
			assert.ErrorContains(t, err, tt.text)
			assert.NotContains(t, err.Error(), "sshsig:")
			_, err = d.Get(p.ID)
			require.NoError(t, err, "it stays pending")
		})
	}
	r := yes(other)
	r.Approved = false
	require.NoError(t, d.Answer(r), "a no needs no proof")
	assert.False(t, (<-otherDone).Approved)
	require.NoError(t, d.Answer(signed(t, p, who.ada)))
	assert.True(t, (<-done).Approved)
	require.ErrorIs(t, d.Answer(signed(t, p, who.ada)), approval.ErrSettled, "once")
}

func TestNobodySignsTheirOwnRequest(t *testing.T) {
	who := newPeople(t)
	d := who.desk()
	q := on("prod", "")
	q.Principal = "operator/ada"
	ctx, cancel := context.WithCancel(t.Context())
	p, done := asks(t, ctx, d, q)
	r := signed(t, p, who.ada)
	r.By = "operator/root"
	err := d.Answer(r)
	require.ErrorIs(t, err, approval.ErrForbidden)
	assert.ErrorContains(t, err, "requesters cannot answer their own requests")
	cancel()
	<-done
}

func TestWithoutAnybodyWhoCouldSignTheAnswerSaysWhatToDo(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	p, done := asks(t, ctx, d, on("prod", approval.Touch))
	err := d.Answer(yes(p))
	require.ErrorIs(t, err, approval.ErrProof)
	assert.ErrorContains(t, err, "no such key is enrolled: fairlead approvals enroll --help")
	cancel()
	<-done
}

// Between processes nothing of it is lost, and the record alone is enough for ssh-keygen.
func TestASignatureReachesWhoAskedAndAnAuditorCanVerifyIt(t *testing.T) {
	who, dir := newPeople(t), place(t)
	d := who.desk()
	serves(t, d, dir)
	p, done := asks(t, t.Context(), d, on("prod", ""))
	c := dial(t, dir)
	shown, err := c.Get(t.Context(), p.ID)
	require.NoError(t, err)
	err = c.Answer(t.Context(), yes(shown))
	require.ErrorIs(t, err, approval.ErrProof)
	assert.ErrorContains(t, err, "can sign it at a terminal")
	r := signed(t, shown, who.ada)
	r.Proof = approval.Passphrase
	require.NoError(t, c.Answer(t.Context(), r))
	got := <-done
	require.NoError(t, got.err)
	assert.Equal(t, approval.Passphrase, got.Proof)
	assert.Equal(t, "ada", got.Approver)

	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ssh-keygen is needed: ", err)
		}
		t.Skip("no ssh-keygen")
	}
	tmp := t.TempDir()
	allowed, file := filepath.Join(tmp, "approvers"), filepath.Join(tmp, "sig")
	require.NoError(t, approval.Enroll(allowed, who.all[0]))
	require.NoError(t, os.WriteFile(file, []byte(got.Signature), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "-Y", "verify", "-f", allowed, "-I", got.Approver, "-n", approval.Namespace, "-s", file)
	cmd.Stdin = strings.NewReader(got.Digest)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), got.Key)
	back, err := approval.Parse([]byte(got.Document))
	require.NoError(t, err)
	assert.Equal(t, got.Digest, string(back.Digest()))
	assert.True(t, bytes.Contains([]byte(got.Document), []byte(p.Question.Command)))
}
