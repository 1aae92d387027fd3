package storetest

import "syscall"

// leash makes the system end a child when the test binary is killed.
func leash(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
