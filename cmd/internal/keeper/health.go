package keeper

import (
	"os"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func (k *Keeper) health(c *access.Caller) wire.Health {
	h := wire.Health{
		Status: "ok", Store: k.storeFault(), Audit: k.auditFault(), Version: k.cfg.Version, API: wire.API, Separation: c.Account.Separation(),
		PID: os.Getpid(), Started: k.started.UTC(), Sessions: k.realms.Sessions(),
	}
	if h.Store != "" || h.Audit != "" {
		h.Status = "degraded"
	}
	return h
}

// auditCheckTime is how long a caller waits for a check of the audit log, which takes less than a millisecond where all is well.
const auditCheckTime = time.Second

// auditCheck is the check of the audit log that is in progress. There is one at a time: a disk that hangs keeps no more than that.
type auditCheck struct {
	mu   sync.Mutex
	done chan struct{} // of the one in progress; nil where there is none
	err  error         // of the last one
}

// auditFault says why the audit log takes no entry now, so that nothing runs; "" is nothing.
func (k *Keeper) auditFault() string {
	check := &k.auditCheck
	check.mu.Lock()
	done := check.done
	if done == nil {
		leave, err := k.stay()
		if err != nil {
			check.mu.Unlock()
			return "" // it ends
		}
		done = make(chan struct{})
		check.done = done
		go func() {
			defer leave()
			err := k.sink.Check(k.base)
			check.mu.Lock()
			defer check.mu.Unlock()
			check.done, check.err = nil, err
			close(done)
		}()
	}
	check.mu.Unlock()
	late := time.NewTimer(auditCheckTime)
	defer late.Stop()
	select {
	case <-late.C:
		return "the audit log does not answer: a disk hangs, or a process holds its lock; see which process has its files open (lsof), and check the disk"
	case <-done:
	}
	check.mu.Lock()
	defer check.mu.Unlock()
	if check.err != nil {
		return cmdutil.Text(check.err)
	}
	return ""
}
