package session

import (
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session/held"
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
	StatusUnreachable Status = "unreachable" // no connection, or no shell on it; nothing was sent
	StatusAuth        Status = "auth"        // not logged in; nothing was sent
	StatusHostKey     Status = "hostkey"     // the server's key is not trusted; nothing was sent
	StatusLost        Status = "lost"        // sent, outcome unknown
	StatusError       Status = "error"       // our own failure
)

// Result is the outcome of one command, the same for everybody. Its JSON form, [ResultJSON], is a stable format that loses
// nothing: what is marshaled and unmarshaled again is the same Result, as far as another process can have it.
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

	// StderrMode is "live", "lines" (line by line, NUL bytes lost), "merged", or "channel": the host gives no terminal, so no
	// shell stayed and Dir is not known; what the command left running may go on, also after the connection is lost.
	StderrMode string
	Lane       string // the shell it ran in: "session", "clean" or "held"
	StoppedBy  string // the step that stopped it: "INT", "TERM", "KILL", "shell"
	MayRun     bool   // what was stopped may still be running

	// Held says whether the host's kernel held the command to reading: "kernel", "no", or "" where neither a policy nor
	// Command.Held asked for it. HeldBy says by what, such as "landlock 7, seccomp", and NotHeld why not.
	Held    string
	HeldBy  string
	NotHeld string

	// Refused are the system calls that the kernel refused to a held command, each once, as they came. RefusedMore counts further ones
	// that are not listed. RefusedUnknown says why the host does not report them; "" where it does, or where nothing held the command.
	Refused        []held.Refusal
	RefusedMore    int
	RefusedUnknown string

	ShellRestarted bool     // the shell was new, because the one before had ended
	Reconnected    bool     // the connection was new, because the one before was lost
	Restored       []string // what of the old shell's state the new one got: "cwd", "umask", "env"; see [RestoredStale]

	Own bool // nobody has asked for it: it makes the session ready

	Decision policy.Decision
	Err      *Error // nil exactly when the host answered: ok, exit, signal
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
