//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// separate starts cmd in a group of its own, which the end of its context kills. The group's number is its own as long as
// one of its processes is there or the program was not waited for, which is when Cancel may be called.
func separate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
