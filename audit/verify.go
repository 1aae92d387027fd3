package audit

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Verify checks the whole chain in dir. It takes the writers' lock only to note how long the files are, and checks up to
// there. What is wrong with the chain stands in Report.Problem; the error is for what could not be read.
//
// # What the chain proves, and what it does not
//
// Whoever does not have the key cannot change, add, remove or reorder a record, the last one included, without Verify
// noticing. Whoever has it can write a new chain: an account that can read key can forge everything beside it. Putting
// back an older head with the records cut to match, or removing the whole directory, cannot be seen from within either.
// Against all three only a head kept elsewhere helps, on a machine that the editor does not control: an [Anchor]. A [Tee]
// takes anchors to such places, and for those that are required refuses a request that they have not acknowledged;
// [VerifyAnchored] compares. Package sinks beside this one has places. What was recorded after the last anchor is proved
// by the chain alone, and an anchor by somebody who has the key already proves nothing about what comes after.
//
// An anchor is a line {"v":1,"chain":"I","count":N,"hash":"H","time":"…","mac":"M"}: H is the hash of record N, M is
// HMAC-SHA256 over the bytes before `,"mac":` with the key derived by the label "fairlead audit anchor 1", and I, the
// first 32 digits of HMAC-SHA256(secret, "fairlead audit chain 1"), tells chains apart.
//
// After a power cut, head can be older than the records, which is harmless (they count), or, for records of the last
// 100 ms that nobody was promised, newer. The latter is indistinguishable from a cut chain and is reported as one:
// Open refuses it, and moving the directory aside starts a new chain.
func Verify(dir string) (Report, error) { return VerifyAnchored(dir, nil) }

// VerifyAnchored is Verify, and compares the chain with anchors of it that were kept elsewhere, in any order. Anchors of
// other chains may stand between them, but some must be of this one. Report.Anchors says how far the anchors reach; a
// nil slice of anchors compares nothing.
func VerifyAnchored(dir string, anchors []Anchor) (Report, error) {
	v := &verifier{dir: dir, open: map[string]Pending{}, borders: map[int]border{}, anchors: anchors}
	err := v.run()
	v.report.Head = hex.EncodeToString(v.chain.hash[:])
	if err == nil && v.report.Problem == nil {
		a := Anchor{Count: v.chain.count, Hash: v.report.Head, Time: time.Now().UTC()}
		v.report.Anchor = string(v.chain.k.signAnchor(a).Line())
	}
	for _, p := range v.open {
		v.report.Pending = append(v.report.Pending, p)
	}
	slices.SortFunc(v.report.Pending, func(a, b Pending) int { return cmp.Compare(a.Seq, b.Seq) })
	return v.report, err
}

type verifier struct {
	dir    string
	report Report
	chain  chain
	head   head
	files  []snapshot
	open   map[string]Pending

	borders map[int]border // where each file ends, by number; that of the first one that is there begins behind another
	anchors []Anchor       // to compare with; those of this chain, by count, once the key is known
	purges  []Purged       // what the chain says about files that are missing
}

// snapshot is a record file, and how long it was when the lock was held.
type snapshot struct {
	n    int
	path string
	size int64
}

func (v *verifier) problem(kind ProblemKind, path string, line int, text string) {
	v.report.Problem = &Problem{Kind: kind, File: path, Line: line, Text: text}
}

