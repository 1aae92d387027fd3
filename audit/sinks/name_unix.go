//go:build unix

package sinks

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// syncName puts the name of a new file on the disk too, where a directory can be opened and synced.
func syncName(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer d.Close()
	if err := d.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
