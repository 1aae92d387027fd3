package jobs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/id"
)

const idPrefix = "j_"

// NewID returns an identifier of a job: 65 random bits.
func NewID() string { return id.New(idPrefix) }

// ValidID reports whether an identifier is one that NewID may return, or what NewStartAll makes of one.
func ValidID(text string) bool {
	one, number, many := strings.Cut(text, "-")
	return id.Valid(idPrefix, one) && (!many || validNumber(number))
}

func validNumber(text string) bool {
	return text != "" && len(text) <= 6 && text[0] != '0' && strings.Trim(text, "0123456789") == ""
}

// Ref names a job: by its id and, so that it can be found by whoever has never heard of it, by its host.
type Ref struct {
	Host string // "" is not said
	ID   string
}

// String is HOST/ID, or the ID.
func (r Ref) String() string {
	if r.Host == "" {
		return r.ID
	}
	return r.Host + "/" + r.ID
}

var errRef = errors.New("a job is named HOST/ID, as what started it prints; its id begins with " + idPrefix)

// ParseRef reads what String returns.
func ParseRef(text string) (Ref, error) {
	r := Ref{ID: text}
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		r.Host, r.ID = text[:i], text[i+1:]
	}
	if !ValidID(r.ID) || strings.HasPrefix(text, "/") {
		return Ref{}, fmt.Errorf("jobs: %w", errRef)
	}
	return r, nil
}
