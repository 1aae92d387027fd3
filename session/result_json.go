package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// ResultJSON is the stable JSON form of a [Result]. Fields are added to it, and none is renamed or removed.
type ResultJSON struct {
	Host           string           `json:"host"`
	Session        string           `json:"session"`
	Exec           string           `json:"exec"`
	Command        string           `json:"command"`
	CommandBase64  string           `json:"command_b64,omitempty" doc:"the command's bytes, if they are not UTF-8"`
	State          string           `json:"state"`
	Status         string           `json:"status"`
	ExitCode       *int             `json:"exit_code"`
	Signal         string           `json:"signal"`
	Stdout         string           `json:"stdout"`
	Stderr         string           `json:"stderr"`
	Stray          string           `json:"stray"`
	Encoding       string           `json:"encoding" enum:"utf-8,base64" doc:"of stdout, stderr and stray"`
	CWD            string           `json:"cwd"`
	CWDBase64      string           `json:"cwd_b64,omitempty" doc:"the directory's bytes, if they are not UTF-8"`
	Started        string           `json:"started"`
	DurationMS     int64            `json:"duration_ms"`
	QueueMS        int64            `json:"queue_ms"`
	DialMS         int64            `json:"dial_ms"`
	DurationNS     int64            `json:"duration_ns,omitempty" doc:"duration_ms in nanoseconds, if it is not a whole number of milliseconds"`
	QueueNS        int64            `json:"queue_ns,omitempty"`
	DialNS         int64            `json:"dial_ns,omitempty"`
	StdoutBytes    int64            `json:"stdout_bytes"`
	StderrBytes    int64            `json:"stderr_bytes"`
	StdinBytes     int64            `json:"stdin_bytes,omitempty"`
	StdinSHA256    string           `json:"stdin_sha256,omitempty"`
	Omitted        map[string]int64 `json:"omitted"`
	CutAt          map[string]int64 `json:"cut_at"`
	Redacted       map[string]int   `json:"redacted"`
	StderrMode     string           `json:"stderr_mode"`
	Lane           string           `json:"lane"`
	Held           string           `json:"held,omitempty" enum:"kernel,no" doc:"whether the host's kernel held the command to reading; absent where that was not asked for"`
	HeldBy         string           `json:"held_by,omitempty" doc:"what held it, such as landlock 7, seccomp"`
	NotHeld        string           `json:"not_held,omitempty" doc:"why it was not held"`
	Refused        []held.Refusal   `json:"refused,omitempty" doc:"system calls that the kernel refused to the held command, each once"`
	RefusedMore    int              `json:"refused_more,omitempty" doc:"how many further calls were refused that are not listed"`
	RefusedUnknown string           `json:"refused_unknown,omitempty" doc:"why it is not known what the kernel refused"`
	StoppedBy      string           `json:"stopped_by"`
	MayRun         bool             `json:"may_run,omitempty"`
	ShellRestarted bool             `json:"shell_restarted"`
	Reconnected    bool             `json:"reconnected"`
	Restored       []string         `json:"restored"`
	Own            bool             `json:"own,omitempty" doc:"the command made the session ready; the caller did not ask for it"`
	Decision       DecisionJSON     `json:"decision"`
	Error          *ErrorJSON       `json:"error"`
}

// DecisionJSON is the stable JSON form of a [policy.Decision]: what a policy or an approver decided, without what only the
// session needs that runs the command.
type DecisionJSON struct {
	Verdict    string `json:"verdict"`
	Class      string `json:"class,omitempty"`
	Rule       string `json:"rule"`
	Reason     string `json:"reason"`
	Approval   string `json:"approval"`
	Needs      string `json:"needs,omitempty"`
	Hint       string `json:"hint,omitempty"`
	LeastProof string `json:"least_proof,omitempty" doc:"the least proof of a person that an approval takes"`
	ApprovedBy string `json:"approved_by,omitempty"`
	Proof      string `json:"proof,omitempty"`
	WithInput  bool   `json:"with_input,omitempty" doc:"the approval covers what is typed at the command while it runs, too"`
	ForSession string `json:"for_session,omitempty" doc:"how far the approval reaches that was given for the session"`
}

// MarshalJSON writes the stable form. Bytes that are not UTF-8 in any stream turn all three to base64, as "encoding" says.
func (r Result) MarshalJSON() ([]byte, error) { return marshalPlain(r.JSON()) }

// marshalPlain keeps < > & as they are: shell source is full of them.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Unknown fields are ignored: a newer version may have written them.
func (r *Result) UnmarshalJSON(text []byte) error {
	var j ResultJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	res, err := j.Result()
	if err != nil {
		return err
	}
	*r = res
	return nil
}

