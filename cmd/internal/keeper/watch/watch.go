// Package watch shows sessions and terminals, as they go on and without their secrets, to those who may see what others do.
package watch

import (
	"context"
	"log"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/terminal"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type watchIn struct {
	ID string `path:"id" maxLength:"80" doc:"of any session or terminal"`
}

// Times and sizes of watching.
const (
	watchSilence = 100 * time.Millisecond // after which what redaction holds back is shown as far as may be
	watchGather  = 10 * time.Millisecond  // output that comes in many small pieces is shown in larger ones
	maxBacklog   = 1 << 20                // bytes of an output that wait for a reader; of more only the last are shown
	maxListed    = 256                    // bytes of a command that a list tells; the stream tells all of it
	maxTaken     = registry.DefaultSpool  // bytes that are looked at before a reader gets something
)

// Watching shows sessions and terminals to those who watch them. All fields are required.
type Watching struct {
	Realms    *realm.Book
	Terminals *terminal.Terminals
	Secrets   *redact.Set
	Log       *log.Logger
}

// Add adds the routes of watching.
func (ws *Watching) Add(a *route.API) {
	const tag = "watch"
	route.Add(a, route.Route{Method: "GET", Path: "/v1/watch", ID: "list-watched", Summary: "All sessions, and the terminals that are open", Tag: tag, Need: access.NeedWatch},
		func(context.Context, *access.Caller, *route.None) (*route.Body[wire.WatchedList], error) {
			return route.JSON(&wire.WatchedList{Items: ws.watched()}), nil
		})
	route.AddStream(a, route.Route{Method: "GET", Path: "/v1/watch/{id}/stream", ID: "watch", Tag: tag, Need: access.NeedWatch,
		Summary: "What happens in a session or terminal, redacted: events “session” first, then “command”, “answered”, “output”, “result”, of terminals “output” and “resize”, and “closed” at the end"}, ws.watch)
}

// watched is what is told of everybody's sessions and terminals, the oldest first.
func (ws *Watching) watched() []wire.Watched {
	var all []wire.Watched
	for _, t := range ws.Terminals.All() {
		all = append(all, t.Watched())
	}
	for owner, entries := range ws.Realms.Everybodys() {
		for _, e := range entries {
			all = append(all, ws.watchedSession(owner, e))
		}
	}
	slices.SortStableFunc(all, func(a, b wire.Watched) int { return a.Opened.Compare(b.Opened) })
	if all == nil {
		all = []wire.Watched{}
	}
	return all
}

// anybodys finds a session by its id, and whose it is.
func (ws *Watching) anybodys(id string) (e *registry.Entry, owner string) {
	for owner, entries := range ws.Realms.Everybodys() {
		for _, e := range entries {
			if e.ID() == id {
				return e, owner
			}
		}
	}
	return nil, ""
}

func (ws *Watching) watchedSession(owner string, e *registry.Entry) wire.Watched {
	w := wire.Watched{
		ID: e.ID(), Kind: wire.KindSession, Name: ws.guarded(e.Name()), Host: e.Host().Name, Owner: owner, CWD: ws.guarded(e.Dir()),
		Opened: e.Opened().UTC(), Sandbox: e.Sandbox(),
	}
	if x := e.Current(); x != nil {
		w.Exec, w.State = x.ID(), stateOf(x)
		if v, err := x.View(nothing); err == nil {
			w.Command = printable.Fit(ws.guardedCommand(v.Result.Command), maxListed)
		}
	}
	return w
}

// stateOf is what a command is doing.
func stateOf(x *registry.Exec) string {
	switch {
	case !x.Running():
		return string(session.Done)
	case x.Awaiting():
		return string(session.AwaitingApproval)
	}
	return string(session.Running)
}

// guarded takes secrets out of a text for somebody whose it is not.
func (ws *Watching) guarded(text string) string {
	text, _ = ws.Secrets.String(text, redact.Guarded)
	return text
}

// guardedCommand is guarded for a command, which may not run yet.
func (ws *Watching) guardedCommand(text string) string {
	text, _ = ws.Secrets.With(text).String(text, redact.Guarded)
	return text
}

// watch follows a session from command to command, until it is closed or the reader goes.
func (ws *Watching) watch(_ context.Context, _ *access.Caller, in *watchIn) (func(huma.Context), error) {
	if t := ws.Terminals.Get(in.ID); t != nil {
		return ws.watchTerminal(t)
	}
	e, owner := ws.anybodys(in.ID)
	if e == nil {
		return nil, problem.NotFound("session", in.ID)
	}
	return func(hc huma.Context) {
		s, r := stream.Start(hc)
		w := &watcher{ws: ws, s: s}
		if s.Send("session", "", ws.watchedSession(owner, e)) == nil {
			w.session(r.Context(), e)
		}
	}, nil
}
