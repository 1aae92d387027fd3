//go:build !windows

package output

import "os"

// tempFile makes a file without a name: the name is gone before the first byte is written, so that a crash leaves
// nothing behind and nobody else can open it.
func tempFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".fairlead-spool-*") // 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
