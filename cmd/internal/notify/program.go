package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/fairlead-ssh/fairlead/audit/procgroup"
)

// run runs the program with an event on its standard input. What it prints is thrown away. The end of ctx kills it, with
// what it has started in its process group.
func (p *place) run(ctx context.Context, q queued) (again bool, err error) {
	argv := p.cfg.Exec
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = bytes.NewReader(append(slices.Clip(q.body), '\n'))
	cmd.Env = append(os.Environ(), "FAIRLEAD_EVENT="+q.kind, "FAIRLEAD_DELIVERY="+q.id)
	cmd.Dir = "/"
	err = procgroup.Run(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() >= 0 {
		return false, fmt.Errorf("exit code %d", exit.ExitCode())
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = path.Err
	}
	return false, err
}
