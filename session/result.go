package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// State says how far a command has come.
type State string

// The states.
const (
	AwaitingApproval State = "awaiting_approval"
	Running          State = "running"
	Done             State = "done"
)

// Status says how a command that is done has ended. "It failed", "it was stopped" and "nobody knows" are different.
type Status string

// The statuses.
const (
	StatusOK          Status = "ok"          // exit code 0
	StatusExit        Status = "exit"        // another exit code
	StatusSignal      Status = "signal"      // the shell itself, or what replaced it, died by a signal
	StatusTimeout     Status = "timeout"     // stopped because its time was up
	StatusCanceled    Status = "canceled"    // stopped because the caller went away or asked for it
	StatusDenied      Status = "denied"      // refused; nothing was sent
	StatusExpired     Status = "expired"     // nobody approved in time; nothing was sent
	StatusUnreachable Status = "unreachable" // no connection; nothing was sent
	StatusAuth        Status = "auth"        // not logged in; nothing was sent
	StatusHostKey     Status = "hostkey"     // the server's key is not trusted; nothing was sent
	StatusLost        Status = "lost"        // sent, outcome unknown
	StatusError       Status = "error"       // our own failure
)

// Result is the outcome of one command, the same for everybody. Its JSON form is a stable format.
type Result struct {
	Host    string
	Session string
	Exec    string
	Command string
	State   State
	Status  Status

	ExitCode *int   // nil unless the host said so; 128+n for a child that a signal killed
	Signal   string // "KILL", …: set only when the session's own shell died by one

	Stdout, Stderr []byte // head and tail; exact bytes
	Stray          []byte // what commands before this one printed late
	Dir            string // the working directory afterwards, any bytes

	Started  time.Time
	Duration time.Duration
	Queue    time.Duration // waiting for a place in the pool, before connecting
	Dial     time.Duration // connecting and starting the shell

	StdoutBytes, StderrBytes int64 // all that came
	StdinBytes               int64 // what was given to the command, whether it read it or not
	StdinSHA256              string
	OmittedStdout            int64 // bytes left out between head and tail
	OmittedStderr            int64
	CutStdout, CutStderr     int64 // where they are left out; meaningful when bytes are

	Redacted map[string]int // secrets taken out of what is here, per kind; nil where nobody took any out

	StderrMode string // "live", "lines" (line by line, NUL bytes lost) or "merged"
	Lane       string // the shell it ran in: "session" or "clean"
	StoppedBy  string // the step that stopped it: "INT", "TERM", "KILL", "shell"
	MayRun     bool   // what was stopped may still be running

	ShellRestarted bool     // the shell was new, because the one before had ended
	Reconnected    bool     // the connection was new, because the one before was lost
	Restored       []string // what of the old shell's state the new one got: "cwd", "umask", "env"; see [RestoredStale]

	Own bool // nobody has asked for it: it makes the session ready

	Decision policy.Decision
	Err      *Error // nil exactly when the host answered: ok, exit, signal
}

// resultJSON is the stable format.
type resultJSON struct {
	Host           string           `json:"host"`
	Session        string           `json:"session"`
	Exec           string           `json:"exec"`
	Command        string           `json:"command"`
	State          State            `json:"state"`
	Status         Status           `json:"status"`
	ExitCode       *int             `json:"exit_code"`
	Signal         string           `json:"signal"`
	Stdout         string           `json:"stdout"`
	Stderr         string           `json:"stderr"`
	Stray          string           `json:"stray"`
	Encoding       string           `json:"encoding"`
	CWD            string           `json:"cwd"`
	CWDBase64      string           `json:"cwd_b64,omitempty"`
	Started        string           `json:"started"`
	DurationMS     int64            `json:"duration_ms"`
	QueueMS        int64            `json:"queue_ms"`
	DialMS         int64            `json:"dial_ms"`
	StdoutBytes    int64            `json:"stdout_bytes"`
	StderrBytes    int64            `json:"stderr_bytes"`
	Omitted        map[string]int64 `json:"omitted"`
	CutAt          map[string]int64 `json:"cut_at"`
	Redacted       map[string]int   `json:"redacted"`
	StderrMode     string           `json:"stderr_mode"`
	Lane           string           `json:"lane"`
	StoppedBy      string           `json:"stopped_by"`
	MayRun         bool             `json:"may_run,omitempty"`
	ShellRestarted bool             `json:"shell_restarted"`
	Reconnected    bool             `json:"reconnected"`
	Restored       []string         `json:"restored"`
	Decision       decisionJSON     `json:"decision"`
	Error          *errorJSON       `json:"error"`
}

