package foreign

import (
	"context"
	"path/filepath"
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
// is used as it is. A program that is named by its path, which begins in dir, and called with --list alone is an inventory as
// Ansible has them: the group_vars and host_vars beside it count. With an error, too, the Inventory says which files were
// looked at.
func Program(ctx context.Context, dir string, argv []string, run Runner) (*Inventory, error) {
	m := newModel(Origin(argv).File)
	err := m.program(ctx, argv, run)
	if err == nil {
		err = m.finish()
	}
	beside := ""
	if err == nil && len(argv) == 2 && argv[1] == "--list" && strings.ContainsRune(argv[0], '/') {
		var path string
		if path, err = Expand(argv[0], dir); err == nil {
			beside = filepath.Dir(path)
			err = m.varsFiles(beside)
		}
	}
	if err != nil {
		return &Inventory{Files: m.files.all()}, err
	}
	return m.convert(beside), nil
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
