//go:build !unix

package store

import (
	"fmt"
	"os"
)

// private reports what is wrong with the kind of a file or directory. Who may open it is not seen in a mode on this system: the
// directory above it decides, as Go's os.FileMode has no access control lists.
func private(path string, dir bool) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case dir && !st.IsDir():
		return fmt.Errorf("store: %s is not a directory", path)
	case !dir && !st.Mode().IsRegular():
		return fmt.Errorf("store: %s is not a regular file", path)
	}
	return nil
}
