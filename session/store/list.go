package store

import (
	"context"
)

// kinds of lists, so that a cursor of one is none of another.
const (
	sandboxList byte = 's'
	commandList byte = 'c'
	sessionList byte = 'n'
)

// CommandFilter picks commands; empty fields pick all.
type CommandFilter struct {
	Sandbox   string
	Session   string
	Status    Status
	Principal string // who asked
	Host      string // of one host, or among the list of several
	Brief     bool   // without Stdout, Stderr and Exec
}

// Commands lists commands.
func (s *Store) Commands(ctx context.Context, f CommandFilter, p Paging) (page Page[Command], err error) {
	var b conditions
	b.equal("sandbox_id", f.Sandbox)
	b.equal("session_id", f.Session)
	b.equal("status", string(f.Status))
	b.equal("requested_by", f.Principal)
	if f.Host != "" {
		b.add("EXISTS (SELECT 1 FROM command_hosts h WHERE h.command_id = commands.command_id AND h.host = ?)", f.Host)
	}
	columns := commandColumns
	if f.Brief {
		columns = briefColumns
	}
	if err := b.check(); err != nil {
		return page, err
	}
	err = s.read(ctx, "list commands", func(q query) error {
		page, err = list(q, p, commandList, columns, "commands", "command_id", b.text(), b.args, scanCommand,
			func(c Command) place { return place{micros(c.Created), c.ID} })
		return err
	})
	return page, err
}

// conditions collects what a list is filtered by.
type conditions struct {
	where string
	args  []any
}

func (b *conditions) add(condition string, args ...any) {
	b.where += " AND " + condition
	b.args = append(b.args, args...)
}

// equal adds a condition unless v is empty.
func (b *conditions) equal(column, v string) {
	if v != "" {
		b.add(column+" = ?", v)
	}
}

// check refuses words that no row can have, which Postgres would complain about.
func (b *conditions) check() error {
	for _, a := range b.args {
		if w, ok := a.(string); ok {
			if err := word("a filter", w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *conditions) text() string { return "1 = 1" + b.where }
