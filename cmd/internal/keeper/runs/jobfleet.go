package runs

import (
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// asJob makes the command the start of one job on all hosts, where that is asked for.
func (x *fleet) asJob() (err error) {
	b := x.in
	switch {
	case b.Job == "":
		return nil
	case b.Copy != nil || b.Program != "" || b.Held || b.Stdin || b.Rollout != nil || b.IdleS != nil || b.TimeoutS != nil:
		return problem.Invalid("job_id starts shell source as a job: copy, program, held, stdin, rollout, idle_s and timeout_s have no effect on it")
	}
	if err := x.engine.Limits(x.c.Principal).Shell(); err != nil {
		return err
	}
	if x.job, err = jobs.StartOnEach(&x.cmd, b.Job, x.c.Principal, x.hosts); err != nil {
		return problem.Invalid("%v", err)
	}
	return nil
}

// began remembers the job of a host, which then is found by its id alone.
func (x *fleet) began(h hosts.Host, r *session.Result) {
	if x.job != nil && (r.Status == session.StatusOK || r.Status == session.StatusLost) {
		x.r.Jobs.Found(jobs.Ref{Host: h.Name, ID: x.job.ID(h.Name)})
	}
}
