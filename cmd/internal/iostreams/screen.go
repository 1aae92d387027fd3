package iostreams

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// eraseLine takes the line that the cursor is on away (ECMA-48: CR, then EL).
const eraseLine = "\r\x1b[K"

// screen serialises all writes of the program.
type screen struct {
	mu    sync.Mutex // held while writing: whoever reads slowly holds everybody back
	err   io.Writer
	drawn bool // a status line stands on the terminal
	end   atomic.Pointer[end]
}

// erase takes the status line away. mu is held.
func (sc *screen) erase() {
	if sc.drawn {
		io.WriteString(sc.err, eraseLine)
		sc.drawn = false
	}
}

// Stream is one of the two outputs. Its methods may be called concurrently; each Write arrives in one piece.
type Stream struct {
	screen *screen
	w      io.Writer
	failed error // guarded by screen.mu
}

// Write writes p after the status line was taken away. The first error stays: nothing is written after it.
func (s *Stream) Write(p []byte) (int, error) {
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	if s.failed != nil {
		return 0, s.failed
	}
	s.screen.erase()
	n, err := s.w.Write(p)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err // its path is one that the user did not name
	}
	if err != nil {
		s.failed = err
	}
	return n, err
}

// Err returns the error that ended the stream; nil as long as there was none.
func (s *Stream) Err() error {
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	return s.failed
}

// SetStatus shows line as the last line of the terminal behind Err, until the next write. It must fit into the width and
// hold no control characters. Where Err is no terminal nothing happens. "" takes the line away.
func (s *IOStreams) SetStatus(line string) {
	if !s.ErrTTY {
		return
	}
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	s.screen.erase()
	if line != "" {
		io.WriteString(s.screen.err, line)
		s.screen.drawn = true
	}
}

// Hold takes the status line away and keeps everybody from writing while f runs, for questions on the terminal. What is typed
// is shown meanwhile, unless f sees to that. f must not write to Out or Err.
func (s *IOStreams) Hold(f func()) {
	s.screen.mu.Lock()
	defer s.screen.mu.Unlock()
	s.screen.erase()
	defer aloud()()
	f()
}
