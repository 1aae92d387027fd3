package cmdutil

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/fairlead-ssh/fairlead/session/approval"
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
		return nil, errors.New("set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME to a directory")
	}
	if err == nil && !slices.Contains(dirs, dir) {
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// ApproversFile is where those are enrolled whose signatures count (fairlead approvals enroll).
func (f *Factory) ApproversFile() (string, error) {
	return f.place("XDG_CONFIG_HOME", ".config", "approvers")
}

// Approvers returns who is enrolled. Where there is no home nobody is.
func (f *Factory) Approvers() ([]approval.Approver, error) {
	file, err := f.ApproversFile()
	if err != nil {
		return nil, nil
	}
	return approval.ReadApprovers(file)
}
