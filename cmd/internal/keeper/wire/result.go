package wire

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session"
)

// Result is a command as it is now: the stable format of session.Result, and what a running one seems to wait for.
type Result struct {
	Host           string           `json:"host"`
	Session        string           `json:"session"`
	Exec           string           `json:"exec"`
	Command        string           `json:"command"`
	State          string           `json:"state"`
	Status         string           `json:"status"`
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
	Decision       Decision         `json:"decision"`
	Error          *Fault           `json:"error"`
	WaitingFor     *Waiting         `json:"waiting_for,omitempty"`
	Typed          *Typed           `json:"typed,omitempty" doc:"of a running command: what has become of the last text that somebody had to approve"`
	File           *FileFacts       `json:"file,omitempty" doc:"of work on a file"`
}

// Decision is what the policy said.
type Decision struct {
	Verdict  string `json:"verdict"`
	Class    string `json:"class,omitempty"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`
	Approval string `json:"approval"`
	Needs    string `json:"needs,omitempty"`
	Hint     string `json:"hint,omitempty"`

	WithInput bool `json:"with_input,omitempty" doc:"the approval covers what is typed at the command while it runs, too"`

	ForSession string `json:"for_session,omitempty" doc:"how far the approval reaches that was given for the session"`
}

// Fault is why there is no answer from the host.
type Fault struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retriable bool   `json:"retriable"`
	Exec      string `json:"exec,omitempty"`
}

// Waiting is a guess at what a running command waits for.
type Waiting struct {
	Kind   string `json:"kind"`
	Prompt string `json:"prompt,omitempty"`
}

// Typed is what has become of text that is typed only once somebody has approved it.
type Typed struct {
	State string `json:"state" enum:"awaiting_approval,typed,refused"`
	Error *Fault `json:"error,omitempty" doc:"why it was refused: rejected, expired, canceled or denied"`
}

// ResultOf puts a Result into its JSON form. redacted counts what was taken out of it, by kind.
func ResultOf(r *session.Result, redacted map[string]int) *Result {
	if redacted == nil {
		redacted = map[string]int{}
	}
	j := &Result{
		Host: r.Host, Session: r.Session, Exec: r.Exec, Command: r.Command, State: string(r.State), Status: string(r.Status),
		ExitCode: r.ExitCode, Signal: r.Signal, CWD: r.Dir,
		DurationMS: r.Duration.Milliseconds(), QueueMS: r.Queue.Milliseconds(), DialMS: r.Dial.Milliseconds(),
		StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes,
		Omitted: map[string]int64{"stdout": r.OmittedStdout, "stderr": r.OmittedStderr}, CutAt: map[string]int64{}, Redacted: redacted,
		StderrMode: r.StderrMode, Lane: r.Lane, StoppedBy: r.StoppedBy, MayRun: r.MayRun,
		ShellRestarted: r.ShellRestarted, Reconnected: r.Reconnected, Restored: r.Restored,
		Decision: Decision{
			Verdict: r.Decision.Verdict.String(), Class: string(r.Decision.Class), Rule: r.Decision.Rule, Reason: r.Decision.Reason,
			Approval: r.Decision.Approval, Needs: string(r.Decision.Needs), Hint: r.Decision.Hint,
			WithInput: r.Decision.WithInput, ForSession: r.Decision.ForSession,
		},
	}
	if !r.Started.IsZero() {
		j.Started = r.Started.UTC().Format(time.RFC3339Nano)
	}
	if r.OmittedStdout > 0 {
		j.CutAt["stdout"] = r.CutStdout
	}
	if r.OmittedStderr > 0 {
		j.CutAt["stderr"] = r.CutStderr
	}
	if j.Restored == nil {
		j.Restored = []string{}
	}
	text := utf8.Valid(r.Stdout) && utf8.Valid(r.Stderr) && utf8.Valid(r.Stray)
	j.Encoding, j.Stdout = Encode(r.Stdout, text)
	_, j.Stderr = Encode(r.Stderr, text)
	_, j.Stray = Encode(r.Stray, text)
	if !utf8.ValidString(r.Dir) {
		j.CWDBase64 = base64.StdEncoding.EncodeToString([]byte(r.Dir))
	}
	if r.Err != nil {
		j.Error = &Fault{Code: r.Err.Code, Message: r.Err.Error(), Retriable: r.Err.Retriable, Exec: r.Err.Exec}
	}
	return j
}

// Encode writes bytes as text, or as base64 where they are none.
func Encode(b []byte, text bool) (encoding, data string) {
	if text {
		return "utf-8", string(b)
	}
	return "base64", base64.StdEncoding.EncodeToString(b)
}

// Decode reads what Encode wrote.
func Decode(encoding, data string) ([]byte, error) {
	if encoding == "base64" {
		return base64.StdEncoding.DecodeString(data)
	}
	return []byte(data), nil
}
