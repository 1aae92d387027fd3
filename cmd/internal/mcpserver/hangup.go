package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve serves one client over a pair of streams until in ends or ctx does, whose cause it returns then. As soon as the
// client is gone nothing waits any more and leave is called, which ends what should not outlive the client: the registry,
// or what this server has begun (see Leave). Serve returns when leave has.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer, leave func()) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	gone := sync.OnceFunc(func() {
		s.Hangup()
		wg.Go(leave) // what calls wait for ends
	})
	w, to := &watched{r: in, ended: gone}, &oneByOne{w: out}
	// The SDK waits for the calls that run, before it returns because of ctx.
	defer context.AfterFunc(ctx, gone)()
	err := s.Run(ctx, &mcp.IOTransport{Reader: newMessages(w, to), Writer: nopCloser{to}, MaxLineLength: -1}) // lines are bounded before
	gone()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, io.EOF) && !w.over() {
		return fmt.Errorf("the client's messages cannot be read: %w", err)
	}
	return nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// watched is a reader that tells, at once, when there will be nothing more to read: calls may still be waiting for
// commands then, and nobody for them.
type watched struct {
	r     io.Reader
	ended func()
	done  atomic.Bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && w.done.CompareAndSwap(false, true) {
		w.ended()
	}
	return n, err
}

func (w *watched) over() bool { return w.done.Load() }
