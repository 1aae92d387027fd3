// Package storeplace says where the store is.
package storeplace

import (
	"path/filepath"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Of is where the settings say that sandboxes and commands are kept, else in the state directory. What seals them is
// there too, unless the settings say otherwise.
func Of(f *cmdutil.Factory) (store.Config, error) {
	c, err := f.Config()
	if err != nil {
		return store.Config{}, err
	}
	dir, err := f.AuditDir()
	if err != nil {
		return store.Config{}, err
	}
	state := filepath.Dir(dir)
	if c.Store.URL == "" {
		return store.Config{Path: filepath.Join(state, "store.db"), KeyFile: c.Store.KeyFile}, nil
	}
	out := store.Config{URL: c.Store.URL, KeyFile: c.Store.KeyFile}
	if out.KeyFile == "" && strings.Contains(out.URL, "://") {
		out.KeyFile = filepath.Join(state, "store.key")
	}
	return out, nil
}
