//go:build unix

package sshconn

import (
	"os"
	"syscall"
)

// ofItsOwn gives a program a session of its own: it is ended as a whole, gets no ^C that is meant for others, and asks nothing at
// the terminal, where it would stop.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func hangUp(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGHUP) }
func kill(p *os.Process)   { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
