package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

type lookArgs struct {
	SessionID string   `json:"session_id,omitempty" jsonschema:"its last command"`
	ExecID    string   `json:"exec_id,omitempty" jsonschema:"a command or a run"`
	Offset    *int64   `json:"offset,omitempty" jsonschema:"page from this byte; 0 or next_offset"`
	Stream    string   `json:"stream,omitempty"`
	Screen    bool     `json:"screen,omitempty" jsonschema:"the terminal as it looks now"`
	WaitS     *float64 `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
}

// sessionOutput gives an *execOut, or the *runOut of a run on many hosts.
func (s *Server) sessionOutput(ctx context.Context, c *call, in lookArgs) (*outputResult, error) {
	out := &outputResult{}
	switch many := strings.HasPrefix(in.ExecID, "r_"); {
	case in.ExecID != "" && in.SessionID != "":
		return out, invalid("give session_id or exec_id, not both")
	case in.ExecID == "" && in.SessionID == "" && (in.Offset != nil || in.Stream != "" || in.Screen):
		return out, invalid("offset, stream and screen are about one command: give session_id or exec_id")
	case in.Offset != nil && *in.Offset < 0:
		return out, invalid("offset must not be negative")
	case many && (in.Offset != nil || in.Stream != "" || in.Screen):
		return out, invalid("offset, stream and screen are about one command; %s is a run on many hosts", in.ExecID)
	}
	wait, err := waitTime(in.WaitS)
	if err != nil {
		return out, err
	}
	limits := s.cfg.Limits()
	b, err := (*outputArgs)(nil).budget(limits.MaxOutput, s.redactor())
	if err != nil {
		return out, err
	}
	if in.ExecID == "" && in.SessionID == "" {
		return out, s.mine(out)
	}
	if strings.HasPrefix(in.ExecID, "r_") {
		f, err := s.cfg.Registry.FleetOf(s.cfg.Principal, in.ExecID)
		if err != nil {
			return out, err
		}
		s.awaitFleet(ctx, c, f, wait, false)
		if out.run, err = s.showFleet(f, b); err == nil && out.run.State == "" {
			out.run.State = string(session.Done)
		}
		return out, err
	}
	lctx, stop := context.WithTimeout(ctx, wait)
	x, err := s.commandOf(lctx, in)
	stop()
	if err != nil {
		return out, err
	}
	paged := in.Offset != nil || in.Stream != ""
	w := registry.Wait{}
	switch {
	case paged:
		w.Any, w.Stream, w.From = true, in.Stream, max(0, at(in.Offset))
	case in.Screen && !x.Command().Interactive: // it never has one
		wait = 0
	case in.Screen:
		w.Any, w.Prompt, w.From = true, true, x.Printed()
	default:
		w.Prompt = x.Command().Interactive
	}
	woke := s.await(ctx, c, x, wait, w, false)
	how := showing{woke: woke, sent: x.Command().Script, page: paged, draw: in.Screen, again: true}
	if x.Awaiting() {
		how.sent = "" // what it waits with is part of the answer
	}
	out.execOut, err = s.show(c, x, b, how)
	if err == nil && out.State == "" {
		out.State = string(session.Done)
	}
	if err != nil || !paged {
		return out, err
	}
	p, err := x.Page(in.Stream, at(in.Offset), int(limits.Output(callBytes/2)))
	if err != nil {
		return out, err
	}
	stream := in.Stream
	if stream == "" {
		stream = registry.Stdout
	}
	out.Page = s.redactor().page(stream, p)
	return out, nil
}

func at(offset *int64) int64 {
	if offset == nil {
		return 0
	}
	return *offset
}

// commandOf finds the command that is meant.
func (s *Server) commandOf(ctx context.Context, in lookArgs) (*registry.Exec, error) {
	if in.ExecID != "" {
		return s.cfg.Registry.Exec(s.cfg.Principal, in.ExecID)
	}
	e, err := s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
	if err != nil {
		return nil, err
	}
	if x := e.Latest(ctx); x != nil {
		return x, nil
	}
	return nil, &callError{code: registry.CodeNotFound, next: "session_exec runs one", err: fmt.Errorf("session %s has run no command", e.ID())}
}

func (o *execOut) drawn(v screen.View, red redactor) *screenOut {
	d := &screenOut{Row: v.Row, Col: v.Col, Alternate: v.Alternate, Lines: []string{}}
	text, _ := screen.Clean(strings.Join(v.Lines, "\n"))
	text, secrets := red(text) // colours stood in it before it was drawn
	o.took(secrets)
	if text != "" {
		d.Lines = strings.Split(text, "\n")
	}
	title, _ := screen.Clean(v.Title)
	d.Title, secrets = red(title)
	o.took(secrets)
	return d
}

// outputResult is the result of one command, or of a run on many hosts, or what the caller has.
type outputResult struct {
	*execOut
	run  *runOut
	mine *mineOut
	err  *faultOut
}

func (o *outputResult) which() result {
	switch {
	case o.err != nil:
		return &execOut{Error: o.err}
	case o.run != nil:
		return o.run
	case o.mine != nil:
		return o.mine
	}
	return o.execOut
}

func (o *outputResult) fault() **faultOut { return &o.err }
func (o *outputResult) failed() bool      { return o.which().failed() }
func (o *outputResult) text() string      { return o.which().text() }

// MarshalJSON writes the one that it is.
func (o *outputResult) MarshalJSON() ([]byte, error) { return marshal(o.which()) }

// done reports whether a state is the last one.
func done(state string) bool { return state == string(session.Done) }
