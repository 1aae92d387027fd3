package files

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// maxLinks is how many symbolic links are followed.
const maxLinks = 40

// resolve follows the links at the end of a path one by one, and lets the host resolve the directory that holds the rest.
func (f *Host) resolve(ctx context.Context, name string) (Info, error) {
	none := Info{Path: name, uid: -1, gid: -1}
	switch {
	case !strings.HasPrefix(name, "/"):
		return none, fault(CodeInvalid, "the path is not absolute")
	case strings.ContainsRune(name, 0):
		return none, fault(CodeInvalid, "the path holds a NUL byte")
	}
	cur := name
	for range maxLinks {
		dir, base := split(cur)
		if base == "" || base == "." || base == ".." { // no name of a file: ".." counts after links
			real, err := f.realdir(ctx, cur)
			if err != nil {
				return none, err
			}
			none.Target, none.Kind = real, Directory
			return none, nil
		}
		i, err := f.way.lstat(ctx, cur)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return none, err
		}
		if err == nil && i.Kind == link {
			var to string
			err := f.way.do(ctx, func(fs hostfs.FS) (err error) {
				to, err = fs.Readlink(ctx, cur)
				return err
			})
			if err != nil {
				return none, err
			}
			if to == "" || len(to) > maxPath {
				return none, errPath
			}
			if cur = to; !strings.HasPrefix(to, "/") {
				cur = strings.TrimSuffix(dir, "/") + "/" + to
			}
			continue
		}
		real, derr := f.realdir(ctx, dir)
		if errors.Is(derr, fs.ErrNotExist) {
			return none, fault(CodeNotFound, "there is no directory %q", dir)
		}
		if derr != nil {
			return none, derr
		}
		if err != nil {
			i = none
		}
		i.Path, i.Target = name, path.Join(real, base)
		return i, nil
	}
	return none, fault(CodeInvalid, "its symbolic links lead nowhere: there are more than %d", maxLinks)
}

// maxPath is how long a path may be that a host gives, in bytes.
const maxPath = 4096

var errPath = fault(CodeError, "the host reports an invalid path: it must be absolute and have at most %d bytes", maxPath)

// realdir is the host's answer, if it is a path.
func (f *Host) realdir(ctx context.Context, dir string) (string, error) {
	var real string
	err := f.way.do(ctx, func(fs hostfs.FS) (err error) {
		real, err = fs.RealDir(ctx, dir)
		return err
	})
	if err == nil && (!strings.HasPrefix(real, "/") || len(real) > maxPath || strings.ContainsRune(real, 0)) {
		return "", errPath
	}
	return real, err
}

// split parts a path at its last slash.
func split(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	if i == 0 {
		return "/", name[1:]
	}
	return name[:i], name[i+1:]
}
