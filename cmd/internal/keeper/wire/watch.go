package wire

import "time"

// What can be watched.
const (
	KindSession  = "session"
	KindTerminal = "terminal"
)

// Watched is a session or a full terminal, of whomever. It is also the event “session”, the first one when it is watched.
// What is told of others here and in the events is without the secrets that are known and what looks like one.
type Watched struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" enum:"session,terminal"`
	Name      string    `json:"name,omitempty"`
	Host      string    `json:"host"`
	Owner     string    `json:"owner"`
	CWD       string    `json:"cwd,omitempty" doc:"of a session"`
	Opened    time.Time `json:"opened"`
	Exec      string    `json:"exec,omitempty" doc:"the command that runs in a session, or awaits approval"`
	State     string    `json:"state,omitempty" enum:"awaiting_approval,running" doc:"of that command"`
	Command   string    `json:"command,omitempty" doc:"how its text begins"`
	Sandbox   string    `json:"sandbox,omitempty" enum:"kernel,account,checked" doc:"what enforces its sandbox; omitted without one"`
	Recording string    `json:"recording,omitempty" doc:"the id of a terminal's recording; without one it cannot be watched"`
}

// WatchedList is a list of them.
type WatchedList struct {
	Items []Watched `json:"items"`
}

// WatchCommand is the event “command”: one begins, or the one that runs, or the last one, when the watching does.
type WatchCommand struct {
	Exec        string    `json:"exec"`
	State       string    `json:"state" enum:"awaiting_approval,running,done" doc:"what it was when the event was sent; the event “answered” says that it awaits approval no more"`
	Command     string    `json:"command"`
	CWD         string    `json:"cwd" doc:"where the session was when it was asked for"`
	Started     time.Time `json:"started" doc:"when it was asked for"`
	Interactive bool      `json:"interactive" doc:"on a terminal that takes input"`
	Rows        int       `json:"rows,omitempty" doc:"of that terminal, where that was said"`
	Cols        int       `json:"cols,omitempty"`
}

// WatchAnswered is the event “answered”: a command that awaited approval does so no more. Its result follows where it was not
// approved.
type WatchAnswered struct {
	Exec  string `json:"exec"`
	State string `json:"state" enum:"running,done"`
}

// WatchOutput is the event “output”.
type WatchOutput struct {
	Exec     string `json:"exec" doc:"empty for a terminal"`
	Stream   string `json:"stream" enum:"stdout,stderr"`
	Encoding string `json:"encoding" enum:"utf-8,base64"`
	Data     string `json:"data"`
	Skipped  int64  `json:"skipped,omitempty" doc:"about how many bytes before these were omitted: they came too fast, or before the watching began"`
}

// WatchResult is the event “result”: a command has ended.
type WatchResult struct {
	Exec       string `json:"exec"`
	Status     string `json:"status"`
	ExitCode   *int   `json:"exit_code"`
	Signal     string `json:"signal"`
	DurationMS int64  `json:"duration_ms"`
	CWD        string `json:"cwd"`
	Error      string `json:"error,omitempty" doc:"why there is no answer from the host"`
}

// WatchClosed is the event “closed”, the last one.
type WatchClosed struct{}

// Recording is one of a full terminal.
type Recording struct {
	ID        string     `json:"id" doc:"the terminal's id, as in the audit log"`
	Host      string     `json:"host"`
	Principal string     `json:"principal,omitempty" doc:"who opened it, if the audit log says so"`
	Started   time.Time  `json:"started"`
	Ended     *time.Time `json:"ended,omitempty" doc:"when something was recorded last; omitted while the terminal is open"`
	Seconds   float64    `json:"seconds" doc:"from its beginning to what was recorded last"`
	Bytes     int64      `json:"bytes" doc:"of the file"`
	Live      bool       `json:"live" doc:"the terminal is open, at this keeper"`
}

// Recordings is a list of them, the newest first.
type Recordings struct {
	Items []Recording `json:"items"`
}

// Found is what is on record about one command, or about something that is none.
type Found struct {
	ID        string    `json:"id" doc:"of the command; empty where it is about none"`
	Time      time.Time `json:"time" doc:"of the first record"`
	Kind      string    `json:"kind" doc:"what it is about: command, file, job, session, approval, chain"`
	Principal string    `json:"principal,omitempty"`
	Host      string    `json:"host,omitempty"`
	Verdict   string    `json:"verdict,omitempty"`
	Status    string    `json:"status,omitempty"`
	ExitCode  *int      `json:"exit_code,omitempty" doc:"omitted if it is unknown"`
	Signal    string    `json:"signal,omitempty"`
	Command   string    `json:"command,omitempty" doc:"redacted, as the audit log has it"`
	Events    []any     `json:"events" doc:"the entries, the oldest first, in the audit log's format"`
}

// FoundList is a part of what was found, the newest first.
type FoundList struct {
	Items      []Found `json:"items"`
	Next       string  `json:"next_cursor" doc:"for the next page; empty on the last one"`
	Unreadable int     `json:"unreadable,omitempty" doc:"how many lines of the audit log were skipped because they are damaged: see /v1/audit/verify"`
}
