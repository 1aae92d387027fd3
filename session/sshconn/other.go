//go:build !unix

package sshconn

import (
	"os"
	"syscall"
)

func ofItsOwn() *syscall.SysProcAttr { return nil }

func hangUp(p *os.Process) { _ = p.Kill() }
func kill(p *os.Process)   { _ = p.Kill() }

// ownSocket: OpenSSH has no ControlPath here.
func ownSocket(string) bool { return false }
