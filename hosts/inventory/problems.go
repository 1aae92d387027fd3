package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
)

// problems collects what is wrong with a file, to report it all at once.
type problems struct {
	errs  []*hosts.ParseError
	hints int // how many near misses were looked for
}

// maxHints bounds the looking: it costs a comparison with every name, and a reader gets the point before that.
const maxHints = 50

// unknown completes a message about a name that nothing has.
func (p *problems) unknown(name string, known []string) string {
	if p.hints++; p.hints > maxHints {
		return ""
	}
	return near.Hint(near.Find(name, slices.Values(known)))
}

// add notes a problem.
func (p *problems) add(pos hosts.Pos, format string, args ...any) {
	p.errs = append(p.errs, &hosts.ParseError{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// wrap notes a problem with a cause that callers may look at.
func (p *problems) wrap(pos hosts.Pos, msg string, err error) {
	p.errs = append(p.errs, &hosts.ParseError{Pos: pos, Msg: msg, Err: err})
}

// err returns all problems in the order of the file, or nil.
func (p *problems) err() error {
	slices.SortStableFunc(p.errs, func(a, b *hosts.ParseError) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Msg, b.Msg))
	})
	out := make([]error, len(p.errs))
	for i, e := range p.errs {
		out[i] = e
	}
	return errors.Join(out...)
}
