//go:build !unix

package sshconn

import (
	"os"
	"syscall"
)

func ofItsOwn() *syscall.SysProcAttr { return nil }

func hangUp(p *os.Process) { _ = p.Kill() }
func kill(p *os.Process)   { _ = p.Kill() }
