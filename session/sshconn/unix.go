//go:build unix

package sshconn

import (
	"io/fs"
	"os"
	"syscall"
)

// ofItsOwn gives a program a session of its own: it is ended as a whole, gets no ^C that is meant for others, and asks nothing at
// the terminal, where it would stop.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func hangUp(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGHUP) }
func kill(p *os.Process)   { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// ownSocket reports whether a file is a socket of this account, or of root: what is sent there would be another's to read.
func ownSocket(file string) bool {
	st, err := os.Stat(file)
	if err != nil || st.Mode()&fs.ModeSocket == 0 {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && (int(sys.Uid) == os.Geteuid() || sys.Uid == 0)
}
