package outcome

import (
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

// ShellEnded reports whether a shell of its own has run a one-off command, and has ended with it.
func ShellEnded(r session.Result) bool { return r.ExitCode != nil && r.StderrMode != "channel" } // which has no shell of ours

// EndedWith says of a one-off command that started something in the background that this ended with it; "" of any other.
func EndedWith(script string) string {
	if !parse.LeavesBehind(script) {
		return ""
	}
	return "fairlead: what the command has left in the background ended with it: wait for it, keep it with nohup or setsid, or start it with fairlead jobs start\n"
}
