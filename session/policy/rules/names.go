package rules

import (
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// CheckNames reports rules and principals whose hosts: names hosts, groups or labels that inv does not have: they are for
// nobody, which whoever wrote them did not mean. Each is a [*FileError] with its line, and all are joined as by [ReadFile].
func (f *File) CheckNames(inv *hosts.Inventory) error {
	var found []error
	check := func(line int, what string, sel hosts.Selector) {
		if err := inv.CheckLabels(sel); err != nil {
			found = append(found, &FileError{Pos: hosts.Pos{File: f.Name, Line: line}, Msg: what + ": the inventory has " + strings.TrimPrefix(err.Error(), "hosts: ")})
		}
	}
	for _, r := range f.rules {
		check(r.pos.Line, "rule "+r.name, r.hosts)
	}
	for _, e := range f.principals {
		check(e.line, "principals", e.hosts)
	}
	return errors.Join(found...)
}
