package knownhosts

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	maxFileSize = 64 << 20

	// A file changed this shortly before it was read may change again without its time or size showing it, because
	// file systems count time in steps.
	racyWindow = 2 * time.Second
)

// source is a file as it was when it was read.
type source struct {
	name string
	info fs.FileInfo // nil: it was missing
	racy bool
	sum  [sha256.Size]byte
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func readSource(name string) (source, []byte, error) {
	src := source{name: name}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without, opening a FIFO would block
	if missing(err) {
		return src, nil, nil
	}
	if err != nil {
		return src, nil, reason(err)
	}
	defer f.Close()
	read := time.Now()
	if src.info, err = f.Stat(); err != nil {
		return src, nil, reason(err)
	}
	if mode := src.info.Mode(); !mode.IsRegular() && mode&fs.ModeCharDevice == 0 {
		return src, nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return src, nil, reason(err)
	}
	if len(data) > maxFileSize {
		return src, nil, fmt.Errorf("it is larger than %d MiB", maxFileSize>>20)
	}
	src.racy = read.Sub(src.info.ModTime()) < racyWindow
	src.sum = sha256.Sum256(data)
	return src, data, nil
}

// reason takes the path out of an error that names it already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Stale reports whether any file differs from when it was read, appeared or vanished. It costs one stat per file, and a
// read of files that were read within two seconds of their last change.
func (db *DB) Stale() bool {
	for _, src := range db.files {
		if src.stale() {
			return true
		}
	}
	return false
}

func (src source) stale() bool {
	info, err := os.Stat(src.name)
	if src.info == nil {
		return !missing(err)
	}
	// What cannot be looked at is not the same file.
	if !os.SameFile(info, src.info) || info.Size() != src.info.Size() || !info.ModTime().Equal(src.info.ModTime()) {
		return true
	}
	return src.racy && src.rewritten()
}

// rewritten reports whether a file holds something else than it did, or cannot be read.
func (src source) rewritten() bool {
	now, _, _ := readSource(src.name)
	return now.sum != src.sum
}

// Reload returns db itself when it is not stale, else the files read again.
func (db *DB) Reload() (*DB, error) {
	if !db.Stale() {
		return db, nil
	}
	fresh, err := Open(db.names()...)
	if err != nil {
		return nil, err
	}
	fresh.now = db.now
	return fresh, nil
}
