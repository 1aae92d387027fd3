package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// boundInMemory is how much of the standard input of a command that waits for approval is kept in memory; more waits in a
// file.
const boundInMemory = 256 << 10

// bond is what somebody was asked about, beside the command itself.
type bond struct {
	input *boundInput // nil without one
	shell *shell      // the one that lived then; nil if there was none
	dir   string      // as it was shown; "" if it was not known yet
}

// head is the beginning of the input, as it was shown.
func (b *bond) head() string {
	if b.input == nil {
		return ""
	}
	return b.input.head
}

// bind fixes what x would run with: the shell that it was asked about, the directory, and all of its standard input, which
// is read to its end. ctx bounds that. A reader that blocks may be read past its end.
func (s *Session) bind(ctx context.Context, x *Exec) error {
	s.bindShell(x)
	if x.cmd.Stdin == nil || x.cmd.Interactive {
		return nil
	}
	in, err := bindInput(ctx, x.cmd.Stdin)
	if err != nil {
		return err
	}
	x.bond.input, x.cmd.Stdin = in, in
	s.wg.Go(func() { <-x.done; in.close() })
	return nil
}

func (s *Session) bindShell(x *Exec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.bond.dir = s.dir
	if s.sh != nil && s.sh.alive() {
		x.bond.shell = s.sh
	}
}

// holds reports whether x, if it was approved, would run as whoever approved it saw that, and fails it else.
func (s *Session) holds(x *Exec, sh *shell) bool {
	if x.answer.ID == "" || x.res.Lane != laneSession {
		return true
	}
	b := &x.bond
	var why string
	switch {
	case b.shell == sh:
		return true
	case b.shell != nil:
		why = "the session's shell has ended meanwhile, and another one does not have its state"
	case b.dir != "" && sh.hello.Dir != b.dir:
		why = fmt.Sprintf("it was for the directory %q, and the shell is in %q", b.dir, sh.hello.Dir)
	default:
		return true
	}
	s.mu.Lock()
	s.dir = sh.hello.Dir // the next one is asked about as it is
	s.mu.Unlock()
	x.fail(StatusDenied, "void", fmt.Errorf("%w: %s; request it again", ErrVoid, why))
	return false
}

// boundInput is a command's standard input, whole. It is read once.
type boundInput struct {
	io.Reader
	bytes int64
	sum   string
	head  string
	file  *os.File // nil where memory was enough
	name  string   // what is left to remove; "" is nothing
}

// bindInput reads r to its end. It goes on reading after the end of ctx until r's Read returns, and keeps nothing then.
func bindInput(ctx context.Context, r io.Reader) (*boundInput, error) {
	type result struct {
		in  *boundInput
		err error
	}
	c := make(chan result)
	go func() { // ends with r's Read, and with ctx
		k := &keeping{sum: sha256.New()}
		err := k.all(ctx, r)
		in := k.input()
		if err == nil {
			err = in.rewind(k)
		}
		select {
		case c <- result{in, err}:
		case <-ctx.Done():
			in.close()
		}
	}()
	select {
	case got := <-c:
		if got.err != nil {
			got.in.close()
			return nil, got.err
		}
		return got.in, nil
	case <-ctx.Done():
		return nil, ctxerr.Of(ctx)
	}
}

// keeping is input on its way into memory or a file.
type keeping struct {
	n    int64
	sum  hash.Hash
	mem  []byte
	file *os.File
	name string // what is left to remove; "" is nothing
}

func (k *keeping) all(ctx context.Context, r io.Reader) error {
	buf := make([]byte, feedPiece)
	for ctx.Err() == nil {
		n, err := r.Read(buf)
		if kerr := k.keep(buf[:n]); kerr != nil {
			return kerr
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("standard input cannot be read: %w", err)
		}
	}
	return ctxerr.Of(ctx)
}

func (k *keeping) keep(p []byte) (err error) {
	if k.n += int64(len(p)); k.n > MaxBoundInput {
		return fmt.Errorf("standard input of a command that needs an approval is kept until then, and has more than %d bytes: copy it to the host as a file", MaxBoundInput)
	}
	k.sum.Write(p)
	if len(k.mem)+len(p) <= boundInMemory && k.file == nil {
		k.mem = append(k.mem, p...)
		return nil
	}
	if k.file == nil {
		if k.file, err = os.CreateTemp("", "fairlead-stdin-*"); err != nil { // 0600
			return fmt.Errorf("standard input cannot be kept: %w", err)
		}
		if os.Remove(k.file.Name()) != nil { // the system does not let us while it is open
			k.name = k.file.Name()
		}
		if _, err = k.file.Write(k.mem); err != nil {
			return fmt.Errorf("standard input cannot be kept: %w", err)
		}
	}
	if _, err = k.file.Write(p); err != nil {
		return fmt.Errorf("standard input cannot be kept: %w", err)
	}
	return nil
}

func (k *keeping) input() *boundInput {
	return &boundInput{
		bytes: k.n, sum: hex.EncodeToString(k.sum.Sum(nil)), head: string(k.mem[:min(len(k.mem), policy.StdinShown)]), file: k.file, name: k.name,
	}
}

// rewind makes what was kept readable from its beginning.
func (in *boundInput) rewind(k *keeping) error {
	in.Reader = bytes.NewReader(k.mem)
	if in.file != nil {
		if _, err := in.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("standard input cannot be kept: %w", err)
		}
		in.Reader = in.file
	}
	return nil
}

// close gives back what input is kept in.
func (in *boundInput) close() {
	if in.file != nil {
		in.file.Close()
	}
	if in.name != "" {
		os.Remove(in.name)
	}
}
