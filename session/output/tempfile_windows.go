package output

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"syscall"
)

// fileFlagDeleteOnClose is FILE_FLAG_DELETE_ON_CLOSE of CreateFileW, which package syscall does not name.
const fileFlagDeleteOnClose = 0x04000000

// tempFile makes a file that the system removes with its last handle, also when the process dies, and that nobody else
// can open meanwhile.
func tempFile(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	name := filepath.Join(dir, ".fairlead-spool-"+rand.Text())
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.CREATE_NEW,
		syscall.FILE_ATTRIBUTE_NORMAL|fileFlagDeleteOnClose, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
