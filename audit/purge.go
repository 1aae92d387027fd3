package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

// PurgeRecords removes the oldest record files: those whose last record is older than before. The file that is being
// written to stays. A chain.purge record says first what is removed, up to which record, and who (the fields of who that
// answer that): only with it does Verify accept that the beginning is missing. It returns what was removed, which is the
// zero Purged where there is nothing to remove. Whoever was interrupted calls it again.
func (f *File) PurgeRecords(before time.Time, who Event) (Purged, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return Purged{}, unavailable("write", f.path, ErrClosed, "")
	}
	if err := f.failed(); err != nil {
		return Purged{}, err
	}
	if err := f.take(true); err != nil {
		return Purged{}, err
	}
	defer f.release()
	p, files, err := f.oldest(before)
	if err != nil || len(files) == 0 {
		return Purged{}, err
	}
	who.Kind, who.Purged, who.Time = ChainPurge, p, time.Time{}
	if err := f.extend([]Event{who}, f.cfg.Now(), nil, false); err != nil {
		return Purged{}, err
	}
	if err := f.sync(f.ticket.Add(1)); err != nil {
		return Purged{}, err
	}
	f.at("recorded")
	for _, path := range files { // from the oldest, so that no gap is left in between
		if err := os.Remove(path); err != nil {
			return Purged{}, unavailable("remove", path, err, doAccess)
		}
		f.at("removed")
	}
	if err := syncDir(f.dir); err != nil {
		return Purged{}, unavailable("sync", f.dir, err, doDisk)
	}
	return p, nil
}

// oldest finds the files that PurgeRecords removes. The lock is held.
func (f *File) oldest(before time.Time) (p Purged, paths []string, err error) {
	files, err := dataFiles(f.dir)
	if err != nil {
		return p, nil, unavailable("read", f.dir, err, doAccess)
	}
	p.Before = before
	for i, n := range files {
		if n != files[0]+i {
			return p, nil, damaged(filepath.Join(f.dir, dataName(files[0]+i)), "this file of the chain is missing")
		}
		if n >= f.end.file {
			break
		}
		path := filepath.Join(f.dir, dataName(n))
		l, at, size, err := f.lastOf(path)
		if err != nil {
			return p, nil, err
		}
		if !at.Before(before) {
			break
		}
		sum := sha256.Sum256(l.body)
		p.Through, p.Records, p.Hash = dataName(n), l.seq, hex.EncodeToString(sum[:])
		p.Bytes += size
		paths = append(paths, path)
	}
	return p, paths, nil
}

// lastOf reads the last record of a full file. Its length is that of the file.
func (f *File) lastOf(path string) (l line, at time.Time, size int64, err error) {
	r, err := openToRead(path)
	if err != nil {
		return l, at, 0, unavailable("read", path, err, doAccess)
	}
	defer r.Close()
	fi, err := r.Stat()
	if err != nil {
		return l, at, 0, unavailable("read", path, err, doDisk)
	}
	if size = fi.Size(); size > 0 {
		raw, err := lastLine(r, size)
		if err != nil {
			return l, at, 0, unavailable("read", path, err, doDisk)
		}
		var ok bool
		if l, ok = parseLine(raw); ok {
			if _, ok = f.keys.checkMAC(l); ok {
				return l, timeOf(raw), size, nil
			}
		}
	}
	return l, at, 0, damaged(path, "its last line is not an entry of this chain")
}

// RecordPurge puts on record that outputs are removed, before they are. It is on disk when RecordPurge returns.
func (f *File) RecordPurge(p Purged, who Event) error {
	who.Kind, who.Purged = ChainPurge, Purged{Before: p.Before, Outputs: p.Outputs, Bytes: p.Bytes}
	return f.record([]Event{who})
}
