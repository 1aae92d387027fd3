package mcpserver

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// maxPattern bounds wait_for.
const maxPattern = 1000

type inputArgs struct {
	SessionID string   `json:"session_id" jsonschema:"id or name"`
	Text      string   `json:"text,omitempty"`
	Keys      []string `json:"keys,omitempty" jsonschema:"pressed after text: Enter, Tab, Esc, Up, C-c, C-d, …"`
	Signal    string   `json:"signal,omitempty"`
	WaitFor   string   `json:"wait_for,omitempty" jsonschema:"answer when this RE2 matches new output"`
	WaitS     *float64 `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
}

func (s *Server) sessionInput(ctx context.Context, c *call, in inputArgs) (*execOut, error) {
	out := &execOut{}
	wait, err := waitTime(in.WaitS)
	if err != nil {
		return out, err
	}
	w := registry.Wait{Prompt: in.WaitFor == ""}
	if in.WaitFor != "" {
		if w.Pattern, err = pattern(in.WaitFor); err != nil {
			return out, err
		}
	}
	b, err := (*outputArgs)(nil).budget(s.cfg.Limits().MaxOutput, s.redactor())
	if err != nil {
		return out, err
	}
	e, err := s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
	if err != nil {
		return out, err
	}
	x := e.Current()
	if x == nil {
		return out, &callError{code: registry.CodeNotRunning, err: fmt.Errorf("session %s runs no command", e.ID())}
	}
	if !x.Command().Interactive && in.Text == "" && len(in.Keys) == 1 && strings.EqualFold(in.Keys[0], "C-c") && in.Signal == "" {
		in.Keys, in.Signal = nil, "INT" // which is what the key does at a terminal
	}
	w.From = x.Printed()
	var t *session.Typing
	if in.Text != "" || len(in.Keys) > 0 {
		if t, err = x.Type(ctx, in.Text, in.Keys...); err != nil {
			return out, err
		}
		w.Typed = t
	}
	if in.Signal != "" {
		if err := x.Signal(ctx, in.Signal); err != nil {
			return out, err
		}
	}
	woke := s.await(ctx, c, x, wait, w, false)
	if err := x.Refusal(t); err != nil {
		return out, err
	}
	out, err = s.show(c, x, b, showing{woke: woke, sent: x.Command().Script})
	if err != nil {
		return out, err
	}
	if out.State == "" {
		out.State = string(session.Done)
	}
	if n := longestLine(in.Text); n > maxCooked {
		out.Note = fmt.Sprintf("a line of %d bytes was typed: terminals pass at most %d bytes of a line to a program, unless it has switched line editing off; write a file instead", n, maxCooked)
	}
	if in.Signal != "" && out.State == string(session.Running) {
		out.Next = afterSignal[in.Signal]
	}
	return out, nil
}

// afterSignal is what to do about a command that a signal has not ended.
var afterSignal = map[string]string{
	"INT":  "still running: session_input with signal TERM, then KILL; " + nextReset,
	"TERM": "still running: session_input with signal KILL; " + nextReset,
	"KILL": "still running: the shell itself continues the command; " + nextReset,
}

// maxCooked is how much of a line a terminal of Linux takes that edits lines (termios(3)); others take less.
const maxCooked = 4095

func longestLine(text string) (n int) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		n = max(n, len(line))
	}
	return n
}

func pattern(text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, invalid("wait_for has more than %d characters", maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, invalid("wait_for: %w", err)
	}
	return re, nil
}
