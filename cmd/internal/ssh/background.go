package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// begunBy is set for the process that -f leaves in the background, to the program that called the first one. That process says by its
// fourth file that it has begun.
const begunBy = "FAIRLEAD_SSH_BEGUN_BY"

const readyFile = 3

// inBackground begins the call in a process of its own, which asks at the same terminal, and returns once it has logged in and listens,
// as ssh -f does; or with its exit code where it ends before.
func (r *runner) inBackground(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return r.fail(err)
	}
	ready, theirs, err := os.Pipe()
	if err != nil {
		return r.fail(err)
	}
	defer ready.Close()
	p := exec.CommandContext(ctx, self)
	p.Args, p.Env = os.Args, append(os.Environ(), begunBy+"="+caller())
	p.Stdout, p.Stderr = os.Stdout, os.Stderr // as they are: they outlive this process
	p.ExtraFiles = []*os.File{theirs}
	p.Cancel = func() error { return p.Process.Signal(syscall.SIGTERM) }
	err = p.Start()
	theirs.Close()
	if err != nil {
		return r.fail(fmt.Errorf("-f: %w", err))
	}
	if n, _ := ready.Read(make([]byte, 1)); n == 1 {
		return nil
	}
	err = p.Wait()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return &cmdutil.ExitError{Code: ended.ExitCode(), Exact: true}
	case err != nil:
		return r.fail(fmt.Errorf("-f: %w", err))
	}
	return nil
}

// begun lets the process that waits for this one go, and leaves the terminal.
func (r *runner) begun() {
	if !r.c.background || r.f.Getenv(begunBy) == "" {
		return
	}
	r.left.Do(func() {
		_, _ = syscall.Setsid()
		ready := os.NewFile(readyFile, "ready")
		_, _ = ready.Write([]byte{'.'})
		ready.Close()
	})
}
