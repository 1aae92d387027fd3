package foreign

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

// ignored are the entries of an inventory directory that Ansible passes over.
var ignored = lazyregexp.New(`^\.|(~|\.pyc|\.pyo|\.swp|\.bak|\.rpm|\.md|\.txt|\.rst|\.orig|\.ini|\.cfg|\.retry)$|^(group_vars|host_vars|vars_plugins)$`)

// Ansible reads an inventory of Ansible's: a file in INI, YAML or JSON form, or a directory of such files, with the
// group_vars and host_vars beside it. A program among the files of a directory is run as run says. With an error, too, the
// Inventory says which files were looked at.
func Ansible(ctx context.Context, path string, run Runner) (*Inventory, error) {
	m := newModel(path)
	dir := filepath.Dir(path)
	if isDir(path) {
		dir = path
	}
	if err := m.ansible(ctx, path, dir, run); err != nil {
		return &Inventory{Files: m.files.all()}, err
	}
	return m.convert(dir), nil
}

func (m *model) ansible(ctx context.Context, path, dir string, run Runner) (err error) {
	if dir == path {
		if err = m.dir(ctx, path, run, 0); err == nil && len(m.names) == 0 {
			err = wrong(hosts.Pos{File: path}, "the files in this directory name no host; those with endings that Ansible passes over, as .ini, .cfg and .txt, are not read")
		}
	} else {
		err = m.file(ctx, path, run)
	}
	if err != nil {
		return err
	}
	if err := m.finish(); err != nil {
		return err
	}
	return m.varsFiles(dir)
}

// dir reads the files of a directory, in the order of their names.
func (m *model) dir(ctx context.Context, path string, run Runner, depth int) error {
	if depth > maxDepth {
		return wrong(hosts.Pos{File: path}, "more than %d directories inside each other", maxDepth)
	}
	if err := m.note(path); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		full := filepath.Join(path, e.Name())
		switch {
		case ignored.MatchString(e.Name()):
			if strings.HasSuffix(e.Name(), ".ini") && !isDir(full) {
				m.minor(hosts.Pos{File: full}, "a file with this ending in a directory is not read, as with older versions of Ansible: make it a source of its own, or rename it")
			}
		case isDir(full):
			err = m.dir(ctx, full, run, depth+1)
		default:
			err = m.file(ctx, full, run)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file reads one file in the form that it has.
func (m *model) file(ctx context.Context, path string, run Runner) error {
	if Executable(path) {
		if err := m.note(path); err != nil {
			return err
		}
		return m.program(ctx, []string{path, "--list"}, run)
	}
	data, err := m.read(path)
	if err != nil {
		return err
	}
	return m.text(path, data)
}

// text reads an inventory that is at hand. The ending of its name says in which form it is; one without is read as YAML
// where it looks like that.
func (m *model) text(path string, data []byte) error {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".json":
		if strings.Contains(string(data), `"_meta"`) {
			return m.json(path, data, false)
		}
		return m.yaml(path, data)
	case ext == ".yml", ext == ".yaml":
		return m.yaml(path, data)
	case ext == ".toml":
		return wrong(hosts.Pos{File: path, Line: 1}, "Ansible's TOML form is not supported: write it as INI or YAML")
	case looksYAML(data):
		return m.yaml(path, data)
	}
	return m.ini(path, data)
}

// looksYAML reports whether a file is a YAML mapping of mappings, which JSON is too. An INI file is never one.
func looksYAML(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line != "---" && line[0] != '{' && !strings.HasSuffix(line, ":") && !strings.Contains(line, ": ") {
			return false
		}
		break
	}
	return LooksAnsible(data)
}

// LooksAnsible reports whether a YAML or JSON text is an inventory of Ansible's: a mapping of groups, each nothing or a
// mapping, of which one at least has hosts, vars or children. Ansible passes over other words in a group.
func LooksAnsible(data []byte) bool {
	root, problem := strictyaml.Decode(tabless(data), "an inventory")
	if problem != nil || root == nil || root.Kind != yaml.MappingNode || len(root.Content) == 0 {
		return false
	}
	groups := 0
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, v := root.Content[i].Value, real(root.Content[i+1])
		switch {
		case key == "version":
			return false
		case key == "_meta" || key == "plugin":
			groups++
			continue
		case isNull(v):
			continue
		case v.Kind == yaml.SequenceNode: // the short form in JSON; Fairlead's own sections are lists of mappings
			for _, item := range v.Content {
				if item.Kind != yaml.ScalarNode {
					return false
				}
			}
			continue
		case v.Kind != yaml.MappingNode:
			return false
		}
		for j := 0; j+1 < len(v.Content); j += 2 {
			switch v.Content[j].Value {
			case "<<": // what is merged are such sections too
			case "hosts", "vars", "children":
				groups++
			}
		}
	}
	return groups > 0
}

// Executable reports whether path is a program: a regular file that may be run, and that begins with #! or is no text.
func Executable(path string) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o111 == 0 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return true // running it says what is wrong
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	return n > 0 && (strings.HasPrefix(string(head[:n]), "#!") || checkText(path, head[:n]) != nil && n == len(head))
}
