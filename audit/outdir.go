package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// OutputDir is an OutputStore in a directory: one file an output (0600), named by its hash, in directories (0700) named
// by its first two digits. Any number of processes may share it.
type OutputDir struct {
	dir string
	now func() time.Time
}

const (
	outputLock = "lock"
	// outputTemp begins the names of files that are being written. Purge removes those that somebody left.
	outputTemp = ".tmp-"
	// tempAge is when such a file counts as left.
	tempAge = time.Hour
)

// NewOutputDir returns the store in dir, which is made with the first Put. now is the clock; nil means time.Now.
func NewOutputDir(dir string, now func() time.Time) *OutputDir {
	if now == nil {
		now = time.Now
	}
	return &OutputDir{dir: dir, now: now}
}

// Put keeps data. It is on disk when Put returns.
func (d *OutputDir) Put(_ context.Context, data []byte) (string, error) {
	if err := makeDir(d.dir); err != nil {
		return "", err
	}
	unlock, err := d.lock(false)
	if err != nil {
		return "", err
	}
	defer unlock()
	raw := sha256.Sum256(data)
	sum := hex.EncodeToString(raw[:])
	path := d.path(sum)
	now := d.now()
	if os.Chtimes(path, now, now) == nil {
		return sum, nil
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", unavailable("create", filepath.Dir(path), err, doAccess)
	}
	if err := d.write(path, data, now); err != nil {
		return "", unavailable("write", path, err, doSpace)
	}
	return sum, nil
}

func (d *OutputDir) write(path string, data []byte, now time.Time) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), outputTemp) // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(f.Name(), now, now); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Get returns an output. What does not have its hash any more is an error.
func (d *OutputDir) Get(_ context.Context, sum string) ([]byte, error) {
	if !digits(sum, hexLen) {
		return nil, fmt.Errorf("%w: %q is not a hash", ErrNoOutput, sum)
	}
	data, err := readRegular(d.path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoOutput, sum)
	} else if err != nil {
		return nil, unavailable("read", d.path(sum), err, doAccess)
	}
	if raw := sha256.Sum256(data); hex.EncodeToString(raw[:]) != sum {
		return nil, fmt.Errorf("audit: %s was changed: its bytes do not have the hash that it is named by", d.path(sum))
	}
	return data, nil
}

func (d *OutputDir) path(sum string) string { return filepath.Join(d.dir, sum[:2], sum[2:]) }

// lock keeps Put and Purge apart. Where there is no directory there is nothing to lock.
func (d *OutputDir) lock(exclusive bool) (unlocked func(), err error) {
	f, err := openRegular(filepath.Join(d.dir, outputLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, unavailable("open", filepath.Join(d.dir, outputLock), err, doAccess)
	}
	if err := waitLock(f, exclusive, DefaultLockWait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { unlock(f); _ = f.Close() }, nil
}

// Purge removes what was last Put before a time.
func (d *OutputDir) Purge(ctx context.Context, before time.Time, record func(Purged) error) (Purged, error) {
	if _, err := os.Stat(d.dir); errors.Is(err, fs.ErrNotExist) {
		return Purged{}, nil
	}
	unlock, err := d.lock(true)
	if err != nil {
		return Purged{}, err
	}
	defer unlock()
	p := Purged{Before: before}
	var old []string
	err = d.each(func(path string, fi fs.FileInfo) {
		name := filepath.Base(path)
		switch {
		case strings.HasPrefix(name, outputTemp):
			if d.now().Sub(fi.ModTime()) > tempAge {
				_ = os.Remove(path)
			}
		case digits(filepath.Base(filepath.Dir(path))+name, hexLen) && fi.ModTime().Before(before):
			old = append(old, path)
			p.Outputs++
			p.Bytes += fi.Size()
		}
	})
	if err != nil || len(old) == 0 {
		return Purged{}, err
	}
	if err := record(p); err != nil {
		return Purged{}, err
	}
	for _, path := range old {
		if err := ctx.Err(); err != nil {
			return Purged{}, context.Cause(ctx)
		}
		if err := os.Remove(path); err != nil {
			return Purged{}, unavailable("remove", path, err, doAccess)
		}
	}
	return p, nil
}

// each calls f for every file two levels down.
func (d *OutputDir) each(f func(path string, fi fs.FileInfo)) error {
	dirs, err := os.ReadDir(d.dir)
	if err != nil {
		return unavailable("read", d.dir, err, doAccess)
	}
	for _, sub := range dirs {
		if !sub.IsDir() {
			continue
		}
		dir := filepath.Join(d.dir, sub.Name())
		files, err := os.ReadDir(dir)
		if err != nil {
			return unavailable("read", dir, err, doAccess)
		}
		for _, e := range files {
			if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() {
				f(filepath.Join(dir, e.Name()), fi)
			}
		}
	}
	return nil
}
