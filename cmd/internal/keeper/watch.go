package keeper

import (
	"bytes"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type watchIn struct {
	ID string `path:"id" maxLength:"80" doc:"of a session or terminal, of whomever"`
}

// Times and sizes of watching.
const (
	watchSilence = 100 * time.Millisecond // after which what redaction holds back is shown as far as may be
	watchGather  = 10 * time.Millisecond  // output that comes in many small pieces is shown in larger ones
	maxBacklog   = 1 << 20                // bytes of an output that wait for a reader; of more only the last are shown
	maxListed    = 256                    // bytes of a command that a list tells; the stream tells all of it
	maxTaken     = registry.DefaultSpool  // bytes that are looked at before a reader gets something
)

func (k *Keeper) addWatch(a *api) {
	const tag = "watch"
	add(a, route{method: "GET", path: "/v1/watch", id: "list-watched", summary: "Everybody's sessions, and the terminals that are open", tag: tag, need: needWatch},
		func(context.Context, *caller, *none) (*body[wire.WatchedList], error) {
			return &body[wire.WatchedList]{&wire.WatchedList{Items: k.watched()}}, nil
		})
	stream(a, route{method: "GET", path: "/v1/watch/{id}/stream", id: "watch", tag: tag, need: needWatch,
		summary: "What happens in a session or terminal, redacted: events “session” first, then “command”, “output”, “result”, of terminals “output” and “resize”, and “closed” at the end"}, k.watch)
}

// watched is what is told of everybody's sessions and terminals, the oldest first.
func (k *Keeper) watched() []wire.Watched {
	all := k.watchedTerminals()
	for owner, entries := range k.everybodys() {
		for _, e := range entries {
			all = append(all, k.watchedSession(owner, e))
		}
	}
	slices.SortStableFunc(all, func(a, b wire.Watched) int { return a.Opened.Compare(b.Opened) })
	if all == nil {
		all = []wire.Watched{}
	}
	return all
}

// everybodys returns all sessions, by whose they are.
func (k *Keeper) everybodys() map[string][]*registry.Entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := map[string][]*registry.Entry{}
	for key, r := range k.realms {
		all[key.principal] = append(all[key.principal], r.reg.List(key.principal)...)
	}
	return all
}

// anybodys finds a session by its id, and whose it is.
func (k *Keeper) anybodys(id string) (e *registry.Entry, owner string) {
	for owner, entries := range k.everybodys() {
		for _, e := range entries {
			if e.ID() == id {
				return e, owner
			}
		}
	}
	return nil, ""
}

func (k *Keeper) watchedSession(owner string, e *registry.Entry) wire.Watched {
	w := wire.Watched{
		ID: e.ID(), Kind: wire.KindSession, Name: k.guarded(e.Name()), Host: e.Host().Name, Owner: owner, CWD: k.guarded(e.Dir()),
		Opened: e.Opened().UTC(), Sandbox: e.Sandbox(),
	}
	if x := e.Current(); x != nil {
		w.Exec = x.ID()
		if v, err := x.View(nothing); err == nil {
			w.Command = clipped(k.guarded(v.Result.Command), maxListed)
		}
	}
	return w
}

// clipped cuts a text for a list to so many bytes, at the border of a character.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := most - len("…")
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// guarded takes secrets out of a text for somebody whose it is not.
func (k *Keeper) guarded(text string) string {
	text, _ = k.secrets.String(text, redact.Guarded)
	return text
}

// watch follows a session from command to command, until it is closed or the reader goes.
func (k *Keeper) watch(_ context.Context, _ *caller, in *watchIn) (func(huma.Context), error) {
	if t := k.terminals.get(in.ID); t != nil {
		return k.watchTerminal(t)
	}
	e, owner := k.anybodys(in.ID)
	if e == nil {
		return nil, notFound("session", in.ID)
	}
	return func(hc huma.Context) {
		s, r := startSSE(hc)
		w := &watcher{k: k, s: s}
		if s.send("session", "", k.watchedSession(owner, e)) == nil {
			w.session(r.Context(), e)
		}
	}, nil
}

// watcher shows something to one reader.
type watcher struct {
	k *Keeper
	s *sse
}

// session shows the command that runs, or the last one, and all that come after.
func (w *watcher) session(ctx context.Context, e *registry.Entry) {
	var at *registry.Exec
	first := true
	for {
		more := e.Changed()
		over := isClosed(e.Done()) // asked first, so that what comes last is not missed
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
		case w.s.flush() != nil || !w.s.wait(ctx, more, e.Done()):
			return
		}
	}
}

