package setup

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// configFile is the file that is edited. It may be part of a checkout that somebody else wrote, so nothing is read or
// written through a link that leads out of the directory that the link is in.
type configFile struct {
	path string // as the user knows it
	name string // in root
	root *os.Root
	text []byte
	mode fs.FileMode
	old  fs.FileInfo // nil where there is none yet
}

// openConfig reads the file at path, which need not exist. Below base, links are checked.
func openConfig(path, base string) (*configFile, error) {
	dir := filepath.Dir(path)
	if err := checkLinks(dir, base); err != nil {
		return nil, err
	}
	f := &configFile{path: path, name: filepath.Base(path), mode: 0o600} // other entries may hold tokens
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if f.root, err = os.OpenRoot(real); err != nil {
		return nil, err
	}
	if err := f.read(real); err != nil {
		f.root.Close()
		return nil, err
	}
	return f, nil
}

func (f *configFile) read(dir string) error {
	st, err := f.root.Lstat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		target, err := filepath.EvalSymlinks(filepath.Join(dir, f.name))
		if err != nil || !inside(target, dir) {
			return leadsOut(f.path)
		}
		if f.name, err = filepath.Rel(dir, target); err != nil {
			return err
		}
		st, err = f.root.Lstat(f.name)
		if err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return cmdutil.Usagef("%s is not a regular file; name another one with --file", f.path)
	}
	if f.text, err = f.content(); err != nil {
		return err
	}
	f.old, f.mode = st, st.Mode().Perm()
	return nil
}

func (f *configFile) content() ([]byte, error) {
	in, err := f.root.OpenFile(f.name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a FIFO
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("%s has more than %d MiB", f.path, maxConfig>>20)
	}
	return text, err
}

func (f *configFile) close() {
	if f.root != nil {
		f.root.Close()
	}
}

// backupExt begins what is added to the name of the old file.
const backupExt = ".fairlead-backup"

// replace writes text in the place of the file. It returns the path that the old content is kept
// under, "" where there was none.
func (f *configFile) replace(text string) (backup string, err error) {
	if f.root == nil {
		dir := filepath.Dir(f.path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		if f.root, err = os.OpenRoot(dir); err != nil {
			return "", err
		}
	}
	if f.old == nil {
		return "", f.create(f.name, []byte(text))
	}
	if backup, err = f.backUp(); err != nil {
		return "", err
	}
	backup = filepath.Join(f.root.Name(), backup)
	temp := filepath.Join(filepath.Dir(f.name), ".fairlead-"+rand.Text())
	if err := f.create(temp, []byte(text)); err != nil {
		return backup, err
	}
	if err := f.adopt(temp); err != nil {
		return backup, errors.Join(err, f.root.Remove(temp))
	}
	return backup, nil
}

// adopt gives temp the name, mode and owner of the file.
func (f *configFile) adopt(temp string) error {
	if err := f.root.Chmod(temp, f.mode); err != nil {
		return err
	}
	if st, ok := f.old.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		if err := f.root.Lchown(temp, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	now, err := f.content()
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.text) {
		return fmt.Errorf("%s was changed meanwhile by something else, and was left alone; run the command again", f.path)
	}
	return f.root.Rename(temp, f.name)
}

// maxBackups bounds the names that are tried.
const maxBackups = 1000

// backUp keeps the old content in a new file beside it: a name that is taken may be a link.
func (f *configFile) backUp() (name string, err error) {
	for n := range maxBackups {
		name = f.name + backupExt
		if n > 0 {
			name = fmt.Sprintf("%s.%d", name, n)
		}
		if err = f.create(name, f.text); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s%s to %s.%d exist: remove those that you do not need", f.path, backupExt, backupExt, maxBackups-1)
}

// create makes a new file for this account only.
func (f *configFile) create(name string, text []byte) error {
	out, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, f.root.Remove(name))
	}
	return nil
}

// checkLinks refuses a path that has, below base, a link that leads out of the directory that the link is in.
func checkLinks(path, base string) error {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return err
	}
	at := base
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		parent := at
		at = filepath.Join(at, part)
		st, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := filepath.EvalSymlinks(at)
		if err != nil {
			return leadsOut(at)
		}
		if parent, err = filepath.EvalSymlinks(parent); err != nil {
			return err
		}
		if !inside(target, parent) {
			return leadsOut(at)
		}
	}
	return nil
}

func leadsOut(link string) error {
	return cmdutil.Usagef("%s is a link that leads out of its directory, and Fairlead does not write through it. If you trust it, name the file that it leads to with --file", link)
}

// inside reports whether path is below dir. Both are real paths.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// trusted is the directory whose own path is the user's: the deepest of these that holds path, or the root.
func trusted(path string, dirs ...string) string {
	base := filepath.VolumeName(path) + string(filepath.Separator)
	for _, d := range dirs {
		if filepath.IsAbs(d) && len(d) > len(base) && inside(path, filepath.Clean(d)) {
			base = filepath.Clean(d)
		}
	}
	return base
}
