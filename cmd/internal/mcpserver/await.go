package mcpserver

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/session/registry"
)

// progressEvery is how often a client that wants to know is told that a command runs.
const progressEvery = time.Second

// waiting returns a context that ends when a call has waited for so long, is canceled, or nobody will read its answer; and
// tells the client meanwhile how it goes, if the client asked for that. stop ends both.
func (s *Server) waiting(ctx context.Context, c *call, wait time.Duration, how func() progress) (wctx context.Context, stop func()) {
	wctx, cancel := context.WithTimeout(ctx, wait)
	unhook := context.AfterFunc(s.closing, cancel)
	token := c.req.Params.GetProgressToken()
	if token == nil || wait == 0 {
		return wctx, func() { unhook(); cancel() }
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.report(wctx, c, token, how) })
	return wctx, func() { unhook(); cancel(); wg.Wait() }
}

// progress is how far a call has come.
type progress struct {
	done, total float64
	text        string
}

func (s *Server) report(ctx context.Context, c *call, token any, how func() progress) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p := how()
			c.reported = beyond(c.reported, p)
			// The client may be gone; then the call ends too.
			_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: c.reported, Total: p.total, Message: p.text,
			})
		}
	}
}

// beyond is the progress to report after last: the protocol wants it to grow with each report. Where nothing more is done, part of the
// way to the next is.
func beyond(last float64, p progress) float64 {
	if p.done > last {
		return p.done
	}
	return last + (math.Floor(last)+1-last)/16
}

// await waits for a command up to wait, for what w names besides. If the call is canceled, the command is stopped when
// owned says so. Waiting for an approval does not take from the time that the command has.
func (s *Server) await(ctx context.Context, c *call, x *registry.Exec, wait time.Duration, w registry.Wait, owned bool) registry.Wake {
	began := time.Now()
	if owned {
		defer func() {
			if ctx.Err() != nil && s.closing.Err() == nil {
				x.Stop()
			}
		}()
	}
	if answered := x.Answered(); answered != nil && x.Awaiting() {
		wctx, stop := s.waiting(ctx, c, wait, func() progress {
			return progress{done: time.Since(began).Seconds(), text: x.Entry().Host().Name + ": waiting for approval"}
		})
		over := false
		select {
		case <-answered:
			over = true
		case <-wctx.Done():
		}
		stop()
		if !over {
			return registry.WokeTime
		}
		wait = min(wait, maxWait-time.Since(began))
	}
	wctx, stop := s.waiting(ctx, c, wait, func() progress {
		d := time.Since(began)
		return progress{done: d.Seconds(), text: fmt.Sprintf("%s: running for %v, %d bytes so far", x.Entry().Host().Name, d.Round(time.Second), x.Printed())}
	})
	defer stop()
	return x.WaitFor(wctx, w)
}
