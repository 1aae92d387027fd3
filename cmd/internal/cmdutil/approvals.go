package cmdutil

import (
	"errors"
	"path/filepath"
	"slices"
)

// ApprovalsDirs returns where the sockets are that approvals are answered at. A process that asks puts its own into the
// first; those who answer look into all, since the program that starts a server for an agent often keeps XDG_RUNTIME_DIR
// and XDG_STATE_HOME from it.
func (f *Factory) ApprovalsDirs() ([]string, error) {
	var dirs []string
	if base := f.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(base) {
		dirs = append(dirs, filepath.Join(base, "fairlead", "approvals"))
	}
	if base := f.Getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		dirs = append(dirs, filepath.Join(base, "fairlead", "approvals"))
	}
	dir, err := f.place("", filepath.Join(".local", "state"), "approvals")
	if err != nil && len(dirs) == 0 {
		return nil, errors.New("none of XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME names a directory: set one of them")
	}
	if err == nil && !slices.Contains(dirs, dir) {
		dirs = append(dirs, dir)
	}
	return dirs, nil
}
