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
	SessionID string   `json:"session_id" jsonschema:"id or name of a session"`
	Text      string   `json:"text,omitempty" jsonschema:"typed first, as it is"`
	Keys      []string `json:"keys,omitempty" jsonschema:"pressed after the text: Enter, Tab, Esc, Up, C-c, C-d, …"`
	Signal    string   `json:"signal,omitempty" jsonschema:"sent to the command's processes; one that waits for approval is withdrawn"`
	WaitFor   string   `json:"wait_for,omitempty" jsonschema:"wait until this RE2 pattern is found in what comes after"`
	WaitS     *float64 `json:"wait_s,omitempty" jsonschema:"wait at most so many seconds (default 25, at most 50)"`
}

func (s *Server) sessionInput(ctx context.Context, c *call, in inputArgs) (*execOut, string, error) {
	out := &execOut{}
	wait, err := waitTime(in.WaitS)
	if err != nil {
		return out, "", err
	}
	w := registry.Wait{Prompt: in.WaitFor == ""}
	if in.WaitFor != "" {
		if w.Pattern, err = pattern(in.WaitFor); err != nil {
			return out, "", err
		}
	}
	b, err := (*outputArgs)(nil).budget(s.cfg.Limits().MaxOutput, s.redactor())
	if err != nil {
		return out, "", err
	}
	e, err := s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
	if err != nil {
		return out, "", err
	}
	x := e.Current()
	if x == nil {
		return out, "", &callError{code: registry.CodeNotRunning, err: fmt.Errorf("session %s runs no command: start one with session_exec and interactive", e.ID())}
	}
	w.From = x.Printed()
	var t *session.Typing
	if in.Text != "" || len(in.Keys) > 0 {
		if t, err = x.Type(ctx, in.Text, in.Keys...); err != nil {
			return out, "", err
		}
	}
	if in.Signal != "" {
		if err := x.Signal(ctx, in.Signal); err != nil {
			return out, "", err
		}
	}
	woke := s.await(ctx, c, x, wait, w, false)
	if err := x.Refusal(t); err != nil {
		return out, "", err
	}
	out, line, err := s.show(x, b, woke)
	if n := longestLine(in.Text); n > maxCooked && err == nil {
		out.Note = fmt.Sprintf("a line of %d bytes was typed, and of one that long a program gets %d at most, without a word, unless it has switched line editing of its terminal off: write a file instead", n, maxCooked)
		line += "; note: " + out.Note
	}
	return out, line, err
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