// closed tells that nothing more comes.
func (w *watcher) closed() {
	if w.s.send("closed", "", wire.WatchClosed{}) == nil {
		_ = w.s.flush()
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
		Exec: x.ID(), Command: w.k.guarded(v.Result.Command), CWD: w.k.guarded(dir), Started: at.UTC(), Interactive: cmd.Interactive,
		Rows: cmd.Size.Rows, Cols: cmd.Size.Cols,
	}
	if w.s.send("command", "", begins) != nil {
		return false
	}
	stdout, stderr := w.k.passage(registry.Stdout), w.k.passage(registry.Stderr)
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
		if w.s.flush() != nil {
			return false
		}
		if !stdout.behind && !stderr.behind && !w.rest(ctx, more, x.Done(), stdout, stderr) {
			return false
		}
	}
}

// result tells how a command has ended.
func (w *watcher) result(x *registry.Exec) bool {
	v, err := x.View(nothing)
	if err != nil {
		return true
	}
	r := &v.Result
	end := wire.WatchResult{
		Exec: x.ID(), Status: string(r.Status), ExitCode: r.ExitCode, Signal: r.Signal, DurationMS: r.Duration.Milliseconds(), CWD: w.k.guarded(r.Dir),
	}
	if r.Status != session.StatusOK && r.Err != nil {
		end.Error = w.k.guarded(r.Err.Error())
	}
	return w.s.send("result", "", end) == nil && w.s.flush() == nil
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
		if err := w.s.send("output", "", out); err != nil {
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
	} else if !w.s.wait(ctx, more, done) {
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

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// passage is an output on its way to a reader who must not see its secrets, whoever its first reader is.
type passage struct {
	set     *redact.Set
	name    string
	at      int64 // of the output, what has been taken
	red     *redact.Writer
	held    bool   // red may hold something back that a silence shows
	blind   bool   // after a gap, until the end of the line: it may be the rest of a secret
	over    bool   // nothing more comes
	behind  bool   // there is more that could be taken
	buf     []byte // is decided
	skipped int64  // bytes before buf that were left out
}

func (k *Keeper) passage(name string) *passage {
	p := &passage{set: k.secrets, name: name}
	p.red = p.set.Writer(decided{p}, redact.Guarded)
	return p
}

// decided takes what redaction lets through.
type decided struct{ p *passage }

func (d decided) Write(b []byte) (int, error) {
	p := d.p
	p.buf = append(p.buf, b...)
	return len(b), nil
}

// add takes the next bytes.
func (p *passage) add(b []byte) {
	if p.blind {
		i := bytes.IndexByte(b, '\n') + 1
		if p.blind = i == 0; p.blind {
			i = len(b)
		}
		p.skipped += int64(i)
		b = b[i:]
	}
	if len(b) > 0 {
		_, _ = p.red.Write(b) // which never fails: decided does not
		p.held = true
	}
}

// take takes what there is of a command's output; of one that comes faster than it is taken, a good deal. All of it passes
// redaction, also what nobody will see, since a secret may begin there.
func (p *passage) take(ctx context.Context, x *registry.Exec) error {
	for end := p.at + maxTaken; ctx.Err() == nil; {
		page, err := x.Page(p.name, p.at, defaultPage)
		if err != nil {
			return err
		}
		p.at = page.Next
		if page.Skipped > 0 {
			// What was held back is left out with what it led to.
			p.skipped += page.Skipped + int64(len(p.buf))
			p.red, p.buf, p.blind = p.set.Writer(decided{p}, redact.Guarded), p.buf[:0], true
		}
		p.add(page.Text)
		if len(p.buf) > 2*maxBacklog {
			p.trim(maxBacklog)
		}
		if page.End || len(page.Text) == 0 {
			p.behind = false
			return nil
		}
		if p.behind = p.at >= end && x.Running(); p.behind {
			return nil
		}
	}
	return context.Cause(ctx)
}

// hush shows what is held back as far as may be.
func (p *passage) hush() {
	_ = p.red.Flush()
	p.held = false
}

// finish shows all that is held back: the output is over.
func (p *passage) finish() {
	_ = p.red.Close()
	p.over = true
}

// trim leaves out all but the last bytes, from the beginning of a character on.
func (p *passage) trim(most int) {
	n := len(p.buf) - most
	if n <= 0 {
		return
	}
	for i := 0; i < utf8.UTFMax && n < len(p.buf) && !utf8.RuneStart(p.buf[n]); i++ {
		n++
	}
	p.skipped += int64(n)
	p.buf = p.buf[:copy(p.buf, p.buf[n:])]
}

// piece is how many bytes are sent next: whole characters, as far as they can be told.
func (p *passage) piece() int {
	n := min(len(p.buf), chunkBytes)
	if p.over && n == len(p.buf) {
		return n
	}
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(p.buf[n-back]) {
			if !utf8.FullRune(p.buf[n-back : n]) {
				return n - back
			}
			break
		}
	}
	return n
}
