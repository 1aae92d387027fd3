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
	From   string // a file, "agent" … for messages
	Public ssh.PublicKey
	// open returns the signer. It is called only once the server has accepted the public key, and may ask a person.
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
}

// NotOffered is a key that is not offered, and why.
type NotOffered struct{ From, Reason string }

// Add appends id unless its key is there already.
func (r *Ring) Add(id Identity) {
	blob := string(id.Public.Marshal())
	if !slices.ContainsFunc(r.Identities, func(other Identity) bool { return string(other.Public.Marshal()) == blob }) {
		r.Identities = append(r.Identities, id)
	}
}

func (r *Ring) skip(from, reason string) {
	r.Skipped = append(r.Skipped, NotOffered{From: from, Reason: reason})
}
