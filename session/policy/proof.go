package policy

import (
	"cmp"
	"slices"
)

// Proof says how it is known that a person has answered. The zero Proof is none, and less than any other.
type Proof string

// The proofs, from the weakest.
const (
	Unproven   Proof = "unproven"   // nothing but who could give the answer: a bare yes at a terminal, a key that an agent holds
	Passphrase Proof = "passphrase" // a signature with an enrolled key that a passphrase opens
	Touch      Proof = "touch"      // a signature with an enrolled security key that somebody touched
)

// Proofs are the proofs, from the weakest.
var Proofs = [...]Proof{Unproven, Passphrase, Touch}

// Known reports whether p is one of Proofs.
func (p Proof) Known() bool { return p.rank() >= 0 }

// AtLeast reports whether p is as strong as least, or stronger. What is not known is the weakest as a proof, and more than
// anything where it is what is asked for.
func (p Proof) AtLeast(least Proof) bool {
	return least == "" || least.Known() && p.rank() >= least.rank()
}

// Stronger returns the stronger of two proofs.
func (p Proof) Stronger(other Proof) Proof {
	if other.rank() > p.rank() {
		return other
	}
	return p
}

// Weaker returns the weaker of two proofs.
func (p Proof) Weaker(other Proof) Proof {
	if other.rank() < p.rank() {
		return other
	}
	return p
}

// Strictest returns the strictest of what approvals take at least, for one approval of all. "" leaves it to the approver, who
// takes a passphrase at most, and maybe nothing: it is more than Unproven. What is not known is more than anything.
func Strictest(all ...Proof) Proof {
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b Proof) int { return cmp.Compare(a.strictness(), b.strictness()) })
}

func (p Proof) strictness() int {
	switch {
	case p == Unproven:
		return -1
	case p == "":
		return 0
	case !p.Known():
		return len(Proofs)
	}
	return p.rank()
}

func (p Proof) rank() int { return slices.Index(Proofs[:], p) }
