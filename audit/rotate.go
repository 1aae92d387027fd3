package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"time"
)

// A rotation has five steps, and a writer may die between any two of them: the chain.rotate record is written, head
// moves behind it, the next file is made, the directory is synced, head moves to the new file. Whoever finds a chain
// that ends with chain.rotate goes on from there.

// full reports whether the current file takes no more.
func (f *File) full(now time.Time) bool {
	if f.end.size == 0 {
		return false
	}
	if f.cfg.MaxSize > 0 && f.end.size >= f.cfg.MaxSize {
		return true
	}
	if f.cfg.MaxAge <= 0 {
		return false
	}
	if f.born.IsZero() {
		f.born = firstTime(f.data)
		if f.born.IsZero() {
			f.born = now // it cannot be told; verify tells what is wrong there
		}
	}
	return now.Sub(f.born) >= f.cfg.MaxAge
}

// rotate ends the current file and starts the next. Everything in the old one is on disk before.
func (f *File) rotate(now time.Time) error {
	next := f.end.file + 1
	if next > maxFiles {
		return unavailable("create", filepath.Join(f.dir, dataName(next)), errors.New("the chain has no more file names"),
			"move the directory aside to start a new chain")
	}
	if err := f.extend([]Event{{Kind: ChainRotate, Next: dataName(next)}}, now, nil, false); err != nil {
		return err
	}
	f.at("ended")
	return f.toNext()
}

// toNext goes on where the chain ends with chain.rotate.
func (f *File) toNext() error {
	if err := f.sync(f.ticket.Add(1)); err != nil {
		return err
	}
	if err := f.startFile(f.end.file + 1); err != nil {
		f.stale = true
		if f.name != dataName(f.end.file) { // head does not lead to the new file: the old one is the last
			err = errors.Join(err, f.use(f.end, false))
		}
		return err
	}
	return nil
}

// startFile makes file n, empty, and lets head point to its beginning.
func (f *File) startFile(n int) error {
	next := f.end
	next.file, next.size = n, 0
	if err := f.use(next, true); err != nil {
		return err
	}
	f.at("created")
	if err := syncDir(f.dir); err != nil {
		return unavailable("sync", f.dir, err, doDisk)
	}
	f.at("synced")
	if err := f.moveHead(next, true); err != nil {
		return err
	}
	f.at("moved")
	return nil
}

// isRotate reports whether l is a chain.rotate record. Quotes in texts are escaped, so these bytes stand nowhere else.
func isRotate(l line) bool {
	return bytes.Contains(l.body, []byte(`,"kind":"`+string(ChainRotate)+`"`))
}

// firstTime reads when a file's first record was made; zero where that cannot be told.
func firstTime(r io.ReaderAt) time.Time {
	var b [128]byte // the time stands at the beginning of a record
	n, _ := r.ReadAt(b[:], 0)
	_, rest, _ := bytes.Cut(b[:n], []byte(`,"time":"`))
	text, _, ok := bytes.Cut(rest, []byte{'"'})
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if !ok || err != nil {
		return time.Time{}
	}
	return t
}

func timeOf(raw []byte) time.Time {
	var e struct {
		Time time.Time `json:"time"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return time.Time{}
	}
	return e.Time
}
