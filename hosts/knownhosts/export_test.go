package knownhosts

import "time"

// At returns db as seen at a moment, for the validity of certificates.
func (db *DB) At(t time.Time) *DB {
	c := *db
	c.now = func() time.Time { return t }
	return &c
}

// MatchNames reports whether the first field of a line covers a name.
func MatchNames(field, name string) (match, ok bool) {
	n, err := parseNames(field)
	if err != nil {
		return false, false
	}
	return n.match(name), true
}

// Hashed returns how many hashes of names db has computed.
func Hashed(db *DB) int64 { return db.about.hashes.Load() + db.without.hashes.Load() }

// HashName is the hashed form of a name.
var HashName = hashName

// ParseLine reports whether a line can be used, and why not.
func ParseLine(s string) (why string, ok bool) {
	_, why, ok = parseLine(s)
	return why, ok
}

// Looked returns how many names db remembers to have looked for among hashed ones.
func Looked(db *DB) int { return len(db.about.looked) }

const (
	MaxFileSize = maxFileSize
	MaxLooked   = maxLooked
	MaxReopen   = maxReopen
)

// InOrder puts algorithms in OpenSSH's order.
var InOrder = inOrder