type decisionJSON struct {
	Verdict  policy.Verdict `json:"verdict"`
	Class    policy.Class   `json:"class,omitempty"`
	Rule     string         `json:"rule"`
	Reason   string         `json:"reason"`
	Approval string         `json:"approval"`
	Needs    policy.Needs   `json:"needs,omitempty"`
	Hint     string         `json:"hint,omitempty"`

	WithInput bool `json:"with_input,omitempty"`

	ForSession string `json:"for_session,omitempty"`
}

type errorJSON struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retriable bool   `json:"retriable"`
	Exec      string `json:"exec,omitempty"`
}

// MarshalJSON writes the stable format. Bytes that are not UTF-8 in any stream turn all three to base64, told by
// "encoding".
func (r Result) MarshalJSON() ([]byte, error) {
	j := resultJSON{
		Host: r.Host, Session: r.Session, Exec: r.Exec, Command: r.Command, State: r.State, Status: r.Status,
		ExitCode: r.ExitCode, Signal: r.Signal, Encoding: "utf-8", CWD: r.Dir,
		DurationMS: r.Duration.Milliseconds(), QueueMS: r.Queue.Milliseconds(), DialMS: r.Dial.Milliseconds(),
		StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes,
		Omitted: map[string]int64{"stdout": r.OmittedStdout, "stderr": r.OmittedStderr},
		CutAt:   map[string]int64{}, Redacted: map[string]int{},
		StderrMode: r.StderrMode, Lane: r.Lane, StoppedBy: r.StoppedBy, MayRun: r.MayRun,
		ShellRestarted: r.ShellRestarted, Reconnected: r.Reconnected, Restored: r.Restored,
		Decision: decisionJSON{
			Verdict: r.Decision.Verdict, Class: r.Decision.Class, Rule: r.Decision.Rule, Reason: r.Decision.Reason,
			Approval: r.Decision.Approval, Needs: r.Decision.Needs, Hint: r.Decision.Hint, WithInput: r.Decision.WithInput, ForSession: r.Decision.ForSession,
		},
	}
	if !r.Started.IsZero() {
		j.Started = r.Started.UTC().Format(time.RFC3339Nano)
	}
	if r.Redacted != nil {
		j.Redacted = r.Redacted
	}
	if r.Restored == nil {
		j.Restored = []string{}
	}
	if r.OmittedStdout > 0 {
		j.CutAt["stdout"] = r.CutStdout
	}
	if r.OmittedStderr > 0 {
		j.CutAt["stderr"] = r.CutStderr
	}
	if utf8.Valid(r.Stdout) && utf8.Valid(r.Stderr) && utf8.Valid(r.Stray) {
		j.Stdout, j.Stderr, j.Stray = string(r.Stdout), string(r.Stderr), string(r.Stray)
	} else {
		b := base64.StdEncoding.EncodeToString
		j.Encoding, j.Stdout, j.Stderr, j.Stray = "base64", b(r.Stdout), b(r.Stderr), b(r.Stray)
	}
	if !utf8.ValidString(r.Dir) {
		j.CWDBase64 = base64.StdEncoding.EncodeToString([]byte(r.Dir))
	}
	if r.Err != nil {
		j.Error = &errorJSON{Code: r.Err.Code, Message: r.Err.Error(), Retriable: r.Err.Retriable, Exec: r.Err.Exec}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // shell source is full of < > &
	if err := enc.Encode(j); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// ExitError is a non-zero exit, or a death by signal, as an error. See Result.ExitErr.
type ExitError struct {
	Code   int    // -1 where a signal killed the session's shell, as in os/exec
	Signal string // "KILL", …; "" for an exit
}

func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "session: the shell was killed by SIG" + e.Signal
	}
	return fmt.Sprintf("session: exit code %d", e.Code)
}

// ExitErr returns nil when the command exited with code zero, an *ExitError when the host said something else, and Err
// otherwise: for callers who prefer errors.
func (r Result) ExitErr() error {
	switch {
	case r.Err != nil:
		return r.Err
	case r.Status == StatusOK:
		return nil
	case r.ExitCode != nil:
		return &ExitError{Code: *r.ExitCode, Signal: r.Signal}
	default:
		return &ExitError{Code: -1, Signal: r.Signal}
	}
}
