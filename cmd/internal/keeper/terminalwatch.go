package keeper

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// openTerminals is the full terminals that are open. The zero value is none.
type openTerminals struct {
	mu sync.Mutex // guards what follows
	m  map[string]*full
}

// add lists one until it is told to leave it out.
func (o *openTerminals) add(t *full) (leave func()) {
	id := t.entry.ID()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil {
		o.m = map[string]*full{}
	}
	o.m[id] = t
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.m, id)
	}
}

// get returns the one of an id, or nil.
func (o *openTerminals) get(id string) *full {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.m[id]
}

// recorded returns whose one is that is still being recorded.
func (o *openTerminals) recorded(id string) (owner string, live bool) {
	t := o.get(id)
	if t == nil || t.rec == nil || isClosed(t.rec.Done()) {
		return "", false
	}
	return t.owner, true
}

func (o *openTerminals) all() (all []*full) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.m {
		all = append(all, t)
	}
	return all
}

// watched is what is told of it.
func (t *full) watched() wire.Watched {
	w := wire.Watched{ID: t.entry.ID(), Kind: wire.KindTerminal, Host: t.host, Owner: t.owner, Opened: t.entry.Start.UTC()}
	if t.rec != nil {
		w.Recording = w.ID
	}
	return w
}

// watchTerminal shows a terminal from its beginning, as it is recorded.
func (k *Keeper) watchTerminal(t *full) (func(huma.Context), error) {
	if t.rec == nil {
		return nil, problem.New(http.StatusConflict, codeRecording, "the terminal %s is not recorded, so it cannot be watched", t.entry.ID())
	}
	return func(hc huma.Context) {
		f, err := os.Open(t.rec.Path())
		if err != nil {
			k.log.Printf("the terminal %s cannot be watched: %s", t.entry.ID(), terminals.Reason(err))
			return
		}
		defer f.Close()
		s, r := stream.Start(hc)
		w := &terminalWatcher{watcher: watcher{k: k, s: s}, ctx: r.Context(), file: f, rec: t.rec, out: k.passage(registry.Stdout)}
		if s.Send("session", "", t.watched()) == nil {
			w.run()
		}
	}, nil
}

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
		over := isClosed(w.rec.Done()) // asked first, so that what comes last is not missed
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
			w.failed = errClientGone
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

// watchedTerminals is what is told of the terminals that are open, the oldest first.
func (k *Keeper) watchedTerminals() []wire.Watched {
	var all []wire.Watched
	for _, t := range k.terminals.all() {
		all = append(all, t.watched())
	}
	slices.SortFunc(all, func(a, b wire.Watched) int { return a.Opened.Compare(b.Opened) })
	return all
}
