package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// files reads the files of one source, within bounds, and remembers which.
type files struct {
	seen  []File
	total int
}

// read returns what a regular file holds. It never waits: a pipe is refused.
func (f *files) read(path string) ([]byte, error) {
	if err := f.note(path); err != nil {
		return nil, err
	}
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, wrong(hosts.Pos{File: path}, "the file does not exist")
		}
		return nil, &hosts.ParseError{Pos: hosts.Pos{File: path}, Msg: "cannot open the file", Err: errors.Unwrap(err)}
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, wrong(hosts.Pos{File: path}, "is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, &hosts.ParseError{Pos: hosts.Pos{File: path}, Msg: "cannot read the file", Err: errors.Unwrap(err)}
	}
	if f.total += len(data); len(data) > maxFile {
		return nil, wrong(hosts.Pos{File: path}, "the file has more than %d MiB", maxFile>>20)
	}
	if f.total > maxTotal {
		return nil, wrong(hosts.Pos{File: path}, "the files of this source have more than %d MiB together", maxTotal>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return data, checkText(path, data)
}

// note remembers that the source depends on a file or directory.
func (f *files) note(path string) error {
	if len(f.seen) >= maxFiles {
		return wrong(hosts.Pos{File: path}, "the source has more than %d files", maxFiles)
	}
	f.seen = append(f.seen, File{path, Stamp(path)})
	return nil
}

// all returns what was noted.
func (f *files) all() []File { return f.seen }

// Stamp is a text that changes when what is at a path does: a file by its size, its time and its number, a directory by its
// time.
func Stamp(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(st.Size(), st.ModTime().UnixNano(), st.Mode(), number(st))
}

// isDir reports whether path is a directory, or a link to one.
func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// checkText refuses what is not text.
func checkText(file string, data []byte) error {
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return wrong(hosts.Pos{File: file, Line: line}, "the file is not UTF-8")
		case r == '\n':
			line++
		case r == '\t', r == '\r', r == '\f':
		case unicode.IsControl(r):
			return wrong(hosts.Pos{File: file, Line: line}, "the file holds the control character %U", r)
		}
		i += n
	}
	return nil
}

// Expand makes a path that a source names whole: from the home directory where it begins with ~/, else from dir.
func Expand(path, dir string) (string, error) {
	if len(path) > 1 && path[:2] == "~/" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no home directory: %w", err)
		}
		return filepath.Join(home, path[2:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(dir, path), nil
}
