package cp

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// When progress appears, and how often it changes: on a terminal, and elsewhere, where each is a line.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	linesEvery    = 30 * time.Second
)

// watch shows progress while hosts are awaited, and says so when the copy is being stopped. Its goroutine ends with stop.
func (v *view) watch(ctx context.Context) (stop func()) {
	end := make(chan struct{})
	var wg sync.WaitGroup
	tty := v.o.IO.ErrTTY
	wg.Go(func() {
		after, every := progressAfter, progressEvery
		if !tty {
			after, every = linesEvery, linesEvery
		}
		tick := time.NewTicker(after)
		defer tick.Stop()
		ended := ctx.Done()
		for {
			select {
			case <-end:
				if tty {
					v.o.IO.SetStatus("")
				}
				return
			case <-ended:
				ended = nil
				if _, running := v.running(); len(running) > 0 {
					io.WriteString(v.o.IO.Err, outcome.Stopping(context.Cause(ctx), hosts.Fold(running)))
				}
			case <-tick.C:
				tick.Reset(every)
				line := v.progress(time.Since(v.began))
				if tty {
					v.o.IO.SetStatus(clip(line, v.o.IO.Width()-1))
				} else if !v.o.JSON {
					fmt.Fprintf(v.o.IO.Err, "fairlead: %s\n", line)
				}
			}
		}
	})
	return func() {
		close(end)
		wg.Wait()
	}
}

func clip(line string, width int) string {
	if len(line) > width {
		return line[:max(0, width)]
	}
	return line
}

// progress says how far the copy is: as a whole, and the host that is behind all others.
func (v *view) progress(took time.Duration) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var bytes, total int64
	known := true
	var slowest *hostView
	for _, h := range v.hosts {
		all := max(h.total, v.each)
		known = known && (all > 0 || h.done)
		if h.done {
			bytes += max(h.bytes, 0)
			total += max(h.bytes, 0)
			continue
		}
		bytes += h.bytes
		total += all
		if h.begun && (slowest == nil || h.bytes < slowest.bytes) {
			slowest = h
		}
	}
	line := ""
	if len(v.hosts) > 1 {
		line = fmt.Sprintf("%d/%d hosts, ", v.n, len(v.hosts))
	}
	rate := float64(bytes) / max(took.Seconds(), 0.001)
	if known && total > 0 {
		line += fmt.Sprintf("%d%% of %s, ", bytes*100/total, size(total))
	} else {
		line += size(bytes) + ", "
	}
	line += size(int64(rate)) + "/s"
	if left := total - bytes; known && left > 0 && rate > 0 {
		line += ", " + clock(time.Duration(float64(left)/rate*float64(time.Second))) + " left"
	}
	if slowest != nil && len(v.hosts) > 1 {
		line += fmt.Sprintf("; %s %s", slowest.label, part(slowest.bytes, max(slowest.total, v.each)))
	}
	return line
}

func part(n, of int64) string {
	if of > 0 {
		return fmt.Sprintf("%d%%", n*100/of)
	}
	return size(n)
}

// clock is a duration as m:ss or h:mm:ss.
func clock(d time.Duration) string {
	s := int64(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
