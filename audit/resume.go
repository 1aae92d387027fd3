package audit

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// resume reads where the chain ends: what head says, and what a writer that died, or another process, left behind it.
// Whatever does not continue the chain is sealed: Verify judges whether a crash left it. The lock is held.
func (f *File) resume() error {
	h, err := f.readHead()
	if err != nil {
		return err
	}
	switch {
	case h.count < f.end.count:
		return damaged(f.headFile.Name(), "it is older than what this process wrote")
	case h.count == f.end.count && h.count > 0 && h.hash != f.end.hash:
		return damaged(f.headFile.Name(), "it names another entry than the one this process wrote last")
	}
	if f.data == nil || h.file != f.end.file {
		if err := f.use(h, false); err != nil {
			return err
		}
	}
	ended, err := f.checkLast(h)
	if err != nil {
		return err
	}
	f.end, f.stale = h, false
	if ended, err = f.adopt(ended); err == nil && ended {
		err = f.toNext()
	}
	if err != nil {
		f.stale = true
	}
	return err
}

func (f *File) readHead() (head, error) {
	b := make([]byte, headLen+1)
	n, err := f.headFile.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, unavailable("read", f.headFile.Name(), err, doDisk)
	}
	h, ok := f.keys.parseHead(b[:n])
	if !ok {
		return head{}, damaged(f.headFile.Name(), "it was changed, or is not this key's: its MAC does not match")
	}
	return h, nil
}

// checkLast makes sure that the chain still ends as head says, before anything is appended to it. ended means that the
// last record ends its file.
func (f *File) checkLast(h head) (ended bool, err error) {
	fi, err := f.data.Stat()
	switch {
	case err != nil:
		return false, unavailable("read", f.path, err, doDisk)
	case fi.Size() < h.size:
		return false, damaged(f.path, "it ends before the place that head names: entries were removed")
	case h.size == 0:
		return false, nil
	}
	raw, err := lastLine(f.data, h.size)
	if err != nil {
		return false, unavailable("read", f.path, err, doDisk)
	}
	l, ok := parseLine(raw)
	if ok {
		sum, mine := f.keys.checkMAC(l)
		ok = mine && sum == h.hash && l.seq == h.count
	}
	if !ok {
		return false, damaged(f.path, "its last entry is not the one that head names")
	}
	return isRotate(l), nil
}

// adopt takes the whole records behind head into the chain and seals what is torn. ended says whether the last record
// ends its file, at first the one that head names.
func (f *File) adopt(ended bool) (bool, error) {
	end := f.end
	c := &chain{k: f.keys, count: end.count, hash: end.hash}
	in := newLines(io.NewSectionReader(f.data, end.size, 1<<62), end.size)
	whole := true // the last line has its newline
	for {
		raw, off, num, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, unavailable("read", f.path, err, doDisk)
		}
		whole = raw[len(raw)-1] == '\n'
		if l, _, ok := c.take(raw, off, num); ok {
			end.count, end.hash, end.size = c.count, c.hash, in.off
			ended = isRotate(l)
		}
	}
	if end.count > f.end.count {
		if err := f.data.Sync(); err != nil {
			return false, unavailable("sync", f.path, err, doDisk)
		}
		if err := f.moveHead(end, true); err != nil {
			return false, err
		}
	}
	if c.junk != nil {
		return false, f.seal(c.junk, whole)
	}
	return ended, nil
}

// sealLead ends a torn line. With the newline alone a record that lacks nothing else would become whole.
const sealLead = "~\n"

// seal appends the record that makes torn bytes part of the chain.
func (f *File) seal(j *junk, ended bool) error {
	t := Torn{Offset: j.from, Bytes: j.bytes}
	var lead []byte
	if !ended {
		lead = []byte(sealLead)
		t.Bytes += int64(len(lead))
		j.sum.Write(lead)
	}
	t.SHA256 = hex.EncodeToString(j.sum.Sum(nil))
	good := f.end
	f.end.size = j.from + j.bytes // a failed write is taken back to here: the torn bytes are evidence
	if err := f.extend([]Event{{Kind: ChainSeal, Torn: t}}, f.cfg.Now(), lead, false); err != nil {
		f.end = good
		_ = f.moveHead(good, false) // in case head had moved
		return err
	}
	if err := f.data.Sync(); err != nil {
		return unavailable("sync", f.path, err, doDisk)
	}
	return nil
}

// dataFiles lists the numbers of the record files in dir, in order.
func dataFiles(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries { // ReadDir sorts, and names sort as numbers
		if n, ok := dataNumber(e.Name()); ok {
			out = append(out, n)
		}
	}
	return out, nil
}
