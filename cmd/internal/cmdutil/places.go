package cmdutil

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/fairlead-ssh/fairlead/cmd/internal/owned"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// DefaultInventory is where the inventory is when nobody says otherwise.
func (f *Factory) DefaultInventory() (string, error) {
	return f.place("XDG_CONFIG_HOME", ".config", "inventory.yaml")
}

// InventoryPath is the absolute path of the inventory that is meant: with -i, else FAIRLEAD_INVENTORY, else the usual one.
func (f *Factory) InventoryPath() (string, error) {
	path := f.InventoryFile
	if path == "" {
		path = f.Getenv("FAIRLEAD_INVENTORY")
	}
	if path == "" {
		return f.DefaultInventory()
	}
	return filepath.Abs(path)
}

// InventoryOptions says how the inventory is read. An agent that names one itself starts no program with it: one that may
// list hosts may not run what it likes that way.
func (f *Factory) InventoryOptions() inventory.Options {
	named := f.InventoryFile != "" || f.Getenv("FAIRLEAD_INVENTORY") != ""
	return inventory.Options{Kept: named && hosts.RoleOf(f.Caller().Principal) == hosts.RoleAgent}
}

// NoPrograms reports whether the configurations of OpenSSH that the inventory names start no program either: see InventoryOptions.
func (f *Factory) NoPrograms() bool { return f.InventoryOptions().Kept }

// AuditDir is where the record is kept.
func (f *Factory) AuditDir() (string, error) {
	return f.place("XDG_STATE_HOME", filepath.Join(".local", "state"), "audit")
}

// Runs is where runs are kept.
func (f *Factory) Runs() (runstore.Store, error) {
	dir, err := f.place("XDG_STATE_HOME", filepath.Join(".local", "state"), "runs")
	return runstore.Store{Dir: dir}, err
}

// StateDir is where all of that is.
func (f *Factory) StateDir() (string, error) {
	return f.place("XDG_STATE_HOME", filepath.Join(".local", "state"), "")
}

// ShownDir is where it is kept which warnings were shown today.
func (f *Factory) ShownDir() (string, error) {
	return f.place("XDG_STATE_HOME", filepath.Join(".local", "state"), "shown")
}

// place is name in our directory under what variable says, else under def in the home directory. A relative path counts
// as unset (XDG Base Directory Specification). A directory that another account could replace is refused.
func (f *Factory) place(variable, def, name string) (string, error) {
	base := f.Getenv(variable)
	if !filepath.IsAbs(base) {
		home := f.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("neither %s nor HOME names a directory: set one of them", variable)
		}
		base = filepath.Join(home, def)
	}
	dir := filepath.Join(base, "fairlead")
	if err := owned.Check(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// Principal is who asks when a person calls the program.
func Principal() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return "operator/" + u.Username
	}
	return "operator/uid-" + strconv.Itoa(os.Getuid())
}
