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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
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

func (k *Keeper) addStreams(a *route.API) {
	route.AddStream(a, route.Route{Method: "GET", Path: "/v1/execs/{id}/stream", ID: "stream-output", Tag: "execs", Need: access.NeedSee,
		Summary: "Output as it comes: events “output”, and “result” at the end"}, k.streamExec)
	route.AddStream(a, route.Route{Method: "GET", Path: "/v1/events", ID: "events", Tag: "events", Need: access.NeedSee,
		Summary: "Events from now on, or after Last-Event-ID: requests, answers and ended commands; agents see their own. “missed” says that events were lost, as after a restart of the keeper: read the lists again"}, k.streamEvents)
}

// streamExec follows both outputs of a command. The id of an event is the offsets of both streams after it.
func (k *Keeper) streamExec(_ context.Context, c *access.Caller, in *streamIn) (func(huma.Context), error) {
	x, err := k.realms.Exec(c, in.ID)
	if err != nil {
		return nil, err
	}
	at, err := parseOffsets(in.Last)
	if err != nil {
		return nil, err
	}
	for i, name := range []string{registry.Stdout, registry.Stderr} {
		p, err := x.Page(name, at[i], 1)
		if err != nil {
			return nil, err // it is not kept any more
		}
		if p.Offset < at[i] { // past what was printed: to go on from there would leave out what comes
			return nil, notOfThisStream()
		}
	}
	return func(ctx huma.Context) {
		s, r := stream.Start(ctx)
		for {
			more := x.Changed()
			over := !x.Running() // asked first, so that what comes last is not missed
			ended := true
			for i, name := range []string{registry.Stdout, registry.Stderr} {
				end, err := sendOutput(s, x, name, &at, i)
				if err != nil {
					return
				}
				ended = ended && end
			}
			if over && ended {
				if v, err := x.View(registry.Budgets{Stdout: output.Budget{MaxBytes: 1}, Stderr: output.Budget{MaxBytes: 1}}); err == nil {
					r := &v.Result // without the output, which has been sent
					r.Stdout, r.Stderr, r.OmittedStdout, r.OmittedStderr = nil, nil, 0, 0
					_ = s.Send("result", at.String(), wire.ResultOf(r, v.Redacted.Kinds))
					_ = s.Flush()
				}
				return
			}
			if s.Flush() != nil || !s.Wait(r.Context(), more, x.Done()) {
				return
			}
		}
	}, nil
}

// sendOutput sends what there is of a stream, and reports whether that was all there will be.
func sendOutput(s *stream.Events, x *registry.Exec, name string, at *offsets, i int) (end bool, err error) {
	for {
		p, err := x.Page(name, at[i], stream.ChunkBytes)
		if err != nil {
			return false, err
		}
		if len(p.Text) > 0 || p.Skipped > 0 {
			at[i] = p.Next
			c := wire.Chunk{Stream: name, Offset: p.Offset, Skipped: p.Skipped}
			c.Encoding, c.Data = wire.Encode(p.Text, utf8.Valid(p.Text))
			if err := s.Send("output", at.String(), c); err != nil {
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
			return o, notOfThisStream()
		}
		o[i] = int64(n)
	}
	return o, nil
}

func notOfThisStream() error {
	return problem.New(http.StatusBadRequest, registry.CodeInvalid, "Last-Event-ID does not belong to this stream")
}

// streamEvents tells what happens. The id of an event is its number within the life of this keeper; whoever brings one of
// another life has missed the end of that, and is told all that is kept of this.
func (k *Keeper) streamEvents(_ context.Context, c *access.Caller, in *eventsIn) (func(huma.Context), error) {
	_, at, _ := k.events.After(0)
	missed := false
	if in.Last != "" {
		life, n, _ := strings.Cut(in.Last, "-")
		was, err := strconv.ParseUint(n, 10, 64)
		if missed = life != k.life() || err != nil || was > at; missed { // an id that this keeper has not given
			was = 0
		}
		at = was
	}
	mine := rules.RoleOf(c.Principal) != rules.Operator
	return func(ctx huma.Context) {
		more, stop := k.events.Subscribe()
		defer stop()
		s, r := stream.Start(ctx)
		for {
			news, last, gap := k.events.After(at)
			if gap || missed {
				before := last
				if len(news) > 0 {
					before = news[0].N - 1
				}
				if s.Send(eventMissed, k.eventID(before), wire.Event{Kind: eventMissed, Time: time.Now().UTC()}) != nil {
					return
				}
				missed = false
			}
			for _, e := range news {
				if mine && e.Principal != c.Principal {
					continue
				}
				if s.Send(e.Kind, k.eventID(e.N), e.Event) != nil {
					return
				}
			}
			at = last
			if s.Flush() != nil || !s.Wait(r.Context(), more, nil) {
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
