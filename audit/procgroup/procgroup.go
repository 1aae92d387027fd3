// Package procgroup runs programs so that the end of a context ends them with all that they have started.
package procgroup

import (
	"errors"
	"os/exec"
	"time"
)

// WaitDelay is how long what a program leaves behind may hold its input and output open.
const WaitDelay = time.Second

// Run runs a command made by [exec.CommandContext] in a process group of its own. The end of its context kills the group. A
// program that ended well has done so, also when something that it left behind holds its output open.
func Run(cmd *exec.Cmd) error {
	cmd.WaitDelay = WaitDelay
	separate(cmd)
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() {
		return nil
	}
	return err
}