func (v *verifier) run() error {
	headText, err := v.snapshot()
	if err != nil || v.report.Problem != nil {
		return err
	}
	k, err := loadKey(v.dir)
	keyPath := filepath.Join(v.dir, keyName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.problem(MissingKey, keyPath, 0, "without the key nothing can be proved")
		return nil
	case errors.Is(err, ErrDamaged):
		v.problem(BadKey, keyPath, 0, "this is not a key: a key is 64 lower-case hexadecimal digits and a newline")
		return nil
	case err != nil:
		return err
	}
	v.chain.k = k
	var ok bool
	if v.head, ok = k.parseHead(headText); !ok {
		if len(headText) > 0 && v.foreign() {
			v.problem(BadKey, keyPath, 0, "this is not the key that head and the first entry were written with")
		} else {
			v.problem(BadHead, filepath.Join(v.dir, headName), 0, "it was changed or emptied: its MAC does not match")
		}
		return nil
	}
	if !v.pickAnchors() {
		return nil
	}
	last := 0
	for i, s := range v.files {
		if i == 0 && s.n > 1 && s.n <= v.head.file {
			last = s.n - 1
			v.startAt(s)
		}
		if last++; s.n != last {
			v.problem(Gap, filepath.Join(v.dir, dataName(last)), 0, "this file of the chain is missing")
			return nil
		}
		if s.n > v.head.file && s.size > 0 {
			v.problem(UnknownFile, s.path, 0, fmt.Sprintf("head says that the chain ends in %s", dataName(v.head.file)))
			return nil
		}
		if err := v.file(s); err != nil || v.report.Problem != nil {
			return err
		}
		v.borders[s.n] = border{v.chain.count, v.chain.hash}
	}
	if last < v.head.file {
		v.problem(Truncated, filepath.Join(v.dir, dataName(last+1)), 0,
			fmt.Sprintf("this file is missing; head counts %d entries, %d are here", v.head.count, v.chain.count))
		return nil
	}
	if v.checkPurged(); v.report.Problem == nil {
		v.checkAnchorsEnd()
	}
	return nil
}

// snapshot reads head and the lengths of the files while no writer is between its two writes.
func (v *verifier) snapshot() (headText []byte, err error) {
	path := filepath.Join(v.dir, headName)
	hf, err := openToRead(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case errors.Is(err, ErrDamaged):
		v.problem(BadHead, path, 0, err.Error())
		return nil, nil
	case err != nil && !missing:
		return nil, unavailable("read", path, err, doAccess)
	case err == nil:
		defer hf.Close()
		if err := waitLock(hf, false, DefaultLockWait); err != nil {
			return nil, err
		}
		defer unlock(hf)
		if headText, err = io.ReadAll(io.LimitReader(hf, int64(headLen)+1)); err != nil {
			return nil, unavailable("read", path, err, doDisk)
		}
	}
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return nil, unavailable("read", v.dir, err, doAccess)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), dataExt) {
			continue
		}
		s := snapshot{path: filepath.Join(v.dir, e.Name())}
		var ok bool
		if s.n, ok = dataNumber(e.Name()); !ok {
			v.problem(UnknownFile, s.path, 0, "the chain has no file of this name")
			return nil, nil
		}
		fi, err := os.Stat(s.path)
		if err != nil {
			return nil, unavailable("read", s.path, err, doAccess)
		}
		if !fi.Mode().IsRegular() {
			v.problem(UnknownFile, s.path, 0, notRegular.Error())
			return nil, nil
		}
		s.size = fi.Size()
		v.files = append(v.files, s)
	}
	if missing {
		if len(v.files) == 0 {
			return nil, unavailable("read", path, fs.ErrNotExist, "there is no audit log in this directory")
		}
		v.problem(BadHead, path, 0, "it is missing, so that where the chain ends is not known")
	}
	return headText, nil
}

// foreign reports whether the first record, too, does not fit the key.
func (v *verifier) foreign() bool {
	if len(v.files) == 0 {
		return false
	}
	f, err := openToRead(v.files[0].path)
	if err != nil {
		return false
	}
	defer f.Close()
	raw, _, _, err := newLines(f, 0).next()
	if err != nil {
		return false
	}
	l, ok := parseLine(raw)
	if !ok {
		return false
	}
	_, mine := v.chain.k.checkMAC(l)
	return !mine
}

