package framing

import (
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// Signal returns a command line that makes the shell with that process id end its command, and then sends a signal ("INT",
// "TERM", "KILL") to all its descendants. It prints what it has done; see [ParseSignaled]. Like [Loader]'s, it means the same to
// every login shell.
//
// The shell ends its command on SIGURG, at the next place where it could go on: so nothing does when its programs have ended.
// A child of the shell's that is signaled before it has become its program may forget that: what looks like the shell gets INT
// once more a little later, with what it has started since, and on Linux until it is a program. With "" for the signal that is all. With INT it gets that only if there are programs: a command that traps INT and runs none has its own use for it.
// It does not get the signal itself: what the command traps is the command's own, and bash forgets SIGURG over it. Where the
// command made the shell deaf to SIGURG, or put another program in its place, nothing is signaled: to end the programs would let
// the rest run.
func Signal(pid int, signal string) string {
	if signal == "INT" {
		return forLogin(hostcode.Fill(interruptText(), "alone", ":"), " "+strconv.Itoa(pid))
	}
	if signal == "" {
		signal = "0"
	}
	return forLogin(hostcode.Fill(signalText(), "signal", signal), " "+strconv.Itoa(pid))
}

// Interrupt is [Signal] with INT for a shell that is not known to have a trap on INT: where it runs no program, it is made to end
// its command, too, and gets SIGINT itself, but for bash, which forgets SIGURG over that. Other than a key that is typed, this
// cannot hit a program that the shell is about to start, and so let a command that does trap INT go on behind that program. The
// shell is not counted.
func Interrupt(pid int, d Dialect) string {
	alone := "kill -URG $0 2>/dev/null"
	if d != Bash {
		alone += ";kill -INT $0 2>/dev/null"
	}
	return forLogin(hostcode.Fill(interruptText(), "alone", alone), " "+strconv.Itoa(pid))
}

// Unheard returns a command line that counts the programs that the shell with that process id has in the foreground of its
// terminal and that SIGINT would have ended: those that neither catch it nor ignore it nor block it, and live. Where the key has
// just been typed they became programs a moment after it, as a child of ksh93's that is not yet its program forgets the key.
// It signals nobody. On systems without /proc/PID/status, which is Linux's (proc(5)), it counts nothing.
func Unheard(pid int) string { return forLogin(unheardText(), " "+strconv.Itoa(pid)) }

// Kill returns a command line that kills the shell with that process id, and then all its descendants.
func Kill(pid int) string { return SignalTree(pid, "KILL") }

// Signaled is what a line that [Signal], [Interrupt], [Unheard] or [Kill] made has done.
type Signaled struct {
	Count int  // processes that were sent the signal, or that Unheard counts
	Deaf  bool // the shell would not have ended its command, so there were none
	Done  bool // it ran where the shell can be signaled from
}

// ParseSignaled reads the output of the line that [Signal] made for a process.
func ParseSignaled(output string, pid int) (s Signaled) {
	_, rest, ok := strings.Cut(output, "fairlead:"+strconv.Itoa(pid)+":")
	f := strings.SplitN(rest, ":", 3)
	if !ok || len(f) != 3 {
		return s
	}
	count, err := strconv.Atoi(f[0])
	if err != nil || count < 0 {
		return s
	}
	return Signaled{Count: count, Deaf: f[1] == "d", Done: true}
}
