package audit

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
)

// Query says what Search looks for. Fields that are empty match everything, and all others must match. In Host and
// Principal * stands for any text and ? for any character.
type Query struct {
	Host      string
	Principal string
	Since     time.Time // when it was asked: not before this
	Until     time.Time // and before this
	Verdict   string
	Status    string
	ExitCode  *int
	Text      string // somewhere in the redacted command; of administration, in the id, the subject or the change
}

// maxOpen is how many commands without a result Search holds. When more are open, the oldest is judged by what is there.
const maxOpen = 4096

// Search yields what is on record about each command that q matches: its events, oldest first, when its result has been
// read or the chain ends. Events that are about no command come alone. It reads the chain once, from its beginning, and
// holds open commands only. Errors are as for All.
func Search(dir string, q Query) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		open := map[string][]Event{}
		var order []string // of open, oldest first; ids that are closed are skipped
		tell := func(events []Event) bool { return !q.Matches(events) || yield(events, nil) }
		for e, err := range All(dir) {
			if err != nil {
				if !yield(nil, err) || errors.Is(err, ErrUnavailable) {
					return
				}
				continue
			}
			if e.ID == "" || e.Kind.Administers() {
				if !tell([]Event{e}) {
					return
				}
				continue
			}
			events, known := open[e.ID]
			events = append(events, e)
			if e.Kind == CommandResult || e.Kind == FileResult || e.Kind == JobResult || e.Kind == ForwardResult || !known && e.Kind == SessionClose {
				delete(open, e.ID)
				if !tell(events) {
					return
				}
				continue
			}
			open[e.ID] = events
			if known {
				continue
			}
			order = append(order, e.ID)
			for len(open) > maxOpen {
				oldest := open[order[0]]
				delete(open, order[0])
				order = order[1:]
				if len(oldest) > 0 && !tell(oldest) {
					return
				}
			}
			if len(order) > 2*maxOpen {
				order = slices.DeleteFunc(order, func(id string) bool { return open[id] == nil })
			}
		}
		for _, id := range order {
			if events := open[id]; len(events) > 0 && !tell(events) {
				return
			}
			delete(open, id)
		}
	}
}

// Matches reports whether q finds a command of which these are the events, the oldest first.
func (q Query) Matches(events []Event) bool {
	at := events[0].Time
	if !q.Since.IsZero() && at.Before(q.Since) || !q.Until.IsZero() && !at.Before(q.Until) {
		return false
	}
	some := func(empty bool, f func(e *Event) bool) bool {
		for i := range events {
			if empty || f(&events[i]) {
				return true
			}
		}
		return false
	}
	return some(q.Host == "", func(e *Event) bool { return glob(q.Host, e.Host) }) &&
		some(q.Principal == "", func(e *Event) bool { return glob(q.Principal, e.Principal) }) &&
		some(q.Verdict == "", func(e *Event) bool { return e.Verdict == q.Verdict }) &&
		some(q.Status == "", func(e *Event) bool { return e.Status == q.Status }) &&
		some(q.ExitCode == nil, func(e *Event) bool { return e.ExitCode != nil && *e.ExitCode == *q.ExitCode }) &&
		some(q.Text == "", func(e *Event) bool { return e.holds(q.Text) })
}

func (e *Event) holds(text string) bool {
	if e.Kind.Administers() {
		return e.ID == text || strings.Contains(e.Subject, text) || strings.Contains(e.Change, text)
	}
	return strings.Contains(e.Command, text)
}

// glob matches s with a pattern of * and ?. The time it takes is bounded by the product of their lengths.
func glob(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
