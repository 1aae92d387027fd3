package knownhosts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Remove takes a name out of file, which need not exist: plain keys that are recorded for name, hashed or not, are known for it
// no more. It returns how many lines changed. name is what [Name] returns, or an alias. Other names on the same line stay, and so
// do lines of authorities and revoked keys. A line whose pattern covers the name ("*.example.com") stays too, and is an error
// that names it, after the rest is done.
//
// It holds the lock that Append takes, and replaces the file in one step.
func Remove(file, name string) (removed int, err error) {
	name = lower(name)
	if err := checkName(name); err != nil {
		return 0, err
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	f, err := openLocked(file)
	if err != nil {
		return 0, fmt.Errorf("knownhosts: %s cannot be written: %w", file, reason(err))
	}
	defer f.Close() // drops the lock
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return 0, fmt.Errorf("knownhosts: %s cannot be read: %w", file, reason(err))
	}
	if len(data) > maxFileSize {
		return 0, fmt.Errorf("knownhosts: %s is larger than %d MiB", file, maxFileSize>>20)
	}
	var out bytes.Buffer
	var covered error
	n := 0
	for line := range bytes.Lines(data) {
		n++
		kept, changed, pattern := without(string(line), name)
		out.WriteString(kept)
		if changed {
			removed++
		}
		if pattern && covered == nil {
			covered = fmt.Errorf("knownhosts: %s:%d has a key for a pattern that covers %s: edit the line yourself", file, n, name)
		}
	}
	if removed == 0 {
		return 0, covered
	}
	if err := replace(f, file, out.Bytes()); err != nil {
		return 0, fmt.Errorf("knownhosts: %s cannot be written: %w", file, reason(err))
	}
	return removed, covered
}

// without returns a line without a name: "" where nothing is left of it. pattern says that the line still covers the name.
func without(line, name string) (kept string, changed, pattern bool) {
	body := strings.TrimLeft(line, " \t")
	if body == "" || body[0] == '#' || body[0] == '@' || body[0] == '\r' || body[0] == '\n' {
		return line, false, false
	}
	i := strings.IndexAny(body, " \t")
	if i < 0 {
		return line, false, false
	}
	n, err := parseNames(body[:i])
	if err != nil || !n.match(name) {
		return line, false, false
	}
	if n.hash != nil {
		return "", true, false
	}
	var left []string
	useful := false
	for _, p := range strings.Split(body[:i], ",") {
		if lower(p) == name {
			changed = true
			continue
		}
		left = append(left, p)
		useful = useful || !strings.HasPrefix(p, "!")
	}
	switch {
	case !changed:
		return line, false, true
	case !useful:
		return "", true, false
	}
	rest, err := parseNames(strings.Join(left, ","))
	return strings.Join(left, ",") + body[i:], true, err == nil && rest.match(name)
}

// replace puts data in the place of an open file, with its mode.
func replace(f *os.File, file string, data []byte) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".known_hosts-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it has its place
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(st.Mode().Perm()), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
