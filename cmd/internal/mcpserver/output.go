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
	SessionID string   `json:"session_id,omitempty" jsonschema:"id or name of a session: its last command"`
	ExecID    string   `json:"exec_id,omitempty" jsonschema:"id of a command, or of a run on many hosts"`
	Offset    *int64   `json:"offset,omitempty" jsonschema:"show the exact output from this byte on"`
	Stream    string   `json:"stream,omitempty" jsonschema:"of which stream (default stdout)"`
	Screen    bool     `json:"screen,omitempty" jsonschema:"show the terminal of an interactive command as it looks now"`
	WaitS     *float64 `json:"wait_s,omitempty" jsonschema:"wait at most so many seconds for a running command: for its end, or with offset or stream for output from there on, or with screen for a change or a prompt (default 25, at most 50)"`
}

// sessionOutput gives an *execOut, or the *runOut of a run on many hosts.
func (s *Server) sessionOutput(ctx context.Context, c *call, in lookArgs) (*outputResult, string, error) {
	out := &outputResult{}
	switch many := strings.HasPrefix(in.ExecID, "r_"); {
	case in.ExecID != "" && in.SessionID != "":
		return out, "", invalid("give session_id or exec_id, not both")
	case many && (in.Offset != nil || in.Stream != "" || in.Screen):
		return out, "", invalid("offset, stream and screen are about one command; %s is a run on many hosts", in.ExecID)
	}
	wait, err := waitTime(in.WaitS)
	if err != nil {
		return out, "", err
	}
	limits := s.cfg.Limits()
	b, err := (*outputArgs)(nil).budget(limits.MaxOutput, s.redactor())
	if err != nil {
		return out, "", err
	}
	if strings.HasPrefix(in.ExecID, "r_") {
		f, err := s.cfg.Registry.FleetOf(s.cfg.Principal, in.ExecID)
		if err != nil {
			return out, "", err
		}
		s.awaitFleet(ctx, c, f, wait, false)
		run, line, err := s.showFleet(f, b)
		out.take(run)
		return out, line, err
	}
	lctx, stop := context.WithTimeout(ctx, wait)
	x, err := s.commandOf(lctx, in)
	stop()
	if err != nil {
		return out, "", err
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
	if paged {
		b.MaxBytes = leastBytes
	}
	ex, text, err := s.show(x, b, woke)
	if err != nil {
		return out, "", err
	}
	out.execOut = *ex
	if paged {
		p, err := x.Page(in.Stream, at(in.Offset), int(limits.Output(callBytes/2)))
		if err != nil {
			return out, "", err
		}
		stream := in.Stream
		if stream == "" {
			stream = registry.Stdout
		}
		out.Page = s.redactor().page(stream, p)
		out.Stdout, out.Stderr, out.Omitted, out.CutAt, out.Cleaned = "", "", nil, nil, nil
	}
	if in.Screen {
		v, err := x.Screen()
		if err != nil {
			return out, "", err
		}
		out.Screen = out.drawn(v, s.redactor())
	}
	return out, text, nil
}

func at(offset *int64) int64 {
	if offset == nil {
		return 0
	}
	return *offset
}

// commandOf finds the command that is meant.
func (s *Server) commandOf(ctx context.Context, in lookArgs) (*registry.Exec, error) {
	switch {
	case in.ExecID != "":
		return s.cfg.Registry.Exec(s.cfg.Principal, in.ExecID)
	case in.SessionID == "":
		return nil, invalid("session_output needs session_id or exec_id")
	}
	e, err := s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
	if err != nil {
		return nil, err
	}
	if x := e.Latest(ctx); x != nil {
		return x, nil
	}
	return nil, &callError{code: registry.CodeNotFound, err: fmt.Errorf("session %s has run no command", e.ID())}
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

// outputResult is the result of one command or of a run.
type outputResult struct {
	execOut
	Run      string            `json:"run,omitempty" jsonschema:"of a run on many hosts: its id"`
	Hosts    int               `json:"hosts,omitempty"`
	Statuses map[string]string `json:"statuses,omitempty" jsonschema:"of a run: the folded names under each status"`
	Groups   []groupOut        `json:"groups,omitempty" jsonschema:"of a run: hosts with the same outcome"`
	More     int               `json:"more_groups,omitempty"`
}

func (o *outputResult) take(r *runOut) {
	o.Run, o.Hosts, o.Statuses, o.Groups, o.More = r.Run, r.Hosts, r.Statuses, r.Groups, r.More
	o.Command, o.State, o.OutputIs, o.Error = r.Command, r.State, r.OutputIs, r.Error
}

// done reports whether a state is the last one.
func done(state string) bool { return state == string(session.Done) }
