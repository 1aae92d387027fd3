// Package golden compares what code says now with a file of what it said when somebody last looked at it: a row in a line, a key, a
// tab and what is said. "go test PKG -update" writes the file anew; what it changes shows in the diff.
//
// A file belongs to one test, and is not for what promises: what must hold is said by tests of its own. It shows that nothing else
// has changed.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

// most is how many rows that differ a test names.
const most = 12

// File is an open file of rows. It is for one goroutine.
type File struct {
	t       testing.TB
	name    string
	write   bool
	strict  bool
	hurry   bool
	rows    map[string]row
	order   []string // as checked
	checked map[string]string
	wrong   int
}

type row struct {
	line int
	said string
}

// Open reads a file, which need not exist yet to be written. When the test ends, rows that it did not check are an error with CI=true:
// what they say is said of nothing any more. The file is written then, where that was asked for.
func Open(t testing.TB, name string) *File {
	t.Helper()
	return open(t, name, *update, os.Getenv("CI") == "true")
}

func open(t testing.TB, name string, write, strict bool) *File {
	t.Helper()
	f := &File{t: t, name: name, write: write, strict: strict, hurry: racing, rows: map[string]row{}, checked: map[string]string{}}
	text, err := os.ReadFile(name)
	if err != nil && !write {
		t.Fatalf("%v: go test -update writes it", err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		key, said, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if _, twice := f.rows[key]; (!ok || twice) && !write {
			t.Fatalf("%s:%d: a row is a key that no other has, a tab, and what is said", name, n)
		}
		f.rows[key] = row{n, said}
	}
	t.Cleanup(f.end)
	return f
}

// Check compares what is said of a key, which is checked once, or more often with the same outcome.
func (f *File) Check(key, said string) {
	f.t.Helper()
	key, said = escape(key), escape(said)
	if before, ok := f.checked[key]; ok {
		if before != said {
			f.fail("%s: two things are said of %s:\n%s\n%s", f.name, key, before, said)
		}
		return
	}
	f.checked[key] = said
	f.order = append(f.order, key)
	if f.write {
		return
	}
	switch want, ok := f.rows[key]; {
	case !ok:
		f.fail("%s has no row for %s: go test -update writes it", f.name, key)
	case want.said != said:
		f.fail("%s:%d: %s\nwas  %s\nis   %s", f.name, want.line, key, want.said, said)
	}
}

// Due says whether to check a key now: under the race detector, which multiplies time and finds nothing more in the same code, one of
// sixteen. The others count as checked.
func (f *File) Due(key string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	if f.write || !f.hurry || h.Sum32()>>8&15 == 0 {
		return true
	}
	key = escape(key)
	f.checked[key] = f.rows[key].said
	return false
}

func (f *File) fail(format string, args ...any) {
	f.t.Helper()
	if f.wrong++; f.wrong <= most {
		f.t.Errorf(format, args...)
	}
}

// end writes the file, or says what was not checked.
func (f *File) end() {
	f.t.Helper()
	if f.write {
		if !f.t.Failed() {
			f.save()
		}
		return
	}
	if f.wrong > most {
		f.t.Errorf("%s: %d rows differ: if that is meant, write it with go test -update and read the diff", f.name, f.wrong)
	}
	if f.t.Failed() || f.t.Skipped() {
		return // it may not have come to the others
	}
	var left []string
	for key := range f.rows {
		if _, ok := f.checked[key]; !ok {
			left = append(left, key)
		}
	}
	switch {
	case len(left) == 0:
	case f.strict:
		f.t.Errorf("%s: no test checks %d of its rows, such as %s: go test -update drops them", f.name, len(left), left[0])
	default:
		f.t.Logf("%s: no test checks %d of its rows", f.name, len(left))
	}
}

func (f *File) save() {
	var b bytes.Buffer
	for _, key := range f.order {
		fmt.Fprintf(&b, "%s\t%s\n", key, f.checked[key])
	}
	if err := os.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.name, b.Bytes(), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// escape makes a text one field of one line, as in a Go string.
func escape(s string) string {
	s = strconv.Quote(s)
	return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
}

// Updating says that files are written anew.
func Updating() bool { return *update }

// Keys are the keys of the file, in its order: what is checked where a file says by itself what it is about.
func (f *File) Keys() []string {
	keys := make([]string, len(f.rows))
	for key, r := range f.rows {
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(key, `"`, `\"`) + `"`)
		if err != nil {
			f.t.Fatalf("%s:%d: %v", f.name, r.line, err)
		}
		keys[r.line-1] = s
	}
	return keys
}
