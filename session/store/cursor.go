package store

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// Limits of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Page is a part of a list, the newest first. Next is the cursor of the part after it; "" after the last.
type Page[T any] struct {
	Items []T
	Next  string
}

// Paging asks for a part of a list. Limit 0 means DefaultLimit, and more than MaxLimit is MaxLimit. Cursor is a Next of
// the same list; "" begins with the newest. A cursor gives nobody a right to see anything.
type Paging struct {
	Limit  int
	Cursor string
}

// place is where a part of a list begins: after the record of this time and id.
type place struct {
	at int64
	id string
}

const cursorV1 = 1

// cursor writes a place of the list that kind names, for outside.
func cursor(kind byte, p place) string {
	b := binary.BigEndian.AppendUint64([]byte{cursorV1, kind}, uint64(p.at))
	return base64.RawURLEncoding.EncodeToString(append(b, p.id...))
}

// parseCursor reads what cursor has written, and nothing else.
func parseCursor(kind byte, text string) (place, error) {
	if len(text) > 2*maxWord {
		return place{}, fmt.Errorf("%w: it is too long", ErrCursor)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 11 || b[0] != cursorV1 || b[1] != kind {
		return place{}, fmt.Errorf("%w: give next_cursor as it came", ErrCursor)
	}
	p := place{int64(binary.BigEndian.Uint64(b[2:10])), string(b[10:])}
	if p.at < 0 || needed("the cursor", p.id) != nil || cursor(kind, p) != text {
		return place{}, fmt.Errorf("%w: give next_cursor as it came", ErrCursor)
	}
	return p, nil
}

// window returns the conditions and the number of rows of a part; one row more than asked for tells whether there is
// another part.
func (p Paging) window(kind byte, idColumn string) (where string, args []any, limit int, err error) {
	limit = p.Limit
	switch {
	case limit < 0:
		return "", nil, 0, fmt.Errorf("%w: a limit of %d", ErrInvalid, limit)
	case limit == 0:
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	if p.Cursor == "" {
		return "", nil, limit, nil
	}
	at, err := parseCursor(kind, p.Cursor)
	if err != nil {
		return "", nil, 0, err
	}
	return " AND (created_at < ? OR (created_at = ? AND " + idColumn + " < ?))", []any{at.at, at.at, at.id}, limit, nil
}

// list reads a part of a table.
func list[T any](q query, p Paging, kind byte, columns, table, idColumn, where string, args []any, scan func(scanner) (T, error), where2 func(T) place) (Page[T], error) {
	more, moreArgs, limit, err := p.window(kind, idColumn)
	if err != nil {
		return Page[T]{}, err
	}
	args = append(append(append([]any{}, args...), moreArgs...), int64(limit+1))
	var page Page[T]
	err = q.each(func(r scanner) error {
		v, err := scan(r)
		if err == nil {
			page.Items = append(page.Items, v)
		}
		return err
	}, `SELECT `+columns+` FROM `+table+` WHERE `+where+more+` ORDER BY created_at DESC, `+idColumn+` DESC LIMIT ?`, args...)
	if err != nil {
		return Page[T]{}, err
	}
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		page.Next = cursor(kind, where2(page.Items[limit-1]))
	}
	return page, nil
}