// JSON returns the stable form of r.
func (r Result) JSON() ResultJSON {
	j := ResultJSON{
		Host: r.Host, Session: r.Session, Exec: r.Exec, State: string(r.State), Status: string(r.Status), ExitCode: r.ExitCode, Signal: r.Signal, Encoding: "utf-8",
		StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes, StdinBytes: r.StdinBytes, StdinSHA256: r.StdinSHA256,
		Omitted: map[string]int64{"stdout": r.OmittedStdout, "stderr": r.OmittedStderr}, CutAt: map[string]int64{}, Redacted: map[string]int{},
		StderrMode: r.StderrMode, Lane: r.Lane, Held: r.Held, HeldBy: r.HeldBy, NotHeld: r.NotHeld, Refused: slices.Clone(r.Refused), RefusedMore: r.RefusedMore, RefusedUnknown: r.RefusedUnknown, StoppedBy: r.StoppedBy, MayRun: r.MayRun,
		ShellRestarted: r.ShellRestarted, Reconnected: r.Reconnected, Restored: append([]string{}, r.Restored...), Own: r.Own,
		Decision: decisionJSON(r.Decision), Error: errorJSON(r.Err, r.Host),
	}
	j.Command, j.CommandBase64 = textOrBase64(r.Command)
	j.CWD, j.CWDBase64 = textOrBase64(r.Dir)
	j.DurationMS, j.DurationNS = millis(r.Duration)
	j.QueueMS, j.QueueNS = millis(r.Queue)
	j.DialMS, j.DialNS = millis(r.Dial)
	if !r.Started.IsZero() {
		j.Started = r.Started.UTC().Format(time.RFC3339Nano)
	}
	maps.Copy(j.Redacted, r.Redacted)
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
	return j
}

// Result returns the Result that j was made of.
func (j ResultJSON) Result() (Result, error) {
	r := Result{
		Host: j.Host, Session: j.Session, Exec: j.Exec, State: State(j.State), Status: Status(j.Status), ExitCode: j.ExitCode, Signal: j.Signal,
		Duration: span(j.DurationMS, j.DurationNS), Queue: span(j.QueueMS, j.QueueNS), Dial: span(j.DialMS, j.DialNS),
		StdoutBytes: j.StdoutBytes, StderrBytes: j.StderrBytes, StdinBytes: j.StdinBytes, StdinSHA256: j.StdinSHA256,
		OmittedStdout: j.Omitted["stdout"], OmittedStderr: j.Omitted["stderr"], CutStdout: j.CutAt["stdout"], CutStderr: j.CutAt["stderr"],
		StderrMode: j.StderrMode, Lane: j.Lane, Held: j.Held, HeldBy: j.HeldBy, NotHeld: j.NotHeld, Refused: slices.Clone(j.Refused), RefusedMore: j.RefusedMore, RefusedUnknown: j.RefusedUnknown, StoppedBy: j.StoppedBy, MayRun: j.MayRun,
		ShellRestarted: j.ShellRestarted, Reconnected: j.Reconnected, Restored: append([]string(nil), j.Restored...), Own: j.Own,
		Err: j.Error.fault(j.Host, Status(j.Status)),
	}
	if len(j.Redacted) > 0 {
		r.Redacted = maps.Clone(j.Redacted)
	}
	wrong := make([]error, 0, 4)
	note := func(field string, err error) {
		if err != nil {
			wrong = append(wrong, fmt.Errorf("session: a result's %q cannot be read: %w", field, err))
		}
	}
	bytesOf := func(field, text string) []byte {
		switch {
		case text == "":
			return nil
		case j.Encoding != "base64":
			return []byte(text)
		}
		b, err := base64.StdEncoding.DecodeString(text)
		note(field, err)
		return b
	}
	r.Stdout, r.Stderr, r.Stray = bytesOf("stdout", j.Stdout), bytesOf("stderr", j.Stderr), bytesOf("stray", j.Stray)
	var err error
	r.Command, err = bytesOrText(j.Command, j.CommandBase64)
	note("command_b64", err)
	r.Dir, err = bytesOrText(j.CWD, j.CWDBase64)
	note("cwd_b64", err)
	if j.Started != "" {
		r.Started, err = time.Parse(time.RFC3339Nano, j.Started)
		note("started", err)
	}
	r.Decision, err = j.Decision.decision()
	note("decision", err)
	return r, errors.Join(wrong...)
}

func decisionJSON(d policy.Decision) DecisionJSON {
	return DecisionJSON{
		Verdict: d.Verdict.String(), Class: string(d.Class), Rule: d.Rule, Reason: d.Reason, Approval: d.Approval, Needs: string(d.Needs), Hint: d.Hint,
		LeastProof: string(d.LeastProof), ApprovedBy: d.ApprovedBy, Proof: string(d.Proof), WithInput: d.WithInput, ForSession: d.ForSession,
	}
}

func (j DecisionJSON) decision() (policy.Decision, error) {
	d := policy.Decision{
		Class: policy.Class(j.Class), Rule: j.Rule, Reason: j.Reason, Approval: j.Approval, Needs: policy.Needs(j.Needs), Hint: j.Hint,
		LeastProof: policy.Proof(j.LeastProof), ApprovedBy: j.ApprovedBy, Proof: policy.Proof(j.Proof), WithInput: j.WithInput, ForSession: j.ForSession,
	}
	return d, d.Verdict.UnmarshalText([]byte(j.Verdict))
}

// millis gives a duration in milliseconds, and in nanoseconds where those say more.
func millis(d time.Duration) (ms, ns int64) {
	if ms = d.Milliseconds(); time.Duration(ms)*time.Millisecond != d {
		ns = d.Nanoseconds()
	}
	return ms, ns
}

func span(ms, ns int64) time.Duration {
	if ns != 0 {
		return time.Duration(ns)
	}
	return time.Duration(ms) * time.Millisecond
}

// textOrBase64 gives text as JSON can hold it, and its bytes where JSON cannot.
func textOrBase64(text string) (plain, encoded string) {
	if !utf8.ValidString(text) {
		encoded = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text, encoded
}

func bytesOrText(plain, encoded string) (string, error) {
	if encoded == "" {
		return plain, nil
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	return string(b), err
}
