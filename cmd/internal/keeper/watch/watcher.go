package watch

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// watcher shows something to one reader.
type watcher struct {
	ws *Watching
	s  *stream.Events
}

// session shows the command that runs, or the last one, and all that come after.
func (w *watcher) session(ctx context.Context, e *registry.Entry) {
	var at *registry.Exec
	first := true
	for {
		more := e.Changed()
		over := stream.IsClosed(e.Done()) // asked first, so that what comes last is not missed
		news := e.Since(at)
		if first && len(news) > 1 {
			news = news[len(news)-1:]
		}
		first = false
		for _, x := range news {
			if !w.command(ctx, x) {
				return
			}
			at = x
		}
		switch {
		case len(news) > 0:
		case over:
			w.closed()
			return
		case w.s.Flush() != nil || !w.s.Wait(ctx, more, e.Done()):
			return
		}
	}
}

// closed tells that nothing more comes.
func (w *watcher) closed() {
	if w.s.Send("closed", "", wire.WatchClosed{}) == nil {
		_ = w.s.Flush()
	}
}

// nothing is of the output, which comes by itself.
var nothing = registry.Budgets{Stdout: output.Budget{MaxBytes: 1}, Stderr: output.Budget{MaxBytes: 1}}

// command shows a command to its end. It returns false when there is no use in going on.
func (w *watcher) command(ctx context.Context, x *registry.Exec) bool {
	v, err := x.View(nothing)
	if err != nil {
		return true // it is not kept any more
	}
	cmd := x.Command()
	at, dir := x.Began()
	begins := wire.WatchCommand{
		Exec: x.ID(), State: stateOf(x), Command: w.ws.guardedCommand(v.Result.Command), CWD: w.ws.guarded(dir), Started: at.UTC(), Interactive: cmd.Interactive,
		Rows: cmd.Size.Rows, Cols: cmd.Size.Cols,
	}
	if w.s.Send("command", "", begins) != nil {
		return false
	}
	if begins.State == string(session.AwaitingApproval) && !w.answered(ctx, x) {
		return false
	}
	stdout, stderr := w.ws.passage(registry.Stdout), w.ws.passage(registry.Stderr)
	for {
		more := x.Changed()
		over := !x.Running() // asked first, so that what comes last is not missed
		for _, p := range []*passage{stdout, stderr} {
			if p.take(ctx, x) != nil {
				return ctx.Err() == nil // it is not kept any more
			}
			if over {
				p.finish()
			}
			if w.print(x.ID(), p) != nil {
				return false
			}
		}
		if over {
			return w.result(x)
		}
		if w.s.Flush() != nil {
			return false
		}
		if !stdout.behind && !stderr.behind && !w.rest(ctx, more, x.Done(), stdout, stderr) {
			return false
		}
	}
}

// answered waits for the answer about a command that awaits approval, and tells that there is one. It returns false when there
// is no use in going on.
func (w *watcher) answered(ctx context.Context, x *registry.Exec) bool {
	if w.s.Flush() != nil || !w.s.Wait(ctx, x.Answered(), x.Done()) {
		return false
	}
	state := session.Running
	if x.Unsent() {
		state = session.Done
	}
	return w.s.Send("answered", "", wire.WatchAnswered{Exec: x.ID(), State: string(state)}) == nil
}

// result tells how a command has ended.
func (w *watcher) result(x *registry.Exec) bool {
	v, err := x.View(nothing)
	if err != nil {
		return true
	}
	r := &v.Result
	end := wire.WatchResult{
		Exec: x.ID(), Status: string(r.Status), ExitCode: r.ExitCode, Signal: r.Signal, DurationMS: r.Duration.Milliseconds(), CWD: w.ws.guarded(r.Dir),
	}
	if r.Status != session.StatusOK && r.Err != nil {
		end.Error = w.ws.guarded(r.Err.Error())
	}
	return w.s.Send("result", "", end) == nil && w.s.Flush() == nil
}

// print sends what is decided of an output.
func (w *watcher) print(exec string, p *passage) error {
	p.trim(maxBacklog)
	for {
		n := p.piece()
		if n == 0 && (!p.over || p.skipped == 0) {
			return nil
		}
		out := wire.WatchOutput{Exec: exec, Stream: p.name, Skipped: p.skipped}
		out.Encoding, out.Data = wire.Encode(p.buf[:n], utf8.Valid(p.buf[:n]))
		if err := w.s.Send("output", "", out); err != nil {
			return err
		}
		p.buf, p.skipped = p.buf[:copy(p.buf, p.buf[n:])], 0
	}
}

// rest waits until there may be more: more or done is closed, or what is held back is shown since nothing came for a while.
// It returns false when there is no use in going on.
func (w *watcher) rest(ctx context.Context, more, done <-chan struct{}, outs ...*passage) bool {
	if slices.ContainsFunc(outs, func(p *passage) bool { return p.held }) {
		silence := time.NewTimer(watchSilence)
		defer silence.Stop()
		select {
		case <-more:
		case <-done:
		case <-silence.C:
			for _, p := range outs {
				p.hush()
			}
			return true
		case <-ctx.Done():
			return false
		}
	} else if !w.s.Wait(ctx, more, done) {
		return false
	}
	gather := time.NewTimer(watchGather)
	defer gather.Stop()
	select {
	case <-done:
	case <-gather.C:
	case <-ctx.Done():
		return false
	}
	return true
}
