//go:build linux || darwin

package sshserver

import (
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/session/internal/tty"
)

// spawn starts a process for s.
func (c *conn) spawn(s *Session, ch ssh.Channel) (running, error) {
	shell := c.s.cfg.Shell
	argv := append(shell[:len(shell):len(shell)], s.Line)
	if s.Line == "" {
		argv = shell[:1]
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = c.environ(s), c.s.home()
	if s.PTY {
		return c.onTerminal(cmd, s, ch)
	}
	return c.onPipes(cmd, ch)
}

// onTTY is a process on a terminal.
type onTTY struct {
	c  *conn
	ch ssh.Channel
	p  *tty.Process
	wg sync.WaitGroup // what copies
}

func (c *conn) onTerminal(cmd *exec.Cmd, s *Session, ch ssh.Channel) (running, error) {
	p, err := tty.Start(cmd, tty.Options{Rows: s.Rows, Cols: s.Cols, Modes: s.setModes, Grace: c.s.cfg.Grace})
	if err != nil {
		return nil, err
	}
	return &onTTY{c: c, ch: ch, p: p}, nil
}

func (t *onTTY) begin() {
	t.wg.Go(func() {
		_, _ = io.Copy(onlyWriter{t.p}, onlyReader{t.ch}) // ends when either side does
	})
	t.wg.Go(func() {
		_, _ = io.CopyBuffer(onlyWriter{t.ch}, onlyReader{t.p}, make([]byte, 8<<10)) // a terminal hands out 4 KiB at most
		code, signal := t.p.Wait()
		t.c.end(t.ch, Exit{Code: code, Signal: signal})
	})
}

func (t *onTTY) resize(rows, cols int) { _ = t.p.Resize(rows, cols) }

func (t *onTTY) signal(name string) {
	if sig := unix.SignalNum("SIG" + name); sig != 0 {
		_ = unix.Kill(-t.p.Pid(), sig)
	}
}

func (t *onTTY) hangUp() {
	t.p.Close()
	t.wg.Wait()
}

// onPipe is a process without a terminal.
type onPipe struct {
	c     *conn
	ch    ssh.Channel
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{}
	wg    sync.WaitGroup
}

func (c *conn) onPipes(cmd *exec.Cmd, ch ssh.Channel) (running, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout, cmd.Stderr = onlyWriter{ch}, onlyWriter{ch.Stderr()}
	cmd.WaitDelay = c.s.cfg.Grace
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &onPipe{c: c, ch: ch, cmd: cmd, stdin: stdin, ended: make(chan struct{})}, nil
}

func (p *onPipe) begin() {
	p.wg.Go(func() {
		_, _ = io.Copy(p.stdin, p.ch)
		p.stdin.Close()
	})
	p.wg.Go(func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
		e := Exit{Code: p.cmd.ProcessState.ExitCode()}
		if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			e = Exit{Signal: unix.SignalName(status.Signal())[len("SIG"):]}
		}
		p.c.end(p.ch, e)
	})
}

func (p *onPipe) resize(int, int) {}

func (p *onPipe) signal(name string) {
	if sig := unix.SignalNum("SIG" + name); sig != 0 {
		p.kill(sig)
	}
}

func (p *onPipe) kill(sig syscall.Signal) {
	select {
	case <-p.ended:
	default:
		_ = unix.Kill(-p.cmd.Process.Pid, sig)
	}
}

func (p *onPipe) hangUp() {
	p.kill(unix.SIGHUP)
	timer := time.AfterFunc(p.c.s.cfg.Grace, func() { p.kill(unix.SIGKILL) })
	defer timer.Stop()
	p.wg.Wait()
}

// Without these, io.Copy would use other methods of what it copies, and larger buffers.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
