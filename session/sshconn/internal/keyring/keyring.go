// Package keyring owns the keys that may log in to a host: those of an agent and of files, with their certificates, in OpenSSH's
// order, and why others are left out. A private key is opened, or its agent asked, once a server has accepted its public key.
package keyring

import (
	"slices"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// Identity is one key to log in with.
type Identity struct {
	From   string        // a file, "agent" … for messages
	Public ssh.PublicKey // nil until Known, where the key's format hides it
	// Open returns the signer, and may ask a person. It is called only once the server has accepted the public key, or to know that.
	Open func(clk *clock.Clock) (ssh.Signer, error)
}

func Given(s ssh.Signer) Identity {
	return Identity{From: "given", Public: s.PublicKey(), Open: func(*clock.Clock) (ssh.Signer, error) { return s, nil }}
}

// Ring is what can be tried at one host, in order.
type Ring struct {
	Identities []Identity
	Skipped    []NotOffered
	Close      func() // frees what the identities need; may be nil
	unfit      func(ssh.PublicKey) string
}

// NotOffered is a key that is not offered, and why.
type NotOffered struct{ From, Reason string }

// Add appends id unless its key is there already.
func (r *Ring) Add(id Identity) {
	if !slices.ContainsFunc(r.Identities, func(other Identity) bool { return Same(other.Public, id.Public) }) {
		r.Identities = append(r.Identities, id)
	}
}

func (r *Ring) skip(from, reason string) {
	r.Skipped = append(r.Skipped, NotOffered{From: from, Reason: reason})
}

// Known reports whether there is a key at n, whose public half it finds out. A file that hides it is opened as ssh does, once its turn
// has come; what cannot be opened, or was there before, is taken out.
func (r *Ring) Known(clk *clock.Clock, n int) bool {
	for clk.Err() == nil && n < len(r.Identities) {
		id := &r.Identities[n]
		if id.Public != nil {
			return true
		}
		signer, err := id.Open(clk)
		why := ""
		switch {
		case err != nil:
			why = err.Error() + " (without a .pub file next to it, nothing else says which key it is; make one with ssh-keygen -y)"
		case slices.ContainsFunc(r.Identities[:n], func(other Identity) bool { return Same(other.Public, signer.PublicKey()) }):
			why = "it was offered before"
		case r.unfit != nil:
			why = r.unfit(signer.PublicKey())
		}
		if why == "" {
			id.Public = signer.PublicKey()
			return true
		}
		r.skip(id.From, why)
		r.Identities = slices.Delete(r.Identities, n, n+1)
	}
	return false
}
