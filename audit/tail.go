package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// followEvery is how often Follow looks for more.
const followEvery = 100 * time.Millisecond

// Tail returns the last n events in dir, oldest first. Where the end of the chain is damaged it returns those that can be
// read and an error that wraps ErrDamaged, but not ErrUnavailable, and names the first place.
func Tail(dir string, n int) ([]Event, error) {
	r, broken, err := before(dir, n)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.last(n, broken)
}

// last drains r and returns the last n events. broken is what is known to be wrong with them; what is found comes first,
// for it says where.
func (r *reader) last(n int, broken error) (out []Event, err error) {
	var first error
	r.drain(func(e Event, lineErr error) bool {
		switch {
		case lineErr == nil:
			out = append(out, e)
			if len(out) > 2*n+1000 { // r stands further back than n where the chain is damaged
				out = append(out[:0], out[len(out)-n:]...)
			}
		case errors.Is(lineErr, ErrUnavailable): // not a line that is no entry
			err = lineErr
		case first == nil && errors.Is(lineErr, ErrDamaged): // not what a crash leaves
			first = lineErr
		}
		return err == nil
	})
	if err == nil {
		err = cmp.Or(first, broken)
	}
	return out[max(0, len(out)-max(n, 0)):], err
}

// Follow yields the last n events in dir and then every new one as it is written, by whatever process, until ctx ends.
// Errors are as for Tail about the first n, and as for All about what comes after them.
func Follow(ctx context.Context, dir string, n int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r, broken, err := before(dir, n)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer r.close()
		events, err := r.last(n, broken)
		if errors.Is(err, ErrUnavailable) {
			yield(Event{}, err)
			return
		}
		for _, e := range events {
			if ctx.Err() != nil || !yield(e, nil) {
				return
			}
		}
		if err != nil && !yield(Event{}, err) {
			return
		}
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

// before returns a reader that stands n records before the end of the chain, or at its beginning. It walks back from the
// record that head names, from hash to hash, so that what others put between or behind the records does not count. Where
// that breaks off, the chain is damaged: broken says so, and the reader stands at its beginning.
func before(dir string, n int) (r *reader, broken, err error) {
	if r, err = newReader(dir); err != nil || r.keyErr != nil {
		return r, nil, err
	}
	h, ok := headOf(dir, r.chain.k)
	if !ok || h.count == 0 {
		return r, headFault(dir, ok), nil
	}
	first := r.file
	at := reader{dir: dir, file: h.file, off: h.size, chain: chain{k: r.chain.k, count: h.count, hash: h.hash}}
	for n > 0 && at.chain.count > 0 {
		if at.off == 0 {
			if at.file == first {
				break // what came before was purged
			}
			at.close()
			at.file--
		}
		err := at.back()
		switch {
		case err == nil:
			n--
			continue
		case errors.Is(err, errBroken):
			broken = damage("audit: entries at the end of " + dir + " are missing or were changed; its head names entry " +
				strconv.FormatUint(h.count, 10) + "; run `fairlead audit verify`")
		case errors.Is(err, fs.ErrNotExist):
			if firstFile(dir) < at.file { // it was not purged meanwhile
				broken = missingFile(filepath.Join(dir, dataName(at.file)))
			}
		default:
			at.close()
			return nil, nil, err
		}
		at.close()
		return r, broken, nil
	}
	return &at, nil, nil
}

// headFault says what is wrong with a head that names no entry. An empty one is that of a chain that begins.
func headFault(dir string, ok bool) error {
	path := filepath.Join(dir, headName)
	fi, err := os.Stat(path)
	switch {
	case ok:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return damage("audit: " + path + " is missing, so the end of the audit log is unknown; run `fairlead audit verify`")
	case err == nil && fi.Size() > 0:
		return damage("audit: " + path + " was changed, so the end of the audit log is unknown; run `fairlead audit verify`")
	}
	return nil
}

// errBroken is what back returns where no line is the one it looks for.
var errBroken = errors.New("audit: the chain breaks off")

// back moves r before the record that it stands behind, which is the one with the hash of r.chain. In a file that was not
// opened yet it begins at the end.
func (r *reader) back() error {
	if r.f == nil {
		path := filepath.Join(r.dir, dataName(r.file))
		f, err := openToRead(path)
		if err != nil {
			return unavailable("read", path, err, doAccess)
		}
		r.f = f
		if r.off == 0 {
			fi, err := f.Stat()
			if err != nil {
				return unavailable("read", path, err, doDisk)
			}
			r.off = fi.Size()
		}
	}
	for r.off > 0 {
		raw, err := lastLine(r.f, r.off)
		if errors.Is(err, io.EOF) {
			return errBroken // it was cut
		}
		if err != nil {
			return unavailable("read", r.f.Name(), err, doDisk)
		}
		r.off -= int64(len(raw))
		l, ok := parseLine(raw)
		if !ok || l.seq != r.chain.count || sha256.Sum256(l.body) != r.chain.hash {
			continue
		}
		if _, err := hex.Decode(r.chain.hash[:], l.prev); err != nil {
			return errBroken
		}
		r.chain.count--
		return nil
	}
	return errBroken
}

// headTries is how often head is read, which a writer may be rewriting.
const headTries = 5

// headOf reads where the chain ends, without the lock.
func headOf(dir string, k *keys) (head, bool) {
	for range headTries {
		text, err := readRegular(filepath.Join(dir, headName))
		if err != nil {
			return head{}, false
		}
		if h, ok := k.parseHead(text); ok {
			return h, true
		}
	}
	return head{}, false
}
