package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// The defaults of SpoolConfig.
const (
	DefaultMemory = 64 << 10
	DefaultLimit  = 256 << 20
)

// ErrClosed is returned for reads and writes after Close, and for writes after Finish.
var ErrClosed = errors.New("output: spool closed")

// SpoolConfig says where and how much a Spool keeps. The zero value works.
type SpoolConfig struct {
	// Dir is where the file goes once there is one; empty means the system's directory for temporary files. The file
	// is readable by this account alone.
	Dir string
	// Memory is how many bytes are held before a file is made. Zero means DefaultMemory, negative none.
	Memory int
	// Limit is how many bytes from the start are kept. Zero means DefaultLimit, negative no limit.
	Limit int64
}

// Spool keeps one stream. Past the limit, or when the disk refuses more, it goes on counting and keeps the last bytes
// (as many as Memory, at least 4 KiB) besides the first ones, so that what came last is never lost.
//
// One goroutine writes; any number read at the same time.
type Spool struct {
	cfg SpoolConfig

	writing sync.Mutex // one writer at a time; never taken by readers

	mu       sync.Mutex
	mem      []byte // what is kept, until there is a file; only ever appended to
	file     *os.File
	kept     int64
	total    int64
	end      ring // of what came after the kept bytes
	full     bool // nothing more is stored at the start
	err      error
	finished bool
	closed   bool
}

// NewSpool returns an empty Spool. It touches the disk only when Memory is outgrown.
func NewSpool(c SpoolConfig) *Spool {
	switch {
	case c.Memory == 0:
		c.Memory = DefaultMemory
	case c.Memory < 0:
		c.Memory = 0
	}
	switch {
	case c.Limit == 0:
		c.Limit = DefaultLimit
	case c.Limit < 0:
		c.Limit = 1<<63 - 1
	}
	return &Spool{cfg: c, end: ring{size: max(c.Memory, 4<<10)}}
}

// Write stores or at least counts p. A disk that is full or a file that cannot be made is no error here: see Err. The
// only error is ErrClosed.
func (s *Spool) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	if s.closed || s.finished {
		s.mu.Unlock()
		return 0, ErrClosed
	}
	store := p
	if s.full {
		store = nil
	} else if room := s.cfg.Limit - s.kept; int64(len(p)) > room {
		store = p[:room]
	}
	file, mem := s.file, s.mem
	if file == nil && len(mem)+len(store) <= s.cfg.Memory {
		s.mem = append(s.mem, store...)
		s.settle(p, len(store), nil)
		s.mu.Unlock()
		return len(p), nil
	}
	at := s.kept
	s.mu.Unlock()

	var stored int
	var err error
	if len(store) > 0 {
		stored, file, err = s.toDisk(file, mem, store, at)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed { // meanwhile
		if file != nil {
			_ = file.Close()
		}
		return 0, ErrClosed
	}
	if file != s.file {
		s.file, s.mem = file, nil
	}
	s.settle(p, stored, err)
	return len(p), nil
}

// settle counts p, of which the first n bytes are stored.
func (s *Spool) settle(p []byte, n int, err error) {
	s.kept += int64(n)
	s.total += int64(len(p))
	if n < len(p) {
		s.full = true // what is kept at the start has no holes
		s.end.write(p[n:])
	}
	if err != nil {
		s.err = err
	}
}

// toDisk writes p at offset at, into a new file that begins with mem when there is none yet. No lock is held.
func (s *Spool) toDisk(file *os.File, mem, p []byte, at int64) (int, *os.File, error) {
	if file == nil {
		f, err := tempFile(s.cfg.Dir)
		if err == nil {
			if _, err = f.WriteAt(mem, 0); err != nil {
				_ = f.Close()
			}
		}
		if err != nil {
			return 0, nil, fmt.Errorf("output: only the first %d and the last bytes are kept: no file to spool to: %w", at, err)
		}
		file = f
	}
	n, err := file.WriteAt(p, at)
	if err != nil {
		err = fmt.Errorf("output: only the first %d and the last bytes are kept: %w", at+int64(n), err)
	}
	return n, file, err
}

// Finish says that nothing more will be written. It may be called more than once.
func (s *Spool) Finish() {
	s.mu.Lock()
	s.finished = true
	s.mu.Unlock()
}

// Total is how many bytes were written.
func (s *Spool) Total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Kept is how many bytes from the start can be read.
func (s *Spool) Kept() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// Err says why less is kept than the limit allows; nil while all is well. It never means that the command failed.
func (s *Spool) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// ReadAt reads kept bytes, the first as well as the last ones, as io.ReaderAt. Bytes that were not kept are an
// *NotKeptError, what is not written yet is io.EOF.
func (s *Spool) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("output: negative offset")
	}
	v, err := s.snapshot()
	if err != nil {
		return 0, err
	}
	return v.ReadAt(p, off)
}

// Close frees memory and file. Reads that are under way end with ErrClosed. It may be called more than once.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed, s.mem, s.end.buf = true, nil, nil
	if s.file == nil {
		return nil
	}
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("output: closing the spool: %w", err)
	}
	return nil
}

// NotKeptError says that a read met bytes that were not kept.
type NotKeptError struct {
	From, To int64 // the bytes that are gone; To is where the last bytes begin
}

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("output: bytes %d to %d were not kept; read on at %d", e.From, e.To, e.To)
}

// snapshot is the spool at one moment: what it holds does not change any more, except by Close.
type snapshot struct {
	mem      []byte
	file     *os.File
	kept     int64
	tail     []byte // the bytes from tailAt to total
	tailAt   int64
	total    int64
	finished bool
}

func (s *Spool) snapshot() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	tail := s.end.bytes()
	return &snapshot{
		mem: s.mem, file: s.file, kept: s.kept, tail: tail, tailAt: s.total - int64(len(tail)),
		total: s.total, finished: s.finished,
	}, nil
}

// gap says whether bytes between the first and the last ones are gone.
func (v *snapshot) gap() bool { return v.tailAt > v.kept }

func (v *snapshot) ReadAt(p []byte, off int64) (n int, err error) {
	if off < v.kept {
		n = int(min(int64(len(p)), v.kept-off))
		if v.file == nil {
			copy(p[:n], v.mem[off:])
		} else if m, err := v.file.ReadAt(p[:n], off); m < n {
			if errors.Is(err, os.ErrClosed) {
				err = ErrClosed
			}
			return m, fmt.Errorf("output: reading the spool: %w", err)
		}
		off += int64(n)
	}
	switch {
	case n == len(p):
		return n, nil
	case off >= v.total:
		return n, io.EOF
	case off < v.tailAt:
		return n, &NotKeptError{From: v.kept, To: v.tailAt}
	}
	n += copy(p[n:], v.tail[off-v.tailAt:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// read returns the bytes from lo to hi, all of which are kept.
func (v *snapshot) read(lo, hi int64) ([]byte, error) {
	p := make([]byte, hi-lo)
	if n, err := v.ReadAt(p, lo); n < len(p) {
		return nil, err
	}
	return p, nil
}
