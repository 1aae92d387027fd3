package sinks

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/fairlead-ssh/fairlead/audit"
)

// file appends heads to a file. It opens it for every head, so that a file system that was away, or a file that somebody
// rotated, is found again.
type file struct{ path string }

// Anchor returns after fsync. ctx cannot end a write that the file system holds up.
func (p *file) Anchor(ctx context.Context, a audit.Anchor) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	f, err := os.OpenFile(p.path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return plain(err)
	}
	line := append(a.Line(), '\n')
	fi, err := f.Stat()
	fresh := err == nil && fi.Size() == 0
	torn, err := tornEnd(f)
	if torn {
		line = append([]byte{'\n'}, line...)
	}
	if err == nil {
		_, err = f.Write(line)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && fresh {
		err = syncName(p.path)
	}
	return plain(errors.Join(err, f.Close()))
}

// syncName puts the name of a new file on the disk too, where a directory can be opened and synced.
func syncName(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer d.Close()
	if err := d.Sync(); runtime.GOOS != "windows" && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// tornEnd reports whether the last line of f lacks its newline: somebody died while writing it.
func tornEnd(f *os.File) (bool, error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return false, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], end-1)
	return last[0] != '\n', err
}

// plain takes the name of the file out of an error: it stands in the place's name.
func plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}
