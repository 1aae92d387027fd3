package inventory

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// ownFormats are those of Fairlead's inventories, by what files are called.
var ownFormats = map[string]string{"yaml": "yaml", "yml": "yaml", "toml": "toml", "json": "json"}

// ownVersion begins Fairlead's inventories: looking for it spares reading large ones twice.
var ownVersion = lazyregexp.New(`(?m)^(version|\s*\{\s*"version"|\s*"version")\s*:`)

// direct returns the source that the file at path is itself: an inventory of another program. It returns nil for one of
// Fairlead's, and where the file says nothing about itself.
func (o Options) direct(path string) *spec {
	s := &spec{path: path, exact: true, fresh: foreign.DefaultFresh, pos: hosts.Pos{File: path}}
	switch {
	case o.Format == kindProgram:
		s.kind = kindProgram
	case o.Format != "":
		if !slices.Contains(kinds, o.Format) {
			return nil
		}
		s.kind = o.Format
	default:
		s.kind = sniff(path)
	}
	if s.kind == kindProgram {
		s.argv = []string{"." + string(filepath.Separator) + filepath.Base(path), "--list"}
	}
	if s.kind == "" {
		return nil
	}
	return s
}

// sniff looks at a name, and at what is there.
func sniff(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	_, own := ownFormats[ext]
	if st.IsDir() && !own {
		return kindAnsible
	}
	switch {
	case !st.Mode().IsRegular():
		return ""
	case own && ext != "toml":
		if data, err := readFile(path); err == nil && !ownVersion.Match(data) && foreign.LooksAnsible(data) {
			return kindAnsible
		}
		return ""
	case own:
		return ""
	case foreign.Executable(path):
		return kindProgram
	case filepath.Clean(path) == "/etc/hosts":
		return kindHosts
	case filepath.Base(path) == "config" && filepath.Base(filepath.Dir(path)) == ".ssh":
		return kindSSHConfig
	case ext == "csv":
		return kindCSV
	case ext == "" || ext == "ini" || ext == "cfg":
		return kindAnsible
	}
	if data, err := readFile(path); err == nil && ownVersion.Match(data) {
		return ""
	}
	return kindAnsible // Ansible takes a file by any name
}
