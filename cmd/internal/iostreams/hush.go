package iostreams

import (
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// hush keeps what is typed at the terminal off the screen, and out of the hands of the shell that comes after.
type hush struct {
	fd int

	mu     sync.Mutex   // guards what follows
	before unix.Termios // what the terminal was like
	ours   unix.Termios // what it is like while it is quiet
	quiet  bool
}

var hushed struct {
	mu  sync.Mutex
	all map[*hush]struct{}
}

// Hush turns the echo of the terminal off while a command runs that nothing can be typed at, so that a password typed at its
// prompt is not shown. loud turns it on again and drops what was typed meanwhile: the next program would take it, and a
// shell run it. Stopping the process (^Z) turns the echo on until it goes on. Where In is no terminal, or the process is in
// the background, or a pager may read the same terminal, Hush does nothing.
func (s *IOStreams) Hush() (loud func()) {
	in, ok := s.In.(*os.File)
	if !ok || !s.InTTY || s.pagerMayRead() {
		return func() {}
	}
	h := &hush{fd: int(in.Fd())}
	h.on()
	hushed.mu.Lock()
	if hushed.all == nil {
		hushed.all = map[*hush]struct{}{}
	}
	hushed.all[h] = struct{}{}
	hushed.mu.Unlock()
	stops, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(stops, unix.SIGTSTP, unix.SIGCONT)
	var wg sync.WaitGroup
	wg.Go(func() { h.follow(stops, done) })
	return sync.OnceFunc(func() {
		signal.Stop(stops)
		close(done)
		wg.Wait()
		hushed.mu.Lock()
		delete(hushed.all, h)
		hushed.mu.Unlock()
		h.off()
	})
}

// Unhush is for a process that ends without calling what Hush returned.
func Unhush() {
	hushed.mu.Lock()
	defer hushed.mu.Unlock()
	for h := range hushed.all {
		h.off()
	}
}

// aloud shows what is typed for the time of a question.
func aloud() (again func()) {
	hushed.mu.Lock()
	defer hushed.mu.Unlock()
	var back []*hush
	for h := range hushed.all {
		if h.off() {
			back = append(back, h)
		}
	}
	return func() {
		hushed.mu.Lock()
		defer hushed.mu.Unlock()
		for _, h := range back {
			if _, still := hushed.all[h]; still {
				h.on()
			}
		}
	}
}

// pagerMayRead reports whether Out is a pipe: what reads it may be less, which uses the terminal as it likes.
func (s *IOStreams) pagerMayRead() bool {
	if s.OutTTY {
		return false
	}
	st, err := os.Stdout.Stat()
	return err != nil || st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// foreground reports whether this process may change the terminal: one in the background would be stopped.
func (h *hush) foreground() bool {
	group, err := unix.IoctlGetInt(h.fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func (h *hush) on() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.quiet || !h.foreground() {
		return
	}
	now, err := unix.IoctlGetTermios(h.fd, getTermios)
	if err != nil || now.Lflag&unix.ECHO == 0 {
		return // somebody else sees to it
	}
	h.before, h.ours = *now, *now
	h.ours.Lflag &^= unix.ECHO | unix.ECHONL
	h.quiet = unix.IoctlSetTermios(h.fd, setTermios, &h.ours) == nil
}

func (h *hush) off() (was bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.quiet || !h.foreground() {
		return false
	}
	h.quiet = false
	dropTyped(h.fd)
	if now, err := unix.IoctlGetTermios(h.fd, getTermios); err == nil && now.Lflag == h.ours.Lflag {
		_ = unix.IoctlSetTermios(h.fd, setTermios, &h.before)
	}
	return true
}

// resumable reports whether a shell may have the process go on after a stop. The system stops none by ^Z either where there
// is no such shell.
func resumable() bool {
	mine, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parents, err := unix.Getsid(unix.Getppid())
	return err == nil && mine == parents
}

// follow has the terminal as it was while the process is stopped.
func (h *hush) follow(stops chan os.Signal, done chan struct{}) {
	for {
		select {
		case <-done:
			return
		case sig := <-stops:
			if sig == unix.SIGCONT {
				h.mu.Lock()
				h.quiet = false // a shell has made it as it likes meanwhile
				h.mu.Unlock()
				h.on()
				continue
			}
			if !resumable() {
				continue
			}
			h.off()
			_ = unix.Kill(unix.Getpid(), unix.SIGSTOP) // a Go program cannot get SIGTSTP's own effect back
		}
	}
}
