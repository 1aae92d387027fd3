package approval

import (
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// What a question or an answer may meet. Errors of this package wrap them and say more.
var (
	ErrUnknown   = errors.New("approval: no pending request has this id")
	ErrAmbiguous = errors.New("approval: several requests wait whose ids begin")
	ErrSettled   = errors.New("approval: it is no longer pending")
	ErrMismatch  = errors.New("approval: this is not what was shown: look at it again")
	ErrForbidden = errors.New("approval: this caller may not answer")
	ErrFull      = errors.New("approval: too many requests are pending")
	ErrExpired   = fmt.Errorf("approval: %w", policy.ErrExpired)
	ErrInvalid   = errors.New("approval: the request cannot be understood")
	ErrScope     = errors.New("approval: this cannot be approved for the session")
	ErrRejected  = errors.New("approval: it was refused")
	ErrUnkept    = errors.New("approval: the answer is not kept")
	ErrProof     = errors.New("approval: this is not proof of a person who may approve it")
)

// codes are the names of the errors between processes.
var codes = map[string]error{
	"unknown": ErrUnknown, "settled": ErrSettled, "mismatch": ErrMismatch, "forbidden": ErrForbidden, "full": ErrFull,
	"expired": ErrExpired, "invalid": ErrInvalid,
	"proof": ErrProof, "scope": ErrScope, "unkept": ErrUnkept,
}

// codeOf returns the name of an error; "internal" is any other.
func codeOf(err error) string {
	for code, e := range codes {
		if errors.Is(err, e) {
			return code
		}
	}
	return "internal"
}
