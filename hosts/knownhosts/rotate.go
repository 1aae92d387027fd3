package knownhosts

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Rotation is what known_hosts files would have to change so that they hold exactly the keys that a host says are its own.
type Rotation struct {
	New []ssh.PublicKey // that are not recorded for the name; the host must prove that it owns them
	Old []Known         // that are recorded for it, and are not the host's any more
	Not string          // why the files are to stay as they are; "" means that they may change
}

// PlanRotation compares files with keys, all that a host says are its own. name is what [Name] returns, or an alias. Like OpenSSH it
// changes nothing where a line about the name has a marker, a wildcard or more than two names, and where one of the keys is
// recorded for another name, too. others are files that are read and never changed.
func PlanRotation(files, others []string, name string, keys []ssh.PublicKey) (Rotation, error) {
	name = lower(name)
	var r Rotation
	db, err := Open(append(files[:len(files):len(files)], others...)...)
	if err != nil {
		return r, err
	}
	ours := map[string]bool{}
	for _, key := range keys {
		ours[string(key.Marshal())] = true
	}
	not := func(e *entry, why string) {
		if r.Not == "" {
			r.Not = fmt.Sprintf("%s:%d %s", e.File, e.Line, why)
		}
	}
	changeable := map[string]bool{}
	for _, file := range files {
		changeable[file] = true
	}
	known, old := map[string]bool{}, map[string]bool{}
	for i := range db.entries {
		e := &db.entries[i]
		if !e.names.match(name) {
			continue
		}
		switch {
		case e.marker != plain:
			not(e, "has a marker")
		case e.names.complex():
			not(e, "is about other hosts, too")
		case ours[e.wire]:
			known[e.wire] = true
		case changeable[e.File]:
			r.Old, old[e.wire] = append(r.Old, e.Known), true
		}
	}
	for i := range db.entries {
		if e := &db.entries[i]; (ours[e.wire] || old[e.wire]) && !e.names.match(name) {
			not(e, "has a key of the host for another name")
		}
	}
	for _, key := range keys {
		if wire := string(key.Marshal()); !known[wire] {
			known[wire] = true
			r.New = append(r.New, key)
		}
	}
	return r, nil
}

// complex reports whether a line is about more than one host, its address aside.
func (n names) complex() bool {
	if len(n.patterns) > 2 {
		return true
	}
	for _, p := range n.patterns {
		if strings.ContainsAny(p, "*?!") {
			return true
		}
	}
	return false
}

// Rotate makes files hold exactly keys for a name, all in the first file: the others lose those that they have for it. It holds
// the lock that [Append] takes, and replaces each file in one step; one that need not change is not touched.
func Rotate(files []string, name string, keys []ssh.PublicKey, o AppendOptions) error {
	name = lower(name)
	if err := checkName(name); err != nil {
		return err
	}
	for i, file := range files {
		if _, err := os.Stat(file); i > 0 && missing(err) {
			continue
		}
		if err := rotate(file, name, keys, o); err != nil {
			return fmt.Errorf("knownhosts: %s cannot be changed: %w", file, reason(err))
		}
		keys = nil // for the other files
	}
	return nil
}

func rotate(file, name string, keys []ssh.PublicKey, o AppendOptions) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	f, err := openLocked(file)
	if err != nil {
		return err
	}
	defer f.Close() // drops the lock
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return err
	}
	if len(data) > maxFileSize {
		return fmt.Errorf("it is larger than %d MiB", maxFileSize>>20)
	}
	var out bytes.Buffer
	changed := false
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		e, _, ok := parseLine(strings.TrimRight(string(line), "\r\n"))
		if ok && e.marker == plain && e.names.match(name) && !e.names.complex() {
			seen[e.wire] = true
			if !has(keys, e.wire) {
				changed = true
				continue
			}
		}
		out.Write(line)
	}
	for _, key := range keys {
		if seen[string(key.Marshal())] {
			continue
		}
		if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
			out.WriteByte('\n')
		}
		written := name
		if o.Hash {
			written = hashName(name)
		}
		fmt.Fprintf(&out, "%s %s %s\n", written, key.Type(), base64.StdEncoding.EncodeToString(key.Marshal()))
		changed = true
	}
	if !changed {
		return nil
	}
	return replace(f, file, out.Bytes())
}

func has(keys []ssh.PublicKey, wire string) bool {
	for _, key := range keys {
		if string(key.Marshal()) == wire {
			return true
		}
	}
	return false
}
