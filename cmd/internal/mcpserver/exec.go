package mcpserver

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/filework"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// maxCommand bounds how much of a command is told back.
const maxCommand = 500

type execArgs struct {
	SessionID   string      `json:"session_id" jsonschema:"id or name"`
	Command     string      `json:"command,omitempty" jsonschema:"shell source"`
	Program     string      `json:"program,omitempty" jsonschema:"instead of command: a bare program name, run with exactly args"`
	Args        []string    `json:"args,omitempty"`
	Reason      string      `json:"reason,omitempty" jsonschema:"recorded and shown to the approver"`
	RequestID   string      `json:"request_id,omitempty" jsonschema:"the same id never runs the command twice"`
	TimeoutS    *float64    `json:"timeout_s,omitempty" jsonschema:"stop after (default 600)"`
	WaitS       *float64    `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
	Stderr      string      `json:"stderr,omitempty" jsonschema:"merged: both in stdout, in order"`
	Interactive bool        `json:"interactive,omitempty" jsonschema:"a terminal that session_input types at"`
	Output      *outputArgs `json:"output,omitempty"`
}

func (s *Server) sessionExec(ctx context.Context, c *call, in execArgs) (*execOut, error) {
	out := &execOut{}
	wait, err := waitTime(in.WaitS)
	if err != nil {
		return out, err
	}
	timeout, err := s.timeout(in.TimeoutS)
	if err != nil {
		return out, err
	}
	limits := s.cfg.Limits()
	script, err := scriptOf(limits, in.Command, in.Program, in.Args)
	if err != nil {
		return out, err
	}
	b, err := in.Output.budget(limits.MaxOutput, s.redactor())
	if err != nil {
		return out, err
	}
	e, err := s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
	if err != nil {
		return out, err
	}
	cmd := registry.Command{
		Script: script, Program: in.Program != "", Reason: in.Reason, RequestID: in.RequestID, Timeout: timeout,
		Merged: in.Stderr == "merged", Interactive: in.Interactive, SlotWait: max(wait, time.Millisecond),
	}
	sctx, stop := s.starting(ctx)
	x, err := e.Start(sctx, cmd)
	stop()
	if err != nil {
		return out, err
	}
	s.started(x)
	woke := s.await(ctx, c, x, wait, registry.Wait{Prompt: in.Interactive}, true)
	out, err = s.show(c, x, b, showing{woke: woke, sent: in.Command})
	if err == nil && out.State == "" && out.Decision != nil {
		out.State = string(session.Done) // it was not so from the start
	}
	if err == nil && x.Entry() != e {
		out.aside(x, e)
	}
	return out, err
}

// starting bounds what comes before a command is sent.
func (s *Server) starting(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	unhook := context.AfterFunc(s.closing, cancel)
	return ctx, func() { unhook(); cancel() }
}

// aside tells of a command that ran beside a pending one.
func (o *execOut) aside(x *registry.Exec, e *registry.Entry) {
	o.Host, o.Exec, o.Session = o.from, x.ID(), x.Entry().ID()
	if o.Lane == "" { // it is its own session's
		o.Lane = "clean"
	}
	o.Note = "it did not change the session, which is reserved for the pending command and stays in " + e.Dir()
	if pending := e.Current(); pending != nil {
		o.Note = fmt.Sprintf("it did not change the session, which is reserved for %s and stays in %s", pending.ID(), e.Dir())
	}
}

// showing says how a command is shown.
type showing struct {
	woke registry.Wake
	sent string // what the call has sent: it is not repeated
	page bool   // a page of one stream is shown instead of both
	draw bool   // the screen is shown instead of the streams

	again bool // the caller may not know which command it is
}

// show tells what is known of a command. While it runs, a caller who was shown some of its output is shown what came after.
func (s *Server) show(c *call, x *registry.Exec, b output.Budget, how showing) (*execOut, error) {
	out := &execOut{}
	from := extent{}
	if x.Running() {
		from = s.polls.shown(c, x)
	}
	v, err := view(x, b, from)
	if err != nil {
		return out, err
	}
	running := v.Result.State != session.Done
	if !running && from != (extent{}) { // it has just ended: the Result is the whole
		from = extent{}
		if v, err = view(x, b, from); err != nil {
			return out, err
		}
	}
	if running {
		next := extent{upTo(&v.Stdout), upTo(&v.Stderr)}
		if !how.page {
			s.polls.note(c, x, next)
		}
		out.Offset, out.StderrFrom, out.outputOut.Next = from.stdout, from.stderr, next.stdout
	}
	red := s.redactor()
	out.fillResult(x, &v, how.sent, red)
	out.fill(&v, b, red)
	if w := filework.Of(x.Command().Action); w != nil {
		out.File = factsOf(w, red)
	}
	out.Error = faultOf(errOf(v.Result.Err))
	if running {
		if v.Result.State == session.Running {
			out.WaitingFor = out.waitingFor(x, red)
		}
		if state, why := x.Typed(); state != "" {
			out.Typed = &typedOut{State: state, Error: faultOf(why)}
		}
		if how.woke != registry.WokeTime && how.woke != registry.WokeEnd {
			out.Woke = string(how.woke)
		}
		if w := out.WaitingFor; w != nil && w.Kind == string(screen.Fullscreen) {
			how.draw = true
		}
	}
	if how.page || how.draw {
		out.outputOut = outputOut{Redacted: out.Redacted}
	}
	if how.draw {
		d, err := x.Screen()
		if err != nil {
			return out, err
		}
		out.Screen = out.drawn(d, red)
	}
	s.explain(x, &v, out)
	if !how.again {
		out.brief()
	}
	return out, nil
}

// view is a Result with what fits into one answer.
func view(x *registry.Exec, b output.Budget, from extent) (registry.View, error) {
	all := budgets(b)
	all.Stdout.From, all.Stderr.From = from.stdout, from.stderr
	v, err := x.View(all)
	if err == nil && len(v.Stdout.Text)+len(v.Stderr.Text) > callBytes {
		all.Stdout.MaxBytes = callBytes - len(v.Stderr.Text)
		v, err = x.View(all)
	}
	return v, err
}

// upTo is where a view of what has come so far ends, before a character that has come in part; the view is shortened by that.
func upTo(v *output.View) int64 {
	for n := 1; n < utf8.UTFMax && n <= len(v.Text); n++ {
		if at := len(v.Text) - n; utf8.RuneStart(v.Text[at]) {
			if !utf8.FullRune(v.Text[at:]) {
				v.Text = v.Text[:at]
				v.Binary = v.Binary && !utf8.Valid(v.Text)
				return v.Total - int64(n)
			}
			break
		}
	}
	return v.Total
}

// errOf avoids an error that is not nil and holds nothing.
func errOf(e *session.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func (o *execOut) waitingFor(x *registry.Exec, red redactor) *waitingOut {
	w := x.Waiting()
	if w.Kind == "" || w.Kind == screen.Running {
		return nil
	}
	prompt, secrets := red(w.Prompt) // which is clean
	o.took(secrets)
	return &waitingOut{Kind: string(w.Kind), Prompt: prompt, Known: w.Known}
}

// usual is how long a command may take, or wait for a shell, without a word about it.
const usual = time.Second

// fillResult puts in all but the output, without what is usual.
func (o *execOut) fillResult(x *registry.Exec, v *registry.View, sent string, red redactor) {
	fit := func(text string) string {
		text, _, secrets := red.fit(text)
		o.took(secrets)
		return text
	}
	r := &v.Result
	o.from, o.Host, o.Exec = r.Host, r.Host, r.Exec
	if text, secrets := red.command(r.Command); text != printable.Clip(sent, maxCommand) {
		o.took(secrets)
		o.Command = text
	}
	if r.State != session.Done {
		o.State = string(r.State)
	}
	o.Status, o.ExitCode, o.Signal = string(r.Status), exitCode(r), r.Signal
	if _, dir := x.Began(); r.Dir != dir {
		o.CWD = fit(r.Dir)
	}
	ms := func(d time.Duration) int64 {
		if d < usual {
			return 0
		}
		return d.Milliseconds()
	}
	o.DurationMS, o.QueueMS, o.DialMS = ms(r.Duration), ms(r.Queue), ms(r.Dial)
	if r.StderrMode == "lines" || r.StderrMode == "channel" {
		o.StderrMode = r.StderrMode
	}
	if r.Lane == "clean" || r.Lane == "held" {
		o.Lane = r.Lane
	}
	o.NotHeld, o.RefusedUnknown = r.NotHeld, r.RefusedUnknown
	for _, call := range r.Refused {
		o.Refused = append(o.Refused, fit(call.String()))
	}
	if r.RefusedMore > 0 {
		o.Refused = append(o.Refused, fmt.Sprintf("%d more", r.RefusedMore))
	}
	o.StoppedBy, o.MayRun, o.ShellRestarted, o.Reconnected = r.StoppedBy, r.MayRun, r.ShellRestarted, r.Reconnected
	o.Restored, o.Note = restored(r.Restored)
	o.Decision = decided(r.Decision, fit)
}

// exitCode is what there is to say of it: ok means 0.
func exitCode(r *session.Result) *int {
	if r.Status == session.StatusOK {
		return nil
	}
	return r.ExitCode
}

// restored is what a new shell got of the state of the one before, and what to know of it.
func restored(what []string) (list []string, note string) {
	for _, w := range what {
		if w == session.RestoredStale {
			note = "the last command ended with its shell, so what it had exported or set is lost: exported variables and umask are those from before it"
			continue
		}
		list = append(list, w)
	}
	return list, note
}

// decided is what to know of a decision; nil of a plain allow.
func decided(d policy.Decision, fit func(string) string) *decisionOut {
	switch {
	case d.Verdict == policy.Allow && d.Approval == "", d.Rule == "" && d.Reason == "":
		return nil
	case d.Verdict == policy.Allow:
		return &decisionOut{Verdict: d.Verdict.String(), Class: string(d.Class), Approval: d.Approval, WithInput: d.WithInput}
	}
	return &decisionOut{
		Verdict: d.Verdict.String(), Class: string(d.Class), Rule: d.Rule, Reason: fit(d.Reason), Hint: d.Hint,
	}
}

// answeredBy reports whether the status is one that the command itself has given.
func answeredBy(status string) bool {
	return status == string(session.StatusOK) || status == string(session.StatusExit)
}

// brief leaves out what a caller knows who is shown that a command has ended, and all of it.
func (o *execOut) brief() {
	if o.State == "" && o.Error == nil && answeredBy(o.Status) && len(o.Omitted)+len(o.Cleaned)+len(o.Binary)+len(o.Redacted) == 0 && o.Page == nil && o.Screen == nil && o.Command == "" {
		o.Host, o.Exec = "", ""
	}
}
