package keeper

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type streamIn struct {
	ID   string `path:"id" maxLength:"80" doc:"of a command of one's own"`
	Last string `header:"Last-Event-ID" maxLength:"60" doc:"the id of the last event that came: go on after it"`
}

type eventsIn struct {
	Last string `header:"Last-Event-ID" maxLength:"60" doc:"the id of the last event that came: go on after it"`
}

func (k *Keeper) addStreams(a *api) {
	stream(a, route{method: "GET", path: "/v1/execs/{id}/stream", id: "stream-output", tag: "execs", need: access.NeedSee,
		summary: "Output as it comes: events “output”, and “result” at the end"}, k.streamExec)
	stream(a, route{method: "GET", path: "/v1/events", id: "events", tag: "events", need: access.NeedSee,
		summary: "Events from now on, or after Last-Event-ID: requests, answers and ended commands; agents see their own. “missed” says that events were lost, as after a restart of the keeper: read the lists again"}, k.streamEvents)
}

// stream adds a route that answers with server-sent events.
func stream[I any](a *api, r route, open func(ctx context.Context, c *access.Caller, in *I) (func(huma.Context), error)) {
	add(a, r, func(ctx context.Context, c *access.Caller, in *I) (*huma.StreamResponse, error) {
		body, err := open(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			decoded(hc.Context())
			body(hc)
			farewell(hc)
		}}, nil
	})
	op := a.OpenAPI().Paths[r.path].Get
	if r.method == http.MethodPost {
		op = a.OpenAPI().Paths[r.path].Post
	}
	op.Responses["200"] = &huma.Response{
		Description: "Server-sent events; the last one is “problem” where the right to read them has ended", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
}

// chunkBytes is how much of an output one event holds.
const chunkBytes = 64 << 10

// streamExec follows both outputs of a command. The id of an event is the offsets of both streams after it.
func (k *Keeper) streamExec(_ context.Context, c *access.Caller, in *streamIn) (func(huma.Context), error) {
	x, err := k.exec(c, in.ID)
	if err != nil {
		return nil, err
	}
	at, err := parseOffsets(in.Last)
	if err != nil {
		return nil, err
	}
	if _, err := x.Page(registry.Stdout, at[0], 1); err != nil {
		return nil, err // it is not kept any more
	}
	return func(ctx huma.Context) {
		s, r := startSSE(ctx)
		for {
			more := x.Changed()
			over := !x.Running() // asked first, so that what comes last is not missed
			ended := true
			for i, name := range []string{registry.Stdout, registry.Stderr} {
				end, err := s.output(x, name, &at, i)
				if err != nil {
					return
				}
				ended = ended && end
			}
			if over && ended {
				if v, err := x.View(registry.Budgets{Stdout: output.Budget{MaxBytes: 1}, Stderr: output.Budget{MaxBytes: 1}}); err == nil {
					r := &v.Result // without the output, which has been sent
					r.Stdout, r.Stderr, r.OmittedStdout, r.OmittedStderr = nil, nil, 0, 0
					_ = s.send("result", at.String(), wire.ResultOf(r, v.Redacted.Kinds))
					_ = s.flush()
				}
				return
			}
			if s.flush() != nil || !s.wait(r.Context(), more, x.Done()) {
				return
			}
		}
	}, nil
}

// output sends what there is of a stream, and reports whether that was all there will be.
func (s *sse) output(x *registry.Exec, name string, at *offsets, i int) (end bool, err error) {
	for {
		p, err := x.Page(name, at[i], chunkBytes)
		if err != nil {
			return false, err
		}
		if len(p.Text) > 0 || p.Skipped > 0 {
			at[i] = p.Next
			c := wire.Chunk{Stream: name, Offset: p.Offset, Skipped: p.Skipped}
			c.Encoding, c.Data = wire.Encode(p.Text, utf8.Valid(p.Text))
			if err := s.send("output", at.String(), c); err != nil {
				return false, err
			}
		}
		if p.End || len(p.Text) == 0 {
			return p.End, nil
		}
	}
}

// offsets are those of standard output and standard error.
type offsets [2]int64

func (o offsets) String() string { return fmt.Sprintf("%d-%d", o[0], o[1]) }

func parseOffsets(id string) (o offsets, err error) {
	if id == "" {
		return o, nil
	}
	a, b, ok := strings.Cut(id, "-")
	for i, text := range []string{a, b} {
		n, perr := strconv.ParseUint(text, 10, 62)
		if perr != nil || !ok {
			return o, problem.New(http.StatusBadRequest, registry.CodeInvalid, "Last-Event-ID does not belong to this stream")
		}
		o[i] = int64(n)
	}
	return o, nil
}

// streamEvents tells what happens. The id of an event is its number within the life of this keeper; whoever brings one of
// another life has missed the end of that, and is told all that is kept of this.
func (k *Keeper) streamEvents(_ context.Context, c *access.Caller, in *eventsIn) (func(huma.Context), error) {
	_, at, _ := k.events.after(0)
	missed := false
	if life, n, _ := strings.Cut(in.Last, "-"); life == k.life() {
		if was, err := strconv.ParseUint(n, 10, 64); err == nil && was < at {
			at = was
		}
	} else if in.Last != "" {
		at, missed = 0, true
	}
	mine := rules.RoleOf(c.Principal) != rules.Operator
	return func(ctx huma.Context) {
		more, stop := k.events.subscribe()
		defer stop()
		s, r := startSSE(ctx)
		for {
			news, last, gap := k.events.after(at)
			if gap || missed {
				before := last
				if len(news) > 0 {
					before = news[0].n - 1
				}
				if s.send(eventMissed, k.eventID(before), wire.Event{Kind: eventMissed, Time: time.Now().UTC()}) != nil {
					return
				}
				missed = false
			}
			for _, e := range news {
				if mine && e.Principal != c.Principal {
					continue
				}
				if s.send(e.Kind, k.eventID(e.n), e.Event) != nil {
					return
				}
			}
			at = last
			if s.flush() != nil || !s.wait(r.Context(), more, nil) {
				return
			}
		}
	}, nil
}

// eventMissed is the kind of event that says that others were missed.
const eventMissed = "missed"

func (k *Keeper) eventID(n uint64) string { return k.life() + "-" + strconv.FormatUint(n, 10) }

// life tells this keeper's events from those of one before it.
func (k *Keeper) life() string { return strconv.FormatInt(k.started.UnixNano(), 36) }
