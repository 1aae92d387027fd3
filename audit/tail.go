package audit

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// followEvery is how often Follow looks for more.
const followEvery = 100 * time.Millisecond

// Tail returns the last n events in dir, oldest first. Lines that are no records are skipped.
func Tail(dir string, n int) ([]Event, error) {
	r, err := before(dir, n)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var out []Event
	r.drain(func(e Event, lineErr error) bool {
		switch {
		case lineErr == nil:
			out = append(out, e)
		case r.f == nil: // not a line: the file could not be opened
			err = lineErr
		}
		return err == nil
	})
	return out[max(0, len(out)-max(n, 0)):], err
}

// Follow yields the last n events in dir and then every new one as it is written, by whatever process, until ctx ends.
// Errors are as for All.
func Follow(ctx context.Context, dir string, n int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r, err := before(dir, n)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer r.close()
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for ctx.Err() == nil && r.drain(func(e Event, err error) bool { return yield(e, err) && ctx.Err() == nil }) {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}
}

// before returns a reader that stands n lines before the end of the chain, or at its beginning.
func before(dir string, n int) (*reader, error) {
	files, err := dataFiles(dir)
	if err != nil {
		return nil, unavailable("read", dir, err, doAccess)
	}
	r := &reader{dir: dir, file: firstFile(dir), num: 1}
	for i := len(files) - 1; i >= 0; i-- {
		off, found, err := lineBefore(filepath.Join(dir, dataName(files[i])), n)
		if err != nil {
			return nil, err
		}
		r.file, r.off, r.num = files[i], off, 0
		if n -= found; n <= 0 {
			break
		}
	}
	return r, nil
}

// lineBefore finds where the n-th whole line from the end of a file begins, or the first where there are fewer. It reads
// from the end, so that a long file costs no more than what is asked of it.
func lineBefore(path string, n int) (off int64, found int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, unavailable("read", path, err, doAccess)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, 0, unavailable("read", path, err, doDisk)
	}
	buf := make([]byte, 64<<10)
	newlines := 0
	for end := fi.Size(); end > 0; {
		b := buf[:min(int64(len(buf)), end)]
		end -= int64(len(b))
		if _, err := f.ReadAt(b, end); err != nil {
			return 0, 0, unavailable("read", path, err, doDisk)
		}
		for i := len(b) - 1; i >= 0; i-- {
			if b[i] != '\n' {
				continue
			}
			if newlines >= n {
				return end + int64(i) + 1, newlines, nil
			}
			newlines++
		}
	}
	return 0, newlines, nil
}
