package store

import (
	"strconv"
	"strings"
)

// dialect is in what the two databases differ.
type dialect struct {
	numbered bool   // parameters are $1, $2, …, else ?
	blob     string // type of a column for any bytes
	word     string // type of a column that is compared byte by byte
	lock     string // suffix of a SELECT that locks its rows until the transaction ends
	share    string // the same, for rows that only must stay as they are
}

var (
	sqliteDialect   = dialect{blob: "BLOB", word: "TEXT"} // its writing transactions lock everything
	postgresDialect = dialect{numbered: true, blob: "BYTEA", word: `TEXT COLLATE "C"`, lock: " FOR UPDATE", share: " FOR SHARE"}
)

// text returns a statement, written with ? and the words @BLOB@, @WORD@, @LOCK@ and @SHARE@, in the dialect. No
// statement of this package has a ? or @ in a literal.
func (d dialect) text(q string) string {
	if strings.Contains(q, "@") {
		q = strings.NewReplacer("@BLOB@", d.blob, "@WORD@", d.word, "@LOCK@", d.lock, "@SHARE@", d.share).Replace(q)
	}
	if !d.numbered || !strings.Contains(q, "?") {
		return q
	}
	var b strings.Builder
	for i, part := range strings.Split(q, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}
