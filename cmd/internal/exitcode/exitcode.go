// Package exitcode is the one table that turns outcomes into the program's exit code. The codes are part of the
// interface: documented in the help, covered by a test, never renumbered.
package exitcode

import (
	"strconv"

	"github.com/fairlead-ssh/fairlead/session"
)

// The codes.
const (
	OK          = 0
	Failed      = 1   // some command exited non-zero; a record that does not verify
	Usage       = 2   // flags, arguments, selectors, inventories
	Unreachable = 3   // some host not reached, not logged in to, or not trusted
	Unknown     = 4   // timeout, or outcome unknown
	Denied      = 5   // denied, rejected or expired
	Internal    = 6   // our own failure: the record cannot be written, …
	Interrupted = 130 // ^C, or canceled
	ClosedPipe  = 141 // whoever read our output went away: 128 + SIGPIPE
)

// Host is the code for one host's result alone: its own exit code, where the host gave one.
func Host(r session.Result) int {
	switch r.Status {
	case session.StatusOK:
		return OK
	case session.StatusExit:
		if r.ExitCode != nil && *r.ExitCode != 0 {
			return *r.ExitCode
		}
		return Failed
	case session.StatusSignal:
		return 128 + signalNumber(r.Signal)
	default:
		return class(r.Status)
	}
}

// class is the code for a status among others.
func class(s session.Status) int {
	switch s {
	case session.StatusOK:
		return OK
	case session.StatusExit, session.StatusSignal:
		return Failed
	case session.StatusUnreachable, session.StatusAuth, session.StatusHostKey:
		return Unreachable
	case session.StatusTimeout, session.StatusLost:
		return Unknown
	case session.StatusDenied, session.StatusExpired:
		return Denied
	case session.StatusCanceled:
		return Interrupted
	default:
		return Internal
	}
}

// Tally adds results up to one code. The zero Tally is ready for use.
type Tally struct {
	// Own says that an exit code of a host is never ours: any non-zero exit is Failed, also of a single host.
	Own bool

	results int
	last    session.Result
	seen    [len(order)]bool
}

// order is which class decides when results are mixed, from the strongest.
var order = [...]int{Internal, Denied, Unknown, Unreachable, Interrupted, Failed}

// Add takes one result in.
func (t *Tally) Add(r session.Result) {
	t.results++
	t.last = session.Result{Status: r.Status, ExitCode: r.ExitCode, Signal: r.Signal}
	for i, c := range order {
		if class(r.Status) == c {
			t.seen[i] = true
		}
	}
}

// Code returns the code of all results so far.
func (t *Tally) Code() int {
	if t.results == 1 && !t.Own {
		return Host(t.last)
	}
	for i, c := range order {
		if t.seen[i] {
			return c
		}
	}
	return OK
}

// signalNumber knows the numbers that POSIX and every system we know share; a Result tells others as numbers.
func signalNumber(name string) int {
	switch name {
	case "HUP":
		return 1
	case "INT":
		return 2
	case "QUIT":
		return 3
	case "ILL":
		return 4
	case "ABRT":
		return 6
	case "FPE":
		return 8
	case "KILL":
		return 9
	case "SEGV":
		return 11
	case "PIPE":
		return 13
	case "ALRM":
		return 14
	case "TERM":
		return 15
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n < 127 {
		return n
	}
	return 127 // some signal; the result names it
}
