package outcome

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// Describe says in words how a host failed, and why: "" where it answered. The reason is the same for all hosts that fail
// alike.
func Describe(r session.Result) (what, why string) {
	switch r.Status {
	case session.StatusOK:
		return "ok", ""
	case session.StatusExit:
		if r.ExitCode != nil {
			return fmt.Sprintf("exit %d", *r.ExitCode), ""
		}
	case session.StatusSignal:
		return "killed by SIG" + r.Signal, ""
	case session.StatusCanceled:
		if r.Err == nil || !r.Err.Sent {
			return "not run", ""
		}
		if r.MayRun {
			return "stopped, may still be running", ""
		}
		return "stopped", ""
	}
	what = map[session.Status]string{
		session.StatusAuth: "not logged in", session.StatusHostKey: "not trusted", session.StatusLost: "outcome unknown",
	}[r.Status]
	if what == "" {
		what = string(r.Status)
	}
	if r.Err != nil {
		why = cmdutil.Why(r.Err)
		switch r.Err.Code {
		case "needs_terminal":
			what = "stopped"
		case "full":
			what = "full"
		case "become": // the connection is there
			what = "become failed"
		}
	}
	if r.Status == session.StatusDenied {
		why = strings.TrimPrefix(why, "denied: ")
		if hint := r.Decision.Hint; hint != "" && (r.Err == nil || r.Err.Code != "rejected") { // who is asked has answered
			why += ": " + cmdutil.OneLine(hint)
		}
	}
	return what, strings.TrimPrefix(why, what+": ")
}

// DescribeAt is Describe with the address that was tried, where one was.
func DescribeAt(r session.Result) (what, why string) {
	what, why = Describe(r)
	if why != "" && r.Status != session.StatusDenied {
		why = strings.TrimPrefix(cmdutil.WhyAt(r.Err), what+": ")
	}
	return what, why
}

// Tell is what a person should read last about a command on one host; "" when there is nothing to say that the output and
// the exit code do not.
func Tell(host string, r session.Result) string {
	what, why := DescribeAt(r)
	if why != "" {
		what += ": " + why
	}
	return Line(host, r.Status, what)
}

// Line is Tell for what is already in words.
func Line(host string, s session.Status, what string) string {
	if s == session.StatusOK || s == session.StatusExit {
		return ""
	}
	return fmt.Sprintf("fairlead: %s: %s\n", host, what)
}

// Stopping tells a person who pressed ^C what happens now; "" for any other cause.
func Stopping(cause error, where string) string {
	var sig *cmdutil.SignalError
	if !errors.As(cause, &sig) {
		return ""
	}
	return fmt.Sprintf("fairlead: %v; stopping the command on %s (press ^C again to quit without waiting)\n", sig, where)
}

// EndedAtOnce says what a program that was asked twice to stop leaves behind, and how to look after it.
func EndedAtOnce(sig *cmdutil.SignalError, running *cmdutil.Running) string {
	names, known := running.Hosts()
	switch {
	case !known:
		return fmt.Sprintf("%v; ended at once. Commands may still be running. Requests without a result are in: fairlead audit verify\n", sig)
	case len(names) == 0:
		return fmt.Sprintf("%v; ended at once\n", sig)
	}
	where := hosts.Fold(names)
	return fmt.Sprintf("%v; ended at once. The command may still be running on %s. Check with: fairlead run %s -- ps -ef\n", sig, where, printable.Word(where))
}
