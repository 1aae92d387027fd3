package run

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// When the progress line appears, and how often it changes.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// watch shows a progress line while hosts are awaited, and says so when the run is being stopped. Its goroutine ends with
// stop, which takes the line away and waits for it.
func (r *report) watch(ctx context.Context) (stop func()) {
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(progressAfter)
		defer tick.Stop()
		ended := ctx.Done()
		for {
			select {
			case <-end:
				r.o.IO.SetStatus("")
				return
			case <-ended:
				ended = nil
				r.tellStop(context.Cause(ctx))
			case <-tick.C:
				tick.Reset(progressEvery)
				if r.o.IO.ErrTTY && !r.raw() {
					r.draw()
				}
			}
		}
	})
	return func() {
		close(end)
		wg.Wait()
	}
}

// draw shows the progress line, unless a question is there.
func (r *report) draw() {
	r.line.Lock()
	defer r.line.Unlock()
	if r.asks {
		return
	}
	done, running := r.running()
	r.mu.Lock()
	batch := r.batch
	r.mu.Unlock()
	r.o.IO.SetStatus(batch + progressLine(done, len(r.targets), running, r.o.IO.Width()-1-len(batch)))
}

// ask takes the progress line away for a question, which it would overwrite, until that is answered.
func (r *report) ask() (answered func()) {
	set := func(asks bool) {
		r.line.Lock()
		defer r.line.Unlock()
		r.asks = asks
		r.o.IO.SetStatus("")
	}
	set(true)
	return func() { set(false) }
}

// raw reports whether a host writes to the terminal as it likes: nothing may come between.
func (r *report) raw() bool {
	l, ok := r.view.(*live)
	return ok && l.raw
}

// tellStop tells a person who pressed ^C what happens now.
func (r *report) tellStop(cause error) {
	_, running := r.running()
	if len(running) == 0 {
		return
	}
	io.WriteString(r.o.IO.Err, outcome.Stopping(cause, hosts.Fold(running)))
}

// progressLine says how far the run is, and who is awaited, in at most width cells.
func progressLine(done, total int, running []string, width int) string {
	line := fmt.Sprintf("%d/%d done", done, total)
	if len(running) > 0 {
		line += "; waiting for " + some(running, width-len(line)-len("; waiting for "))
	}
	if len(line) > width {
		line = line[:max(0, width)]
	}
	return line
}

// some names as many of names as fit, and counts the others.
func some(names []string, width int) string {
	if all := hosts.Fold(names); len(all) <= width {
		return all
	}
	for n := min(len(names)-1, 8); n > 0; n-- {
		text := fmt.Sprintf("%s and %d more", strings.ReplaceAll(hosts.Fold(names[:n]), ",", ", "), len(names)-n)
		if len(text) <= width {
			return text
		}
	}
	return fmt.Sprintf("%d hosts", len(names))
}
