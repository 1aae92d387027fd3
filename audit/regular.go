package audit

import (
	"io"
	"os"
)

// notRegular is what is wrong with a pipe, a device or a directory that has the name of a file of the chain. Reading it could wait
// for ever, and never end.
const notRegular = damage("it is not a regular file")

// openRegular opens a file as os.OpenFile does, and refuses what is none.
func openRegular(path string, flags int, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flags|nonBlock, perm)
	if err != nil {
		if fi, e := os.Stat(path); e == nil && !fi.Mode().IsRegular() {
			return nil, notRegular
		}
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = notRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// openToRead opens a file for reading.
func openToRead(path string) (*os.File, error) { return openRegular(path, os.O_RDONLY, 0) }

// readRegular reads a whole file.
func readRegular(path string) ([]byte, error) {
	f, err := openToRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
