package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// spoolMemory is how much of standard input is kept in memory; more goes to a file.
const spoolMemory = 1 << 20

// spool is standard input, read once for many. Its readers do not wait for each other.
type spool struct {
	mem  []byte
	file *os.File // nil while mem is all
	size int64
}

// newSpool reads all of r. The end of ctx ends the wait, not the Read, which ends with its input or the program.
func newSpool(ctx context.Context, r io.Reader) (*spool, error) {
	type outcome struct {
		s   *spool
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		s := &spool{}
		err := s.fill(r)
		done <- outcome{s, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			got.s.close()
			return nil, got.err
		}
		return got.s, nil
	case <-ctx.Done():
		go func() { (<-done).s.close() }()
		return nil, context.Cause(ctx)
	}
}

func (s *spool) fill(r io.Reader) error {
	var head bytes.Buffer
	if _, err := io.Copy(&head, io.LimitReader(r, spoolMemory)); err != nil {
		return fmt.Errorf("standard input cannot be read: %w", err)
	}
	s.mem, s.size = head.Bytes(), int64(head.Len())
	if s.size < spoolMemory {
		return nil
	}
	f, err := os.CreateTemp("", "fairlead-stdin-*") // 0600
	if err != nil {
		return fmt.Errorf("standard input cannot be kept for all hosts: %w", err)
	}
	s.file = f
	if err := os.Remove(f.Name()); err != nil { // from here on it ends with the program
		return fmt.Errorf("standard input cannot be kept for all hosts: %w", err)
	}
	if _, err = f.Write(s.mem); err == nil {
		s.mem = nil
		var n int64
		n, err = io.Copy(keeper{f}, r)
		s.size += n
	}
	var keep *keepError
	switch {
	case errors.As(err, &keep):
		return fmt.Errorf("standard input cannot be kept for all hosts: %w; TMPDIR names another directory", keep.error)
	case err != nil:
		return fmt.Errorf("standard input cannot be read: %w", err)
	}
	return nil
}

// keeper tells errors of writing from those of reading.
type keeper struct{ f *os.File }

type keepError struct{ error }

func (e *keepError) Unwrap() error { return e.error }

func (k keeper) Write(p []byte) (int, error) {
	n, err := k.f.Write(p)
	if err != nil {
		err = &keepError{err}
	}
	return n, err
}

// reader returns a reader of all of it, from the start.
func (s *spool) reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.mem)
	}
	return io.NewSectionReader(s.file, 0, s.size)
}

// close gives the file back. Readers fail from then on.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}
