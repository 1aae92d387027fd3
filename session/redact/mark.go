package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

const (
	markOpen  = "«redacted:"
	markClose = "»"
	idLen     = 8  // hexadecimal digits of a keyed hash
	maxKind   = 32 // bytes of a kind
	// maxMark bounds a whole mark, so that one at the end of a chunk can be waited for.
	maxMark = len(markOpen) + maxKind + 1 + idLen + len(markClose)
)

// wholeMark is one mark at the start. Its parts are too narrow to carry a secret.
var wholeMark = lazyregexp.New(`^«redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}»`)

// looseMark is a mark that lost its quotes, or has them in another encoding, on its way through a model or a program.
var looseMark = lazyregexp.New(`(?i)(?:«|\\u00ab|%c2%ab|&laquo;|<<)redacted:|redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}(?:[^0-9a-z]|$)`)

// ContainsMark reports whether b holds a mark of this package, also one that was encoded or lost its quotes. Whatever
// goes back to a host (a command, an input, a file's content) must be refused then: the mark stands where a value that
// the writer never saw used to be.
func ContainsMark(b []byte) bool {
	for rest := b; ; {
		i := indexRedacted(rest)
		if i < 0 {
			return false
		}
		if i > 0 && rest[i-1] == 0xab { // the last byte of «, which is all of it in Latin-1
			return true
		}
		from, to := max(0, i-8), min(len(rest), i+maxMark)
		if looseMark.Match(rest[from:to]) {
			return true
		}
		rest = rest[i+1:]
	}
}

// indexRedacted finds the word that every mark has, in any case.
func indexRedacted(b []byte) int {
	const word = "redacted:"
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], ':')
		if i < 0 {
			return -1
		}
		at += i + 1
		if at >= len(word) && strings.EqualFold(string(b[at-len(word):at]), word) {
			return at - len(word)
		}
	}
}

func appendMark(out []byte, kind, id string) []byte {
	out = append(out, markOpen...)
	out = append(out, kind...)
	out = append(out, ':')
	out = append(out, id...)
	return append(out, markClose...)
}

// markAt returns the length of the mark at the start of b, or 0.
func markAt(b []byte) int {
	if !bytes.HasPrefix(b, []byte(markOpen)) {
		return 0
	}
	return len(wholeMark.Find(b[:min(len(b), maxMark)]))
}

// isMarks reports whether b is nothing but marks: somebody has taken the value out already.
func isMarks(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for len(b) > 0 {
		n := markAt(b)
		if n == 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// cleanKind makes a caller's kind fit into a mark.
func cleanKind(kind string) string {
	out := make([]byte, 0, maxKind)
	for i := 0; i < len(kind) && len(out) < maxKind; i++ {
		switch c := kind[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			out = append(out, c)
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, '-')
		}
	}
	if len(out) == 0 {
		return "secret"
	}
	return string(out)
}

// sum hashes a value that may come in pieces.
type sum struct{ h hash.Hash }

func newSum(key []byte) sum { return sum{hmac.New(sha256.New, key)} }

// again returns the sum of another value; s may be used no more.
func (s sum) again(key []byte) sum {
	if s.h == nil {
		return newSum(key)
	}
	s.h.Reset()
	return s
}

func (s sum) add(b []byte) { s.h.Write(b) }

func (s sum) id() string { return hex.EncodeToString(s.h.Sum(nil)[:idLen/2]) }

func idOf(key, value []byte) string {
	s := newSum(key)
	s.add(value)
	return s.id()
}
