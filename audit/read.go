package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// All yields every event in dir, oldest first. Only lines that a writer with the chain's key made and that stand in
// their order are yielded: what was appended or edited by others is not, nor what is torn. Where such lines stand, an
// error names file and line of the first, and reading continues behind them. Readers take no lock. Verify checks more:
// that no event is missing.
func All(dir string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r, err := newReader(dir)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer r.close()
		r.drain(yield)
	}
}

// Records is All with the line that each event stands in, newline included, which is good until the next one. It is
// what to export: decoded and encoded again, a record of a newer version would lose what this one does not know. Records
// that were edited where they stand are yielded, too, behind the error that names them: they are what is left of those
// that were written. What was added between or behind records is not.
func Records(dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r, err := newReader(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer r.close()
		r.keep = true
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
	dir   string
	file  int
	off   int64  // where the next line begins
	num   int    // its number, from 1; 0 where it is not known
	raw   []byte // the line that is being yielded
	f     *os.File
	chain chain // the last line that was genuine
	alien bool  // the line before was not
	torn  bool  // and was only what a crash left
	keep  bool  // yield records that were edited
	held  []held

	keyErr error // why there is no key
}

// newReader returns a reader at the beginning of the chain. Without a key it finds out that there is a line to check.
func newReader(dir string) (*reader, error) {
	r := &reader{dir: dir, file: firstFile(dir)}
	if r.chain.k, r.keyErr = loadKey(dir); errors.Is(r.keyErr, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return nil, unavailable("read", dir, err, doAccess)
		}
		r.keyErr = damaged(filepath.Join(dir, keyName), "the key is missing: without it, entries cannot be distinguished from what was added to them")
	}
	return r, nil
}

// held is a line that has the place of a record, but is not genuine.
type held struct {
	seq uint64
	raw []byte
}

// maxHeld bounds how many edited records in a row are kept.
const maxHeld = 100

// hold keeps raw if it may be an edited record.
func (r *reader) hold(raw []byte) {
	if l, ok := parseLine(raw); ok && r.keep && len(r.held) < maxHeld {
		r.held = append(r.held, held{l.seq, bytes.Clone(raw)})
	}
}

// edited returns the lines that were held, if they have exactly the place between the records after and before. What
// was added has no place of its own: the record behind it continues the one in front of it.
func (r *reader) edited(after, before uint64) []held {
	all := r.held
	r.held = nil
	if uint64(len(all)) != before-after-1 {
		return nil
	}
	for i, h := range all {
		if h.seq != after+1+uint64(i) {
			return nil
		}
	}
	return all
}

// genuine reports whether a writer of this chain made this line, to stand behind those that were read. Lines may be
// missing before it: Verify reports that.
func (r *reader) genuine(raw []byte) bool {
	l, ok := parseLine(raw)
	if !ok || l.seq <= r.chain.count {
		return false
	}
	sum, ok := r.chain.k.checkMAC(l)
	if !ok || l.seq == r.chain.count+1 && r.chain.count > 0 && !isHex(l.prev, r.chain.hash) {
		return false
	}
	r.chain.count, r.chain.hash = l.seq, sum
	return true
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
			f, err := openToRead(path)
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
		next := r.next()
		if next == 0 {
			return true
		}
		// The next file is made after the last record of this one, but maybe since we looked.
		if !r.lines(yield) {
			return false
		}
		if missing := r.file + 1; next > missing && firstFile(r.dir) <= r.file { // not purged
			if !yield(Event{}, missingFile(filepath.Join(r.dir, dataName(missing)))) {
				return false
			}
		}
		r.close()
		r.file, r.off, r.num = next, 0, 1
	}
}

// next is the number of the file behind the one that is being read: 0 where there is none yet.
func (r *reader) next() int {
	if _, err := os.Stat(filepath.Join(r.dir, dataName(r.file+1))); err == nil {
		return r.file + 1
	}
	files, err := dataFiles(r.dir)
	if err != nil {
		return 0
	}
	for _, n := range files {
		if n > r.file {
			return n
		}
	}
	return 0
}

// missingFile is what those who read report where a file of the chain is gone, and later ones are not.
func missingFile(path string) error {
	return damage("audit: " + path + " is missing, and its entries with it; run `fairlead audit verify`")
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
		if r.keyErr != nil {
			yield(Event{}, r.keyErr)
			return false
		}
		r.off, r.raw = off+int64(len(raw)), raw
		var e Event
		was, torn, after := r.alien, r.torn, r.chain.count
		if r.alien = !r.genuine(raw); r.alien {
			r.hold(raw)
		} else {
			for _, h := range r.edited(after, r.chain.count) {
				r.raw = h.raw
				if old, err := decode(h.raw); err == nil && !yield(old, nil) {
					return false
				}
			}
			r.raw = raw
			e, err = decode(raw)
		}
		r.torn = r.alien && r.chain.tornLine(raw)
		if r.alien || err != nil {
			said := fmt.Sprintf("audit: %s is not an entry; run `fairlead audit verify`", r.place(off))
			if err = error(damage(said)); r.torn {
				err = errors.New(said)
			}
			e = Event{}
		}
		if r.num > 0 && raw[len(raw)-1] == '\n' {
			r.num++
		}
		if was && r.alien && torn == r.torn {
			continue // one error for all of them
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
