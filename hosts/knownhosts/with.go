package knownhosts

import "slices"

// With returns a DB that knows the lines of text, too, as if they stood in a file of that name behind the others. It is as stale
// as db.
func (db *DB) With(name string, text []byte) *DB {
	more := *db
	more.entries, more.skipped = slices.Clone(db.entries), slices.Clone(db.skipped)
	more.why, more.warnings = slices.Clone(db.why), slices.Clone(db.warnings)
	more.parse(name, text)
	more.index()
	return &more
}
