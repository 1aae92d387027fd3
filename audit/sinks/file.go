package sinks

import (
	"context"
	"errors"
	"io"
	"os"

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
	return plain(errors.Join(add(f, append(a.Line(), '\n')), f.Close()))
}

// add puts a line at the end of f and returns after fsync.
func add(f *os.File, line []byte) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size > 0 {
		var last [1]byte
		_, _ = f.ReadAt(last[:], size-1) // what cannot be read counts as torn
		if last[0] != '\n' {             // somebody died while writing it
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if size == 0 {
		return syncName(f.Name())
	}
	return nil
}

// plain takes the name of the file out of an error: it stands in the place's name.
func plain(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}
