//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tty

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Options says how a terminal is set up before the program starts.
type Options struct {
	Rows, Cols int
	Modes      func(*unix.Termios) // changes the settings of a new terminal; nil leaves them
	Grace      time.Duration       // how long the program may take to end after a hang-up, before it is killed
}

// Process is a program that leads a session of its own on a terminal of its own. All methods may be called concurrently.
type Process struct {
	master *os.File
	cmd    *exec.Cmd
	grace  time.Duration
	ended  chan struct{} // closed once the program is reaped
	hangUp sync.Once
}

// Start starts cmd on a new terminal. The settings are in force before the program's first instruction.
func Start(cmd *exec.Cmd, o Options) (*Process, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	if err = setUp(slave, o); err == nil {
		// Only now: every ioctl through creack/pty makes the descriptor blocking again.
		master, err = nonblocking(master)
	}
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
		hearSignals()
		err = cmd.Start()
	}
	if err != nil {
		master.Close()
		return nil, err
	}
	p := &Process{master: master, cmd: cmd, grace: o.Grace, ended: make(chan struct{})}
	go p.reap()
	return p, nil
}

// setUp changes the settings through the slave, because some systems refuse them on the master before it is open.
func setUp(slave *os.File, o Options) error {
	if err := resize(slave, o.Rows, o.Cols); err != nil {
		return err
	}
	if o.Modes == nil {
		return nil
	}
	fd := int(slave.Fd())
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	o.Modes(t)
	return unix.IoctlSetTermios(fd, setTermios, t)
}

// nonblocking returns f with a descriptor that the runtime can wait for, so that closing it interrupts a Read. It
// closes f, whatever happens.
func nonblocking(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	f.Close()
	if err != nil {
		return f, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return f, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func resize(f *os.File, rows, cols int) error {
	return pty.Setsize(f, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
}

func (p *Process) reap() {
	defer close(p.ended)
	// Nothing is copied for the program, so an error can only be how it ended; ProcessState says that.
	_ = p.cmd.Wait()
	// The kernel goes on taking what is typed at a terminal that nobody has open, so the end must be said to writers.
	_ = p.master.SetWriteDeadline(time.Unix(1, 0))
}

// Read returns what the program printed; io.EOF once it has ended or was hung up.
func (p *Process) Read(b []byte) (int, error) {
	n, err := p.master.Read(b)
	if err != nil && (errors.Is(err, unix.EIO) || errors.Is(err, os.ErrClosed)) {
		err = io.EOF
	}
	return n, err
}

// Write types b. Once the program has ended it fails, and so does a Write that is under way.
func (p *Process) Write(b []byte) (int, error) { return p.master.Write(b) }

// Resize tells the terminal's new size; the kernel sends SIGWINCH.
func (p *Process) Resize(rows, cols int) error {
	c, err := p.master.SyscallConn()
	if err != nil {
		return err
	}
	size := &unix.Winsize{Row: uint16(rows), Col: uint16(cols)}
	var failed error
	if err := c.Control(func(fd uintptr) { failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) }); err != nil {
		return err
	}
	return failed
}

// Pid returns the program's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended is closed once the program has ended and was reaped.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait blocks until the program has ended and says how: with an exit code, or by a signal, named without SIG.
func (p *Process) Wait() (code int, signal string) {
	<-p.ended
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 0, signalName(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode(), ""
}

// Close hangs up, and returns once the program is reaped.
//
//  1. The program gets SIGHUP. It alone: a supervisor of shells tells the rest of the session when it is time, and of any other program
//     the kernel does, when it ends.
//  2. The terminal goes away: every Read and Write on it ends, on both sides.
//  3. A program that is still there after the grace is killed, with its process group and the foreground one.
func (p *Process) Close() error {
	p.hangUp.Do(func() {
		front := p.foreground()
		select {
		case <-p.ended:
		default:
			_ = unix.Kill(p.Pid(), unix.SIGHUP)
		}
		p.master.Close()
		grace := time.NewTimer(p.grace)
		defer grace.Stop()
		select {
		case <-p.ended:
		case <-grace.C:
			p.kill(front)
		}
	})
	<-p.ended
	return nil
}

// foreground returns the process group in the terminal's foreground, or 0.
func (p *Process) foreground() (group int) {
	c, err := p.master.SyscallConn()
	if err != nil {
		return 0
	}
	_ = c.Control(func(fd uintptr) {
		if g, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP); err == nil {
			group = g
		}
	})
	return group
}

// kill reaches the program's process group, and another one only if it still belongs to the program's session: a number may have been
// given away again.
func (p *Process) kill(group int) {
	select {
	case <-p.ended:
		return
	default:
	}
	leader := p.Pid()
	_ = unix.Kill(-leader, unix.SIGKILL)
	if group > 1 && group != leader {
		if sid, err := unix.Getsid(group); err == nil && sid == leader {
			_ = unix.Kill(-group, unix.SIGKILL)
		}
	}
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); len(name) > 3 {
		return name[3:]
	}
	return sig.String()
}
