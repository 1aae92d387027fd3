package terminals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Entry is what one shell leaves on the record: session.open and command.request before the first byte is sent,
// command.result and session.close after. All four have the same id, so that "audit show" prints them together. The
// session's events tell about the recording; stdout_bytes and stdout_sha256 are the recording's in session.close, and the
// terminal's own output in command.result.
type Entry struct {
	sink  audit.Sink
	who   audit.Event // what all of them say
	Start time.Time
}

// NewEntry returns one that begins now, for a connection to a host. Nothing is on record yet.
func NewEntry(sink audit.Sink, principal string, h hosts.Host, peer session.Peer) *Entry {
	uid := os.Getuid()
	return &Entry{sink: sink, Start: time.Now(), who: audit.Event{
		ID: id.New("e_"), Session: id.New("s_"), Principal: principal, UID: &uid,
		Host: h.Name, SSHOptions: h.ShownOptions(), Become: h.Become.String(), Address: peer.Addr, SSHUser: peer.User, Key: peer.Key, HostKey: peer.HostKey, Route: strings.Join(peer.Via, ","),
	}}
}

// Request puts on record that line is about to be sent, and how it will be recorded. After an error nothing may be sent.
func (e *Entry) Request(line string, d policy.Decision, how string) error {
	ask := e.who
	ask.Kind, ask.Exact = audit.CommandRequest, []byte(line)
	ask.Command = cmdutil.Redactor(redact.New(redact.Config{}))(line)
	ask.Verdict, ask.Rule, ask.Class, ask.Approval = d.Verdict.String(), d.Rule, string(d.Class), d.Approval
	events := []audit.Event{ask}
	if d.Verdict == policy.Allow {
		open := e.who
		open.Kind, open.Command = audit.SessionOpen, how
		events = []audit.Event{open, ask}
	}
	if err := audit.RecordAll(context.Background(), e.sink, events); err != nil {
		return fmt.Errorf("%w, so nothing was sent: %w", session.ErrAudit, err)
	}
	return nil
}

// Outcome is how a shell ended.
type Outcome struct {
	session.Result       // Status, ExitCode, Signal, Err
	Typed          int64 // bytes that were passed on to the host
	Shown          int64 // bytes of output
	ShownSHA256    string
}

// Result puts the end on record. how is what request said; "" when it was denied.
func (e *Entry) Result(o Outcome, how string, rec Recorded) error {
	end := e.who
	end.Kind, end.State, end.Status = audit.CommandResult, string(session.Done), string(o.Status)
	end.ExitCode, end.Signal = o.ExitCode, o.Signal
	end.DurationMS = time.Since(e.Start).Milliseconds()
	end.StdinBytes, end.StdoutBytes, end.StdoutSHA256 = o.Typed, o.Shown, o.ShownSHA256
	if o.Err != nil {
		end.Error = audit.Fault{Code: o.Err.Code, Message: o.Err.Error()}
	}
	closed := e.who
	closed.Kind, closed.Command, closed.DurationMS = audit.SessionClose, how, end.DurationMS
	if rec.Path != "" {
		closed.StdoutBytes, closed.StdoutSHA256 = rec.Bytes, rec.SHA256
	}
	if rec.Err != nil {
		closed.Error = audit.Fault{Code: "recording", Message: Reason(rec.Err)}
	}
	if how == "" { // denied: there was no session
		return e.sink.Record(context.Background(), end)
	}
	return audit.RecordAll(context.Background(), e.sink, []audit.Event{end, closed})
}

// HowRecorded says in the record what becomes of the output.
func HowRecorded(path string, typed bool, why string) string {
	switch {
	case path == "":
		return "not recorded: " + why
	case typed:
		return "recording, what is typed included: " + filepath.Base(path)
	}
	return "recording: " + filepath.Base(path)
}

// reason is why a recording is not whole, without the name of its file, which stands beside it.
func Reason(err error) string {
	var path *os.PathError
	switch {
	case errors.Is(err, errTooLong):
		err = errTooLong
	case errors.As(err, &path):
		err = path.Err
	}
	return err.Error()
}

// ID is that of all four.
func (e *Entry) ID() string { return e.who.ID }
