package foreign

import (
	"context"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Runner returns what a program prints that valid accepts, and a note where that is an older answer.
type Runner func(ctx context.Context, argv []string, valid func([]byte) error) ([]byte, *Note, error)

// NoPrograms is a Runner that runs nothing.
func NoPrograms(_ context.Context, argv []string, _ func([]byte) error) ([]byte, *Note, error) {
	return nil, nil, wrong(Origin(argv), "is a program, and none is run here")
}

// Origin is the place of what a program prints.
func Origin(argv []string) hosts.Pos { return hosts.Pos{File: clip(strings.Join(argv, " "))} }

// Program reads what a program prints: the JSON that Ansible expects of an inventory program that it calls with --list. argv
// is used as it is; the group_vars beside the program count for nothing.
func Program(ctx context.Context, argv []string, run Runner) (*Inventory, error) {
	m := newModel(Origin(argv).File)
	if err := m.program(ctx, argv, run); err != nil {
		return nil, err
	}
	if err := m.finish(); err != nil {
		return nil, err
	}
	return m.convert(""), nil
}

// program runs one and reads what it prints into m.
func (m *model) program(ctx context.Context, argv []string, run Runner) error {
	from := Origin(argv).File
	data, stale, err := run(ctx, argv, func(data []byte) error { return newModel(from).json(from, data, true) })
	if err != nil {
		return err
	}
	if stale != nil {
		m.put(*stale)
	}
	return m.json(from, data, true)
}
