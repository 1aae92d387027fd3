package copies

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// Local is files and directories of this machine that are uploaded. It may be used concurrently.
//
// What hosts that keep pace with each other read is read once from the disk: 32 MiB of it are kept.
type Local struct {
	Entries []Entry
	Left    []Report // what is skipped, or told besides: symbolic links, special files, sparse files
	Lost    []Report // directories below a path that cannot be read: what is in them is not among Entries. Nothing may be removed for it

	paths   []string    // of Entries
	changed []time.Time // of Entries: when each was changed last
	root    *os.Root    // what paths are in; nil is this machine

	mu     sync.Mutex // guards what follows
	blocks map[blockKey]*list.Element
	recent *list.List // of *block, the last used first
	sums   map[int]*sumState
}

const maxBlocks = 128

type blockKey struct {
	entry int
	n     int64
}

// block is a part of a file, with the head of its frame in front.
type block struct {
	key  blockKey
	once sync.Once
	text []byte
	end  bool // it is the last
	err  error
}

// sumState is the hash of a file as far as it has been read.
type sumState struct {
	mu   sync.Mutex
	h    sumHash
	sum  []byte   // once it has been read to its end
	seen []uint64 // of each block that h has: hosts that keep no pace have it read again, and it must be the same
}

var blockSeed = maphash.MakeSeed()

