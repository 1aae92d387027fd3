package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// maxWord bounds identifiers, names of principals and hosts, and other words that rows are found by, in bytes.
const maxWord = 1024

// micros is how the database keeps a time: microseconds since 1970; 0 for the zero Time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// timeOf is the inverse of micros.
func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// number is how the database keeps a truth.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// bytesOf is how the database keeps a text that may hold any bytes: Postgres takes neither NUL nor bad UTF-8 as text.
func bytesOf(s string) []byte { return append([]byte{}, s...) }

// listOf is how the database keeps a list of words.
func listOf(words []string) []byte {
	if len(words) == 0 {
		return []byte("[]")
	}
	b, err := json.Marshal(words)
	if err != nil {
		panic("store: internal error: " + err.Error())
	}
	return b
}

// wordsOf is the inverse of listOf.
func wordsOf(b []byte) (words []string, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(b, &words); err != nil {
		return nil, fmt.Errorf("%w: a list in it is invalid", ErrDamaged)
	}
	if len(words) == 0 {
		return nil, nil
	}
	return words, nil
}

// word checks something that rows are found by. what names it.
func word(what, w string) error {
	switch {
	case len(w) > maxWord:
		return fmt.Errorf("%w: %s has %d bytes; at most %d are kept", ErrInvalid, what, len(w), maxWord)
	case !utf8.ValidString(w) || strings.ContainsRune(w, 0):
		return fmt.Errorf("%w: %s is not text", ErrInvalid, what)
	}
	return nil
}

// needed is word for what must not be empty.
func needed(what, w string) error {
	if w == "" {
		return fmt.Errorf("%w: %s is missing", ErrInvalid, what)
	}
	return word(what, w)
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
