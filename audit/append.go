package audit

import (
	"fmt"
	"io"
	"time"
)

// placeHolds is how long a look at the path is good for.
const placeHolds = 5 * time.Millisecond

// append writes events behind the chain and moves its head. On an error the chain is as it was before. What is not
// durable is left to the committer to sync.
func (f *File) append(events []Event, durable bool) (ticket uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, unavailable("write", f.path, ErrClosed, "")
	}
	if err := f.failed(); err != nil {
		return 0, err
	}
	if err := f.take(durable); err != nil {
		return 0, err
	}
	if durable {
		defer f.release()
	}
	now := f.cfg.Now()
	if f.full(now) {
		if err := f.rotate(now); err != nil {
			f.refused = true
			return 0, err
		}
	}
	// What waits goes along where somebody waits for the disk anyway, and else on its own: it must not hold up a request.
	along := len(f.late) > 0 && (durable || len(events) == 0)
	if along {
		events = append(f.late, events...)
	}
	if err := f.extend(events, now, nil, !durable); err != nil {
		return 0, err
	}
	if along {
		clear(f.late)
		f.late = f.late[:0]
	}
	ticket = f.ticket.Add(1)
	if !durable && !f.committing {
		f.committing = true
		f.wg.Go(f.commit)
	}
	return ticket, nil
}

// extend encodes events, stamped with now where they have no time, writes them behind lead, and moves head, or leaves
// that to the end of the lease. The lock is held.
func (f *File) extend(events []Event, now time.Time, lead []byte, later bool) error {
	end := f.end
	b := append(f.buf[:0], lead...)
	for i := range events {
		e := &events[i]
		at := e.Time
		if at.IsZero() {
			at = now
		}
		var text [hexLen]byte
		var hmac []byte
		if e.Exact != nil {
			hmac = f.keys.appendMAC(text[:0], f.keys.exact, e.Exact)
		}
		from := len(b)
		b = appendBody(b, e, end.count+1, at, hmac, &end.hash)
		b, end.hash = f.keys.signLine(b, from)
		end.count++
		if len(b)-from > maxLine {
			return unavailable("write", f.path, fmt.Errorf("an entry of %d bytes is longer than the %d a reader accepts", len(b)-from, maxLine),
				"send the command in smaller parts")
		}
	}
	if f.buf = b; cap(b) > 1<<20 {
		f.buf = nil // one long script must not be paid for until the end
	}
	if _, err := f.data.Write(b); err != nil {
		f.takeBack()
		f.refused = true
		return unavailable("write", f.path, err, doSpace)
	}
	f.at("written")
	end.size += int64(len(b))
	if later {
		f.end, f.behind, f.refused = end, true, false
		return nil
	}
	if err := f.moveHead(end, false); err != nil {
		f.takeBack()
		f.refused = true
		return err
	}
	f.refused = false
	return nil
}

// takeBack removes what a failed write left behind the chain, so that the failure leaves no trace. Where that fails
// too, the next append seals it.
func (f *File) takeBack() {
	if f.data.Truncate(f.end.size) != nil {
		f.stale = true
	}
}

// moveHead lets head say that the chain ends at end.
func (f *File) moveHead(end head, sync bool) error {
	f.headBuf = f.keys.appendHead(f.headBuf[:0], end, f.name)
	_, err := f.headFile.WriteAt(f.headBuf, 0)
	if err == nil && sync {
		err = f.headFile.Sync()
	}
	if err != nil {
		f.at("head failed")
		// Head may hold anything now. Put back what it said, and look again before the next append.
		f.stale = true
		f.headBuf = f.keys.appendHead(f.headBuf[:0], f.end, dataName(f.end.file))
		_, _ = f.headFile.WriteAt(f.headBuf, 0)
		return unavailable("write", f.headFile.Name(), err, doSpace)
	}
	f.end, f.behind = end, false
	return nil
}

// catchUp makes sure that the files are still the ones this File knows, and that it knows their end. The lock is held.
func (f *File) catchUp(durable bool) error {
	size, linked, err := sizeOf(f.data)
	switch {
	case err != nil:
		return unavailable("write", f.path, err, doDisk)
	case !linked:
		f.placed = time.Time{}
	}
	if err := f.checkPlace(durable); err != nil {
		return err
	}
	switch {
	case size < f.end.size:
		return damaged(f.path, "it is shorter than it was")
	case size == f.end.size && !f.stale:
		return nil
	}
	if f.behind {
		if err := f.moveHead(f.end, false); err != nil {
			return err
		}
	}
	return f.resume()
}

// checkPlace makes sure that the names still lead to the open files. A file that lost its name is seen at once; that a
// directory above was renamed costs a walk down the path to see, so for events that change nothing the answer holds
// for placeHolds. Nothing is lost meanwhile: the record stands in the directory that was moved.
func (f *File) checkPlace(durable bool) error {
	now := time.Now()
	if !durable && now.Sub(f.placed) < placeHolds {
		return nil
	}
	f.placed = time.Time{}
	mine, err := same(f.path, f.id)
	if err != nil {
		return unavailable("write", f.path, err, doGone)
	}
	if !mine {
		return replaced(f.path)
	}
	if mine, err = same(f.headFile.Name(), f.headID); err != nil {
		return unavailable("write", f.headFile.Name(), err, doGone)
	}
	if !mine {
		return replaced(f.headFile.Name())
	}
	f.placed = now
	return nil
}

// lastLine reads the line that ends at end.
func lastLine(r io.ReaderAt, end int64) ([]byte, error) {
	for n := int64(4 << 10); ; n *= 4 {
		n = min(n, end, maxLine)
		b := make([]byte, n)
		if _, err := r.ReadAt(b, end-n); err != nil {
			return nil, err
		}
		for i := len(b) - 2; i >= 0; i-- {
			if b[i] == '\n' {
				return b[i+1:], nil
			}
		}
		if n == end || n == maxLine {
			return b, nil
		}
	}
}
