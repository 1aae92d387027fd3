package proof

import "strings"

// Kind says what a system call would do.
type Kind string

// Kinds of events.
const (
	Start   Kind = "start"   // a program
	Write   Kind = "write"   // opens for writing, makes, removes or changes a file
	Connect Kind = "connect" // a socket's address
	Signal  Kind = "signal"  // to another process
	Other   Kind = "other"   // changes something else
	Endless Kind = "endless" // does not end, its output does not, or it leaves a process
)

// Event is one system call that a command made.
type Event struct {
	Kind Kind
	Call string   // the system call
	By   string   // the program that made it: its short name
	What string   // a path, an address, a process
	Args []string // of a started program
}

func (e Event) String() string {
	s := string(e.Kind) + " " + e.By + ": " + e.Call + " " + e.What
	if e.Kind == Endless {
		s = e.Call
	}
	if e.Kind == Start {
		s = "start " + e.By + ": " + strings.Join(e.Args, " ")
	}
	if len(s) > 300 {
		s = s[:300]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}

// Outcome is what became of one run.
type Outcome struct {
	Events  []Event
	Status  int
	Endless bool   // it was ended by the limit of time
	Flood   bool   // it was ended by the limit of output
	Left    string // a process that was still there after the command's end
	Output  string // its first bytes
	Failed  string // it could not be run at all
}
