package auditlog

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

type searchIn struct {
	Host      string `query:"host" maxLength:"255" doc:"on hosts of this name; * and ? are wildcards"`
	Principal string `query:"principal" maxLength:"200" doc:"requested by this principal; * and ? are wildcards"`
	Since     string `query:"since" maxLength:"64" doc:"asked at this time (RFC 3339) or later"`
	Until     string `query:"until" maxLength:"64" doc:"asked before this time (RFC 3339)"`
	Verdict   string `query:"verdict" maxLength:"20" doc:"judged allow, ask or deny"`
	Status    string `query:"status" enum:"ok,exit,signal,timeout,canceled,denied,expired,unreachable,auth,hostkey,lost,error" doc:"ended with this status"`
	Exit      string `query:"exit" maxLength:"20" doc:"ended with this exit code"`
	Text      string `query:"text" maxLength:"4096" doc:"text in the command, as the audit log has it"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"how many at most"`
	Cursor    string `query:"cursor" maxLength:"100" doc:"next_cursor of the part before"`
}

// search reads the record once for each part: it is a chain, and has no index.
func (l log) search(ctx context.Context, _ *access.Caller, in *searchIn) (*route.Body[wire.FoundList], error) {
	if l.dir == "" {
		return nil, noRecord()
	}
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	before, err := parseCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &wire.FoundList{Items: []wire.Found{}}
	newest := &finds{}
	// All is read, and looked at here, so that a caller who goes is noticed where little is found, too.
	for events, err := range audit.Search(l.dir, audit.Query{}) {
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, audit.ErrUnavailable):
			return nil, err
		case err != nil:
			out.Unreadable++
		case before > 0 && events[0].Seq >= before, !q.Matches(events):
		default:
			heap.Push(newest, events)
			if newest.Len() > in.Limit+1 {
				heap.Pop(newest)
			}
		}
	}
	slices.SortFunc(*newest, func(a, b []audit.Event) int { return cmp.Compare(b[0].Seq, a[0].Seq) })
	found := *newest
	if len(found) > in.Limit {
		found = found[:in.Limit]
		out.Next = cursorAfter(found[in.Limit-1])
	}
	for _, events := range found {
		out.Items = append(out.Items, fold(events))
	}
	return route.JSON(out), nil
}

// query reads what is looked for.
func (in *searchIn) query() (q audit.Query, err error) {
	q = audit.Query{Host: in.Host, Principal: in.Principal, Verdict: in.Verdict, Status: in.Status, Text: in.Text}
	for _, t := range []struct {
		name, text string
		to         *time.Time
	}{{"since", in.Since, &q.Since}, {"until", in.Until, &q.Until}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = time.Parse(time.RFC3339, t.text); err != nil {
			return q, problem.Invalid("%s is a time as 2026-11-21T02:00:00Z", t.name)
		}
	}
	if in.Since != "" && in.Until != "" && !q.Since.Before(q.Until) {
		return q, problem.Invalid("until is not after since: give the earlier time to since")
	}
	switch in.Verdict {
	case "", "allow", "ask", "deny":
	default:
		return q, problem.Invalid("verdict is allow, ask or deny")
	}
	if in.Exit != "" {
		code, err := strconv.Atoi(in.Exit)
		if err != nil {
			return q, problem.Invalid("exit is a number")
		}
		q.ExitCode = &code
	}
	return q, nil
}

// finds is what was found so far, as a heap whose top is the oldest. The place of a first event in the chain is what they
// are ordered by: unlike its time it is never another event's, and no clock changes it.
type finds [][]audit.Event

func (f finds) Len() int           { return len(f) }
func (f finds) Less(i, j int) bool { return f[i][0].Seq < f[j][0].Seq }
func (f finds) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *finds) Push(x any)        { *f = append(*f, x.([]audit.Event)) }

// Pop takes the last out.
func (f *finds) Pop() any {
	old := *f
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*f = old[:len(old)-1]
	return last
}

// cursorMark begins a cursor, so that another kind is told from it.
const cursorMark = "seq:"

// cursorAfter is where the next part begins: what is added to the record meanwhile comes before.
func cursorAfter(events []audit.Event) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorMark + strconv.FormatUint(events[0].Seq, 10)))
}

// parseCursor returns the place before which the next part is; 0 for the first part.
func parseCursor(text string) (before uint64, err error) {
	if text == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		number, ok := strings.CutPrefix(string(raw), cursorMark)
		if before, err = strconv.ParseUint(number, 10, 64); ok && err == nil && before > 0 {
			return before, nil
		}
	}
	return 0, problem.Invalid("no cursor of this list: give next_cursor as it came")
}

// fold puts together what the events of one command say.
func fold(events []audit.Event) wire.Found {
	first := events[0]
	f := wire.Found{ID: first.ID, Time: first.Time.UTC(), Events: make([]any, len(events))}
	f.Kind, _, _ = strings.Cut(string(first.Kind), ".")
	last := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	if first.Kind.Administers() {
		f.Kind, f.Command = string(first.Kind), strings.TrimSpace(first.Subject+" "+first.Change)
	}
	asked := false
	for i, e := range events {
		f.Events[i] = e
		last(&f.Principal, e.Principal)
		last(&f.Host, e.Host)
		last(&f.Verdict, e.Verdict)
		last(&f.Status, e.Status)
		last(&f.Signal, e.Signal)
		if e.ExitCode != nil {
			f.ExitCode = e.ExitCode
		}
		// What was asked for says more than how a session is recorded, or what was typed later.
		switch e.Kind {
		case audit.CommandRequest, audit.FileRequest, audit.JobRequest, audit.ForwardRequest:
			f.Kind, _, _ = strings.Cut(string(e.Kind), ".")
			if !asked {
				f.Command, asked = e.Command, true
			}
		default:
			if f.Command == "" {
				f.Command = e.Command
			}
		}
	}
	return f
}
