package mcpserver

import (
	"context"
	"strings"
	"unicode"

	"github.com/fairlead-ssh/fairlead/audit"
)

// maxLabel bounds what is kept of a client's name, in bytes.
const maxLabel = 100

// labelOf is what the client of a call calls itself: its name and version.
func labelOf(c *call) string {
	who := c.req.ClientInfo()
	if who == nil {
		return ""
	}
	label := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(who.Name+" "+who.Version, ""))
	if label = strings.TrimSpace(label); len(label) > maxLabel {
		label = strings.ToValidUTF8(label[:maxLabel], "")
	}
	return label
}

// Label is what the client calls itself whose call ctx belongs to; "" outside of a call. It proves nothing.
func Label(ctx context.Context) string {
	a, ok := ctx.Value(askerKey{}).(asker)
	if !ok {
		return ""
	}
	return a.label
}

// Labeled returns a sink that records which client it was.
func Labeled(s audit.Sink) audit.GroupSink { return labeled{s} }

type labeled struct{ sink audit.Sink }

func (l labeled) Record(ctx context.Context, e audit.Event) error {
	if e.Client == "" {
		e.Client = Label(ctx)
	}
	return l.sink.Record(ctx, e)
}

// Check asks the sink behind.
func (l labeled) Check(ctx context.Context) error { return audit.Check(ctx, l.sink) }

func (l labeled) RecordAll(ctx context.Context, events []audit.Event) error {
	return audit.RecordAll(ctx, audit.As(l.sink, audit.Event{Client: Label(ctx)}), events)
}
