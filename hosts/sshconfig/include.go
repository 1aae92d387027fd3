package sshconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// include reads the files an Include line names. OpenSSH reads them even where the line stands in a block that does not
// apply, so that what is broken in them always shows.
func (r *reader) include(l *line, system bool) []*file {
	var out []*file
	if len(l.args) == 0 {
		r.problems.add(errorAt(l.pos, "Include names no file"))
	}
	for _, arg := range l.args {
		paths, err := r.includePaths(arg, system, l)
		if err != nil {
			r.problems.add(err)
			continue
		}
		for _, path := range paths {
			if from := slices.Index(r.stack, path); from >= 0 {
				r.problems.add(errorAt(l.pos, "the file includes itself: %s → %s", strings.Join(r.stack[from:], " → "), path))
				continue
			}
			if len(r.stack) > maxDepth {
				r.problems.add(errorAt(l.pos, "files are included more than %d levels deep", maxDepth))
				continue
			}
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				continue // a glob caught a directory; ssh reads nothing from it either
			}
			f, err := r.read(path, system, true)
			switch {
			case errors.Is(err, fs.ErrNotExist): // gone between glob and open, or a dangling link
			case err != nil:
				r.problems.add(&Error{Pos: l.pos, Msg: "Include", Err: err})
			default:
				out = append(out, f)
			}
		}
	}
	return out
}

func (r *reader) includePaths(arg string, system bool, l *line) ([]string, error) {
	if arg == "" {
		return nil, errorAt(l.pos, "Include has an empty file name")
	}
	if system && arg[0] == '~' {
		return nil, errorAt(l.pos, "Include %s: a system file cannot include from a home directory", arg)
	}
	// Newer versions of OpenSSH expand these, older ones take them as they are. Tokens about the target would make
	// the set of files depend on the host, so only those about this side are known here.
	path, err := expand(arg, r.local.tokens(), func(name string) (string, bool) {
		if !slices.Contains(r.included, name) {
			r.included = append(r.included, name)
		}
		return r.local.LookupEnv(name)
	})
	if err != nil {
		return nil, &Error{Pos: l.pos, Msg: "Include " + arg, Err: err}
	}
	switch {
	case path == "":
		return nil, errorAt(l.pos, "Include %s: it is expanded to an empty file name", arg)
	case path[0] == '~':
		if path, err = r.local.tilde(path); err != nil {
			return nil, &Error{Pos: l.pos, Msg: "Include " + arg, Err: err}
		}
	case filepath.IsAbs(path):
	case system:
		path = filepath.Join(r.local.SystemDir, path)
	default:
		path = filepath.Join(r.local.Home, ".ssh", path)
	}
	found, err := glob(path)
	if err != nil {
		return nil, &Error{Pos: l.pos, Msg: "Include " + arg, Err: err}
	}
	return found, nil
}

// glob is filepath.Glob with the shell's two differences: "[!a]" negates, and a wildcard does not match a leading dot.
func glob(path string) ([]string, error) {
	path = filepath.Clean(path)
	found, err := filepath.Glob(strings.ReplaceAll(path, "[!", "[^"))
	if err != nil {
		return nil, errors.New("malformed pattern")
	}
	want := strings.Split(path, "/")
	return slices.DeleteFunc(found, func(name string) bool {
		for i, part := range strings.Split(name, "/") {
			if strings.HasPrefix(part, ".") && i < len(want) && want[i] != "" && strings.ContainsAny(want[i][:1], "*?[") {
				return true
			}
		}
		return false
	}), nil
}