// file checks one file from its beginning.
func (v *verifier) file(s snapshot) error {
	f, err := openToRead(s.path)
	if err != nil {
		return unavailable("read", s.path, err, doAccess)
	}
	defer f.Close()
	v.report.Files++
	in := newLines(io.LimitReader(f, s.size), 0)
	holdsEnd := s.n == v.head.file
	if holdsEnd && v.head.size == 0 && !v.meetsHead(s.path, 0) {
		return nil
	}
	for {
		raw, off, num, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unavailable("read", s.path, err, doDisk)
		}
		before := v.chain.junk
		l, sealed, ok := v.chain.take(raw, off, num)
		if !ok {
			if before == nil && v.chain.junk.kind == Gap {
				v.tellOrder(s, in, l.seq)
			}
			continue
		}
		if sealed != nil && sealed.alien > 0 {
			v.problem(Edited, s.path, sealed.alien, edited)
			return nil
		}
		if sealed != nil {
			v.report.Sealed = append(v.report.Sealed, Stretch{File: s.path, Line: sealed.line, Bytes: sealed.bytes})
		}
		v.note(l)
		if len(v.anchors) > 0 && !v.meetsAnchors(s.path, num) {
			return nil
		}
		v.report.Bytes = v.report.Bytes + in.off - off
		if holdsEnd && in.off == v.head.size && !v.meetsHead(s.path, num) {
			return nil
		}
		if holdsEnd && in.off > v.head.size {
			if v.report.Behind++; off < v.head.size {
				v.problem(BadHead, s.path, num, "head names a place inside this entry")
				return nil
			}
		}
	}
	return v.fileEnd(s, in, holdsEnd)
}

// fileEnd judges what is left when a file ends: a stretch that no seal covers, or too few records.
func (v *verifier) fileEnd(s snapshot, in *lines, holdsEnd bool) error {
	j := v.chain.junk
	switch {
	case holdsEnd && s.size < v.head.size:
		text := fmt.Sprintf("the file was truncated: it has %d bytes and had %d; head counts %d entries, %d are here",
			s.size, v.head.size, v.head.count, v.chain.count)
		if j != nil && j.line < in.num {
			v.problem(j.kind, s.path, j.line, j.text)
			break
		}
		v.problem(Truncated, s.path, in.num, text)
	case j == nil:
	case holdsEnd && j.from >= v.head.size && j.alien > 0:
		v.problem(Edited, s.path, j.alien, edited)
	case holdsEnd && j.from >= v.head.size:
		v.report.Torn = &Stretch{File: s.path, Line: j.line, Bytes: j.bytes}
	default:
		v.problem(j.kind, s.path, j.line, j.text)
	}
	return nil
}

// meetsHead compares the chain with head at the place that head names.
func (v *verifier) meetsHead(path string, num int) bool {
	if v.chain.count == v.head.count && v.chain.hash == v.head.hash {
		return true
	}
	if v.chain.count < v.head.count {
		v.problem(Truncated, path, num, fmt.Sprintf("head counts %d entries, %d are here", v.head.count, v.chain.count))
	} else {
		v.problem(BadHead, path, num, "the entry at the place that head names is another one")
	}
	return false
}

// tellOrder tells records in another order from missing ones: what seems to be missing stands further down.
func (v *verifier) tellOrder(s snapshot, in *lines, found uint64) {
	f, err := openToRead(s.path)
	if err != nil {
		return
	}
	defer f.Close()
	want := v.chain.count + 1
	rest := newLines(io.NewSectionReader(f, in.off, s.size-in.off), in.off)
	for {
		raw, _, _, err := rest.next()
		if err != nil {
			return
		}
		l, ok := parseLine(raw)
		if !ok || l.seq != want {
			continue
		}
		if _, mine := v.chain.k.checkMAC(l); mine {
			v.chain.junk.kind = Reordered
			v.chain.junk.text = misplaced(found, want)
			return
		}
	}
}

// note counts a good record and pairs requests with results.
func (v *verifier) note(l line) {
	v.report.Records = v.chain.count
	var e struct {
		Kind Kind      `json:"kind"`
		Time time.Time `json:"time"`
		ID   string    `json:"id"`
		Host string    `json:"host"`
	}
	if json.Unmarshal(closed(l), &e) != nil {
		return // the MAC says that a writer of this chain meant it so
	}
	if e.Kind == ChainPurge {
		v.notePurge(l)
	}
	if v.report.First.IsZero() {
		v.report.First = e.Time
	}
	v.report.Last = e.Time
	about, request, result := e.Kind.pair()
	switch key := about + " " + e.ID; {
	case request:
		v.open[key] = Pending{ID: e.ID, Kind: e.Kind, Seq: l.seq, Time: e.Time, Host: e.Host}
	case result:
		delete(v.open, key)
	}
}
