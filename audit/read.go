package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// All yields every event in dir, oldest first. A line that is no record is yielded as an error that names file and line,
// and reading goes on; an unfinished last line is not yielded. Readers take no lock and check no MAC: Verify does.
func All(dir string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := &reader{dir: dir, file: firstFile(dir)}
		defer r.close()
		r.drain(yield)
	}
}

// Records is All with the line that each event stands in, newline included, which is good until the next one. It is
// what to export: decoded and encoded again, a record of a newer version would lose what this one does not know.
func Records(dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r := &reader{dir: dir, file: firstFile(dir)}
		defer r.close()
		r.drain(func(e Event, err error) bool {
			if err != nil {
				return yield(Record{}, err)
			}
			return yield(Record{Event: e, Line: r.raw}, nil)
		})
	}
}

// Record is an event and the line that it stands in.
type Record struct {
	Event Event
	Line  []byte
}

// reader is a place in a chain that moves forward as records appear.
type reader struct {
	dir  string
	file int
	off  int64  // where the next line begins
	num  int    // its number, from 1; 0 where it is not known
	raw  []byte // the line that is being yielded
	f    *os.File
}

// firstFile is the number of the oldest file in dir; 1 where that cannot be told.
func firstFile(dir string) int {
	files, err := dataFiles(dir)
	if err != nil || len(files) == 0 {
		return 1
	}
	return files[0]
}

func (r *reader) close() {
	if r.f != nil {
		_ = r.f.Close()
		r.f = nil
	}
}

// drain yields what is there now. It reports whether the consumer wants more.
func (r *reader) drain(yield func(Event, error) bool) bool {
	for {
		if r.f == nil {
			path := filepath.Join(r.dir, dataName(r.file))
			f, err := os.Open(path)
			if errors.Is(err, fs.ErrNotExist) && r.file > 1 {
				if n := firstFile(r.dir); n > r.file {
					r.file, r.off = n, 0 // it was purged meanwhile
					continue
				}
				return true // the writer has not got there yet
			}
			if err != nil {
				return yield(Event{}, unavailable("read", path, err, doAccess))
			}
			r.f = f
			if r.off == 0 {
				r.num = 1
			}
		}
		if !r.lines(yield) {
			return false
		}
		if _, err := os.Stat(filepath.Join(r.dir, dataName(r.file+1))); err != nil {
			return true
		}
		// The next file is made after the last record of this one, but maybe since we looked.
		if !r.lines(yield) {
			return false
		}
		r.close()
		r.file, r.off, r.num = r.file+1, 0, 1
	}
}

// lines yields the whole lines from r.off on.
func (r *reader) lines(yield func(Event, error) bool) bool {
	in := newLines(io.NewSectionReader(r.f, r.off, 1<<62), r.off)
	for {
		raw, off, _, err := in.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return yield(Event{}, unavailable("read", r.f.Name(), err, doDisk))
		}
		if raw[len(raw)-1] != '\n' && len(raw) < maxLine {
			return true // being written, or torn
		}
		r.off, r.raw = off+int64(len(raw)), raw
		e, err := decode(raw)
		if err != nil {
			err = fmt.Errorf("audit: %s is not a record; run `fairlead audit verify`", r.place(off))
			e = Event{}
		}
		if r.num > 0 {
			r.num++
		}
		if !yield(e, err) {
			return false
		}
	}
}

func (r *reader) place(off int64) string {
	if r.num == 0 {
		return fmt.Sprintf("%s: the line at byte %d", r.f.Name(), off)
	}
	return fmt.Sprintf("%s:%d", r.f.Name(), r.num)
}
