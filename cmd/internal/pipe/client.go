package pipe

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

// Client is the other side.
type Client struct {
	NoAgent bool // the host refuses to forward the agent

	f      *frames
	hangUp func() error

	mu    sync.Mutex // guards what follows
	more  sync.Cond
	sent  uint64
	taken uint64
	over  bool
}

// NewClient asks for a program over a connection to the keeper. A *wire.Problem says why it was refused.
func NewClient(in io.Reader, out io.WriteCloser, r Request) (*Client, error) {
	c := &Client{f: newFrames(in, out), hangUp: out.Close}
	c.more.L = &c.mu
	p, err := c.f.request(r)
	if err != nil {
		return nil, err
	}
	var b begun
	if len(p) > 0 && json.Unmarshal(p, &b) != nil {
		return nil, ErrCutOff
	}
	c.NoAgent = b.NoAgent
	return c, nil
}

// request sends r and returns what the keeper says of what has begun. A *wire.Problem says why nothing has.
func (f *frames) request(r Request) ([]byte, error) {
	if err := f.writeJSON(frameRequest, r); err != nil {
		return nil, ErrCutOff
	}
	kind, p, err := f.read(nil)
	switch {
	case err != nil:
		return nil, ErrCutOff
	case kind == frameProblem:
		problem := &wire.Problem{}
		if err := json.Unmarshal(p, problem); err != nil {
			return nil, ErrCutOff
		}
		return nil, problem
	case kind != frameBegun:
		return nil, ErrCutOff
	}
	return p, nil
}

// ErrCutOff is the end of a program that the keeper did not tell.
var ErrCutOff = errors.New("the keeper went away, and how the command ended is not known")

// Resize tells the terminal's new size.
func (c *Client) Resize(size session.Size) { _ = c.f.writeJSON(frameResize, size) }

// Close hangs up.
func (c *Client) Close() error { return c.hangUp() }

// Copy connects the program with the caller's streams until its end. A Read of stdin that blocks is not awaited.
func (c *Client) Copy(stdin io.Reader, stdout, stderr io.Writer) (session.Exit, error) {
	go c.give(stdin)
	defer c.end()
	var buf []byte
	var enough error // stdout is not read any more
	for {
		kind, p, err := c.f.read(buf)
		buf = p[:0]
		if err != nil {
			return session.Exit{}, cmp.Or(enough, ErrCutOff)
		}
		switch kind {
		case frameOutput:
			if _, err = stdout.Write(p); errors.Is(err, syscall.EPIPE) {
				enough = fmt.Errorf("the output cannot be written: %w", err)
				stdout, err = io.Discard, c.f.write(frameEnough, nil)
			}
		case frameErrors:
			_, err = stderr.Write(p)
		case frameTaken:
			if len(p) == 8 {
				c.mu.Lock()
				c.taken = binary.BigEndian.Uint64(p)
				c.more.Broadcast()
				c.mu.Unlock()
			}
		case frameEnd:
			var e End
			if err := json.Unmarshal(p, &e); err != nil {
				return session.Exit{}, ErrCutOff
			}
			if e.Why != "" {
				return session.Exit{Code: e.Code, Signal: e.Signal}, cmp.Or(enough, errors.New(e.Why))
			}
			return session.Exit{Code: e.Code, Signal: e.Signal}, nil
		}
		if err != nil {
			return session.Exit{}, fmt.Errorf("the output cannot be written: %w", err)
		}
	}
}

func (c *Client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.more.Broadcast()
}

// give sends standard input.
func (c *Client) give(stdin io.Reader) {
	buf := make([]byte, chunk)
	for stdin != nil {
		n, err := stdin.Read(buf)
		if n > 0 {
			c.mu.Lock()
			for !c.over && c.sent-c.taken >= window {
				c.more.Wait()
			}
			over := c.over
			c.sent += uint64(n)
			c.mu.Unlock()
			if over || c.f.write(frameInput, buf[:n]) != nil {
				return
			}
		}
		if err != nil {
			break
		}
	}
	_ = c.f.write(frameEOF, nil)
}
