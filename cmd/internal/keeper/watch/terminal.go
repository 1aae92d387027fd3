package watch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/terminal"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// watchTerminal shows a terminal from its beginning, as it is recorded.
func (ws *Watching) watchTerminal(t *terminal.Terminal) (func(huma.Context), error) {
	told, rec := t.Watched(), t.Recording()
	if rec == nil {
		return nil, problem.New(http.StatusConflict, terminal.CodeRecording, "the terminal %s is not recorded, so it cannot be watched", told.ID)
	}
	return func(hc huma.Context) {
		f, err := os.Open(rec.Path())
		if err != nil {
			ws.Log.Printf("the terminal %s cannot be watched: %s", told.ID, terminals.Reason(err))
			return
		}
		defer f.Close()
		s, r := stream.Start(hc)
		w := &terminalWatcher{watcher: watcher{ws: ws, s: s}, ctx: r.Context(), file: f, rec: rec, out: ws.passage(registry.Stdout)}
		if s.Send("session", "", told) == nil {
			w.run()
		}
	}, nil
}

// errGone says that nobody watches any more.
var errGone = errors.New("the reader has gone")

// terminalWatcher shows one terminal to one reader, no faster than that takes it: what is to come waits in the file.
type terminalWatcher struct {
	watcher
	ctx    context.Context
	file   *os.File
	rec    *terminals.Recording
	out    *passage
	failed error // why the reader gets no more
}

// run shows the terminal to its end. A recording that is torn ends where it is.
func (w *terminalWatcher) run() {
	_, _ = screen.Play(w, terminalOutput{w}, screen.PlayOptions{IdleLimit: -1, Resize: w.resize})
	if w.failed != nil || w.ctx.Err() != nil {
		return
	}
	w.out.finish()
	if w.print("", w.out) == nil {
		w.closed()
	}
}

// Read gives what is recorded, and waits for more. Meanwhile the reader gets what there is.
func (w *terminalWatcher) Read(p []byte) (int, error) {
	for {
		more := w.rec.Changed()
		over := stream.IsClosed(w.rec.Done()) // asked first, so that what comes last is not missed
		n, err := w.file.Read(p)
		switch {
		case w.failed != nil:
			return 0, w.failed
		case n > 0:
			return n, nil
		case err != nil && !errors.Is(err, io.EOF):
			return 0, err
		case over:
			return 0, io.EOF
		}
		if w.failed = w.print("", w.out); w.failed == nil {
			w.failed = w.s.Flush()
		}
		if w.failed != nil {
			return 0, w.failed
		}
		if !w.rest(w.ctx, more, w.rec.Done(), w.out) {
			w.failed = errGone
			return 0, w.failed
		}
	}
}

func (w *terminalWatcher) resize(cols, rows int) {
	if w.failed == nil {
		w.failed = w.print("", w.out)
	}
	if w.failed == nil {
		w.failed = w.s.Send("resize", "", wire.TerminalSize{Rows: rows, Cols: cols})
	}
}

// terminalOutput takes what was printed.
type terminalOutput struct{ w *terminalWatcher }

func (o terminalOutput) Write(p []byte) (int, error) {
	w := o.w
	if w.failed != nil {
		return 0, w.failed
	}
	w.out.add(p)
	if len(w.out.buf) >= stream.ChunkBytes {
		if w.failed = w.print("", w.out); w.failed != nil {
			return 0, w.failed
		}
	}
	return len(p), nil
}