// NewLocal finds what is below each of paths. A path that ends with a slash is a directory whose contents are meant: see
// Plan.Merge. Nothing is read yet. Symbolic links are followed where they are named, and skipped below that.
func NewLocal(paths []string) (*Local, error) {
	l := &Local{blocks: map[blockKey]*list.Element{}, recent: list.New(), sums: map[int]*sumState{}}
	seen := map[string]string{}
	for _, p := range paths {
		name := filepath.Base(p)
		if name == "." || name == ".." || name == string(filepath.Separator) {
			abs, err := filepath.Abs(p)
			if err != nil {
				return nil, err
			}
			if name = filepath.Base(abs); name == string(filepath.Separator) {
				name = "root"
			}
		}
		if other, twice := seen[name]; twice {
			return nil, fmt.Errorf("%s and %s have the same name, and one would replace the other", other, p)
		}
		seen[name] = p
		st, err := os.Stat(p)
		if err != nil {
			return nil, plain(err)
		}
		if err := l.add(p, filepath.ToSlash(name), st); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// NewLocalIn is NewLocal for one path below root, which stays open as long as the Local is used: no name and no symbolic link leads
// out of it, also if it changes meanwhile. A path that is a symbolic link itself is skipped.
func NewLocalIn(root *os.Root, name string) (*Local, error) {
	l := &Local{blocks: map[blockKey]*list.Element{}, recent: list.New(), sums: map[int]*sumState{}, root: root}
	name = filepath.Clean(name)
	st, err := root.Lstat(name)
	if err != nil {
		return nil, plain(err)
	}
	called := filepath.Base(name)
	if called == "." {
		called = filepath.Base(root.Name())
	}
	return l, l.add(name, filepath.ToSlash(called), st)
}

// open opens a file of the source.
func (l *Local) open(name string) (*os.File, error) {
	if l.root == nil {
		return os.Open(name)
	}
	return openIn(l.root, name)
}

func (l *Local) list(name string) ([]os.DirEntry, error) {
	if l.root == nil {
		return os.ReadDir(name)
	}
	d, err := openIn(l.root, name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	all, err := d.ReadDir(-1)
	slices.SortFunc(all, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// plain is an error of a file without the call that failed.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

func (l *Local) add(file, name string, st fs.FileInfo) error {
	if len(l.Entries) >= MaxEntries {
		return fmt.Errorf("there are more than %d files and directories", MaxEntries)
	}
	e := Entry{Name: name, Mode: Octal(st.Mode())}
	switch {
	case st.IsDir():
		e.Dir = true
	case st.Mode().IsRegular():
		e.Size = st.Size()
		if sparse(st) {
			l.Left = append(l.Left, Report{Done: Sparse, Name: name, Size: st.Size(), Why: "it is sparse, and its holes are copied as zeros"})
		}
	case st.Mode()&fs.ModeSymlink != 0:
		l.Left = append(l.Left, Report{Done: Skipped, Name: name, Why: "it is a symbolic link"})
		return nil
	default:
		l.Left = append(l.Left, Report{Done: Skipped, Name: name, Why: "it is a device, a FIFO or a socket"})
		return nil
	}
	l.Entries, l.paths, l.changed = append(l.Entries, e), append(l.paths, file), append(l.changed, st.ModTime())
	if !e.Dir {
		return nil
	}
	names, err := l.list(file)
	if err != nil && !strings.Contains(name, "/") {
		return plain(err)
	}
	if err != nil {
		l.lose(name, err)
	}
	for _, n := range names {
		st, err := n.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			l.lose(path.Join(name, n.Name()), err)
			continue
		}
		if strings.HasPrefix(n.Name(), tempPrefix) && len(n.Name()) == len(tempPrefix)+16 && st.Mode().IsRegular() {
			continue // of an interrupted copy
		}
		if err := l.add(filepath.Join(file, n.Name()), path.Join(name, n.Name()), st); err != nil {
			return err
		}
	}
	return nil
}

// lose reports something that cannot be looked at. It keeps nothing else back.
func (l *Local) lose(name string, err error) {
	code, why := because(plainest(err))
	l.Lost = append(l.Lost, Report{Done: Failed, Name: name, Why: why, Code: code})
}

// plainest is an error of a file without the call and the name.
func plainest(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Skipped are the names that the source has and that are not among Entries.
func (l *Local) Skipped() (names []string) {
	for _, r := range l.Left {
		if r.Done == Skipped {
			names = append(names, r.Name)
		}
	}
	return names
}

// Hash reads all files and puts their hashes into Entries, as approvals and dry runs need them.
func (l *Local) Hash(ctx context.Context) error {
	for i := range l.Entries {
		if l.Entries[i].Dir {
			continue
		}
		h, err := l.hashOf(ctx, l.paths[i], &l.Entries[i].Size)
		if err != nil {
			return plain(err)
		}
		l.Entries[i].SHA256 = h
	}
	return nil
}

// Readable is Entries with the hashes of their contents, for a report of what a copy would do. Files that cannot be read are not
// among them: lost says why.
func (l *Local) Readable(ctx context.Context) (all []Entry, lost []Report, err error) {
	for i, e := range l.Entries {
		if !e.Dir {
			e.SHA256, err = l.hashOf(ctx, l.paths[i], &e.Size)
			if ctx.Err() != nil {
				return nil, nil, ctxerr.Of(ctx)
			}
		}
		if err != nil {
			code, why := because(err)
			lost = append(lost, Report{Done: Failed, Name: e.Name, Why: why, Code: code})
			err = nil
			continue
		}
		all = append(all, e)
	}
	return all, lost, nil
}

func (l *Local) hashOf(ctx context.Context, file string, size *int64) (string, error) {
	f, err := l.open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := &hashing{h: newHash()}
	if err := hostfs.CopyWhile(ctx, h, f); err != nil {
		return "", err
	}
	*size = h.n
	return h.hex(), nil
}

// Path is the file of an entry.
func (l *Local) Path(name string) string {
	for i := range l.Entries {
		if l.Entries[i].Name == name {
			return l.paths[i]
		}
	}
	return ""
}

// Reader returns the stream of all files, for one host.
func (l *Local) Reader() io.ReadCloser { return &localReader{l: l} }

// localReader is one host's. Close may be called while Read runs.
type localReader struct {
	l      *Local
	entry  int
	n      int64 // of the block that comes next
	left   []byte
	f      *os.File
	closed bool
	mu     sync.Mutex // guards f and closed
}

func (r *localReader) Read(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if len(r.left) == 0 {
			if err := r.fill(); err != nil {
				if done > 0 && errors.Is(err, io.EOF) {
					return done, nil
				}
				return done, err
			}
		}
		n := copy(p[done:], r.left)
		r.left = r.left[n:]
		done += n
	}
	return done, nil
}

// fill gets what comes next.
func (r *localReader) fill() error {
	l := r.l
	for r.entry < len(l.Entries) && l.Entries[r.entry].Dir {
		r.entry++
	}
	if r.entry == len(l.Entries) {
		return io.EOF
	}
	b := l.block(blockKey{r.entry, r.n})
	b.once.Do(func() { r.load(b) })
	r.n++
	if b.err != nil {
		text := plain(b.err).Error()
		r.left = frame(frameFault, []byte(text[:min(len(text), 1000)]))
		r.leave()
		return nil
	}
	r.left = b.text
	if b.end {
		r.leave()
	}
	return nil
}

// leave goes on to the next file.
func (r *localReader) leave() {
	r.entry++
	r.n = 0
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f != nil {
		r.f.Close()
		r.f = nil
	}
}

func (r *localReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.f != nil {
		r.f.Close()
		r.f = nil
	}
	return nil
}

// block is one that is kept, or a new one that is to be loaded.
func (l *Local) block(key blockKey) *block {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.blocks[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*block)
	}
	b := &block{key: key}
	l.blocks[key] = l.recent.PushFront(b)
	for l.recent.Len() > maxBlocks {
		last := l.recent.Back()
		l.recent.Remove(last)
		delete(l.blocks, last.Value.(*block).key)
	}
	return b
}

func (l *Local) sum(entry int) *sumState {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sums[entry]
	if s == nil {
		s = &sumState{h: newHash()}
		l.sums[entry] = s
	}
	return s
}

// load reads a block, and what ends the file behind the last one.
func (r *localReader) load(b *block) {
	f, err := r.open(b.key.entry)
	if err != nil {
		b.err = err
		return
	}
	e := &r.l.Entries[b.key.entry]
	at := b.key.n * blockSize
	size := max(0, min(blockSize, e.Size-at))
	text := make([]byte, frameHead+size, frameHead+size+frameHead+64)
	if n, err := f.ReadAt(text[frameHead:], at); n < int(size) {
		if err == nil || errors.Is(err, io.EOF) {
			err = hostfs.ErrChanged
		}
		b.err = err
		return
	}
	putHead(text, frameData, int(size))
	if size == 0 {
		text = text[:0]
	}
	b.end = at+size >= e.Size
	s := r.l.sum(b.key.entry)
	s.mu.Lock()
	defer s.mu.Unlock()
	data := text[min(len(text), frameHead):]
	switch same := maphash.Bytes(blockSeed, data); {
	case b.key.n < int64(len(s.seen)):
		if s.seen[b.key.n] != same {
			b.err = hostfs.ErrChanged
			return
		}
	case b.key.n == int64(len(s.seen)):
		s.seen = append(s.seen, same)
		s.h.Write(data)
		if b.end {
			s.sum = s.h.Sum(nil)
		}
	}
	if b.end && s.sum == nil {
		b.err = errors.New("the source changed while it was read")
		return
	}
	if b.end {
		text = append(text, frame(frameSum, s.sum)...)
	}
	b.text = text
}

var errReaderClosed = errors.New("the copy was stopped")

func (r *localReader) open(entry int) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errReaderClosed
	}
	if r.f == nil {
		f, err := r.l.open(r.l.paths[entry])
		if err != nil {
			return nil, err
		}
		r.f = f
	}
	return r.f, nil
}
