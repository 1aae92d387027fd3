package knownhosts

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

const maxWarnings = 100

// DB is what one or more known_hosts files say. The zero value knows nothing.
type DB struct {
	entries  []entry
	skipped  []entry // about some hosts, without a usable key
	why      []string
	warnings []Warning
	more     int // warnings that the last one counts
	files    []source
	about    *index           // of entries
	without  *index           // of skipped
	now      func() time.Time // nil means time.Now; for certificates
}

// Warning is a line that was skipped.
type Warning struct {
	File   string
	Line   int
	Reason string // "holds a key of an unknown type" …
}

func (w Warning) String() string {
	return fmt.Sprintf("knownhosts: %s:%d %s; the line is skipped", w.File, w.Line, w.Reason)
}

// Open reads files, in order. Missing ones are fine; one that cannot be read is an error, because it may hold
// revocations.
func Open(files ...string) (*DB, error) {
	db := &DB{}
	var errs []error
	for _, name := range files {
		src, data, err := readSource(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("knownhosts: %s cannot be read: %w", name, err))
		}
		db.files = append(db.files, src)
		db.parse(name, data)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	db.index()
	return db, nil
}

// StaticKey is one key for Static.
type StaticKey struct {
	Host      string // as the first field of a line: names and patterns separated by commas, "[host]:port", or hashed
	Key       ssh.PublicKey
	Authority bool // Key signs host certificates, as with @cert-authority
	Revoked   bool // Key must not be accepted, as with @revoked
}

// Static returns a DB of given keys, for programs that bring their own. It is never stale.
func Static(keys ...StaticKey) (*DB, error) {
	db := &DB{}
	for i, k := range keys {
		if k.Host == "" || strings.ContainsAny(k.Host, " \t\r\n") {
			return nil, fmt.Errorf("knownhosts: static key %d: %q is not a list of host names", i+1, k.Host)
		}
		if k.Key == nil || k.Authority && k.Revoked {
			return nil, fmt.Errorf("knownhosts: static key %d for %s: give one key, as authority or as revoked but not both",
				i+1, k.Host)
		}
		n, err := parseNames(k.Host)
		if err != nil {
			return nil, fmt.Errorf("knownhosts: static key %d: it %w", i+1, err)
		}
		e := entry{names: n}
		switch {
		case k.Authority:
			e.marker = authority
		case k.Revoked:
			e.marker = revoked
		}
		e.setKey(k.Key)
		e.Line = i + 1
		db.entries = append(db.entries, e)
	}
	db.index()
	return db, nil
}

// Warnings returns the lines that were skipped, each once, in order. At most 100 are kept; the last then counts the
// rest.
func (db *DB) Warnings() []Warning { return append([]Warning(nil), db.warnings...) }

func (db *DB) parse(name string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for n := 1; len(data) > 0; n++ {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		e, why, ok := parseLine(string(text))
		e.File, e.Line = name, n
		if ok {
			db.entries = append(db.entries, e)
			if _, isCert := e.key.(*ssh.Certificate); isCert {
				why = "holds a certificate where a key belongs; no host can match it"
			}
		} else if e.Type != "" {
			db.skipped = append(db.skipped, e)
			db.why = append(db.why, why)
		}
		switch {
		case why == "":
		case len(db.warnings) < maxWarnings:
			db.warnings = append(db.warnings, Warning{File: name, Line: n, Reason: why})
		default:
			db.more++
			db.warnings[maxWarnings-1] = Warning{File: name, Line: n, Reason: fmt.Sprintf("%s, and so do %d lines before it", why, db.more)}
		}
	}
}

// index makes what lookup needs, once all is parsed.
func (db *DB) index() { db.about, db.without = newIndex(db.entries), newIndex(db.skipped) }

func (db *DB) names() []string {
	var out []string
	for _, f := range db.files {
		out = append(out, f.name)
	}
	return out
}
