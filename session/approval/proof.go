package approval

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Namespace is what signatures of approvals are for (see ssh-keygen, -n).
const Namespace = "approve@fairlead"

// Proof says how it is known that a person has answered.
type Proof = policy.Proof

// The proofs, from the weakest.
const (
	Unproven   = policy.Unproven
	Passphrase = policy.Passphrase
	Touch      = policy.Touch
)

// Sign signs a yes to what was shown. What is signed is the text of the digest, "sha256:" and its 64 digits, without a
// newline: whoever has the record alone can verify it with ssh-keygen -Y verify.
func Sign(p Pending, signer ssh.Signer) ([]byte, error) {
	sig, err := sshsig.Sign(rand.Reader, signer, Namespace, []byte(p.Digest()))
	if err != nil {
		return nil, fmt.Errorf("approval: cannot sign: %w", err)
	}
	return sig.Armor(), nil
}

// enrolled completes Config.Approvers.
func enrolled(f func() ([]Approver, error)) func() ([]Approver, error) {
	if f == nil {
		return func() ([]Approver, error) { return nil, nil }
	}
	return f
}

// least returns the least proof that a yes to q takes: what the policy says, else a passphrase on hosts of the tier prod and
// of none, once there is somebody who could give one.
func (d *Desk) least(q policy.Question) Proof {
	return leastFor(q.Decision.LeastProof, onProd(q), d.mayProve)
}

// onProd reports whether a host of q is on prod, or of no tier.
func onProd(q policy.Question) bool {
	prod := func(h hosts.Host) bool { return h.TierName() == hosts.Prod }
	return prod(q.Host) || slices.ContainsFunc(q.Hosts, prod)
}

// leastNow is what an approval of w must prove by now: approvers may have been enrolled since it was asked, which mayProve says.
func (w *question) leastNow(mayProve bool) Proof {
	return w.Question.Decision.LeastProof.Stronger(leastFor(w.named, w.prod, func() bool { return mayProve }))
}

// mayProve reports whether there may be approvers who could sign. It asks Config.Approvers, so d.mu is not held.
func (d *Desk) mayProve() bool {
	all, err := d.approvers()
	return err != nil || len(all) > 0
}

// leastFor is the least proof where a policy names one, or none, and a host is on prod or not.
func leastFor(named Proof, prod bool, mayProve func() bool) Proof {
	if named != "" {
		return named
	}
	if !prod || !mayProve() {
		return Unproven
	}
	return Passphrase
}

// prove returns the answer that r is, with what its signature proves.
func (d *Desk) prove(r Response) (policy.Answer, error) {
	a := policy.Answer{Approved: r.Approved, ID: r.ID, By: r.By, Proof: Unproven, Reason: r.Reason}
	switch {
	case r.Proof != "" && !r.Proof.Known():
		return a, fmt.Errorf("%w: unknown proof %.20q", ErrInvalid, r.Proof)
	case r.Signature == nil:
		return a, nil
	case !r.Approved:
		return a, fmt.Errorf("%w: only approvals are signed", ErrInvalid)
	}
	sig, err := sshsig.Parse(r.Signature)
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrProof, &badSignature{err})
	}
	if _, err := sig.Verify(Namespace, []byte(r.Digest)); err != nil {
		return a, fmt.Errorf("%w: %w", ErrProof, &badSignature{err})
	}
	all, err := d.approvers()
	if err != nil {
		return a, fmt.Errorf("%w: the enrolled keys cannot be read: %w", ErrProof, err)
	}
	a.Key = ssh.FingerprintSHA256(sig.Key())
	who, ok := byKey(all, sig.Key())
	if !ok {
		return a, fmt.Errorf("%w: the key %s is not enrolled; fairlead approvals enroll does that", ErrProof, a.Key)
	}
	if err := who.validAt(time.Now()); err != nil {
		return a, fmt.Errorf("%w: %w", ErrProof, err)
	}
	a.Approver, a.Signature, a.Proof = who.Name, string(r.Signature), who.Proof
	if r.Proof != "" && !sshsig.Hardware(sig.Key()) {
		a.Proof = a.Proof.Weaker(r.Proof)
	}
	return a, nil
}

// badSignature is why a signature is none of what was shown, with how one is made: it may come from another machine.
type badSignature struct{ err error }

func (e *badSignature) Error() string {
	return strings.TrimPrefix(e.err.Error(), "sshsig: ") + "; what is signed is the digest of this request, without a newline: printf %s DIGEST | ssh-keygen -Y sign -n " + Namespace + " -f KEY"
}

func (e *badSignature) Unwrap() error { return e.err }

// tooWeak says what would do.
func (d *Desk) tooWeak(least Proof, a policy.Answer) error {
	have := "an approval without a signature is " + string(a.Proof)
	if a.Approver != "" {
		have = fmt.Sprintf("the signature of %s with %s is %s", a.Approver, a.Key, a.Proof)
	}
	all, err := d.approvers()
	if err != nil {
		return fmt.Errorf("%w: %s is needed, and the enrolled keys cannot be read: %w", ErrProof, least, err)
	}
	var names []string
	for _, who := range all {
		if who.Proof.AtLeast(least) && who.validAt(time.Now()) == nil && !slices.Contains(names, who.Name) {
			names = append(names, who.Name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: %s is needed, and %s; no such key is enrolled: fairlead approvals enroll --help", ErrProof, need(least), have)
	}
	return fmt.Errorf("%w: %s is needed, and %s; one of %s can sign it at a terminal: fairlead approvals approve %s",
		ErrProof, need(least), have, strings.Join(names, ", "), a.ID)
}

// need is a proof as what is asked for.
func need(p Proof) string {
	switch p {
	case Touch:
		return "a touch of an enrolled security key"
	case Passphrase:
		return "a signature with an enrolled key that a passphrase opens, or a touch of a security key,"
	}
	return string(p)
}
