package jobs

import (
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// startTimeout bounds the start of a job on one of many hosts, once it was sent.
const startTimeout = time.Minute

// StartOnEach makes cmd, which Pool.Each runs on hs, the start of one job on all of them, for the principal of the pool's sessions.
// Work.ID names the job of each host, and Started reads a Result's output. id is NewID's.
func StartOnEach(cmd *session.Command, id, principal string, hs []hosts.Host) (*Work, error) {
	w, err := NewStartAll(id, principal, 0, hs)
	if err != nil {
		return nil, err
	}
	if cmd.Scripts == nil {
		err = CheckCommand(cmd.Script)
	}
	for _, h := range hs {
		if cmd.Scripts != nil && err == nil {
			err = CheckCommand(cmd.Scripts(h))
		}
	}
	if err != nil {
		return nil, err
	}
	cmd.Timeout, cmd.Keep = startTimeout, startAnswer
	seam.Wrap(cmd, w)
	return w, nil
}

// startAnswer bounds what the start of a job prints.
const startAnswer = 8 << 10
