package wire

import (
	"errors"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// NewJob asks for a job: a command that keeps running when its client, the connection and the keeper are gone.
type NewJob struct {
	Host    string   `json:"host,omitempty" maxLength:"255" doc:"a host's name; or session_id"`
	Session string   `json:"session_id,omitempty" maxLength:"80" doc:"id or name of a session of one's own: the job runs in its directory, with its exported variables, by its shell"`
	Command string   `json:"command" minLength:"1" maxLength:"524288" doc:"shell source, judged as the same command in a session is"`
	CWD     string   `json:"cwd,omitempty" maxLength:"4096" doc:"where it runs; with host alone"`
	Become  string   `json:"become,omitempty" maxLength:"64" doc:"the account as which it runs, instead of the one that the inventory says; with host alone. A keeper after this one does not know it: begin such jobs with the inventory's become where they must outlive the keeper"`
	Reason  string   `json:"reason,omitempty" maxLength:"4096" doc:"reason, shown to approvers and recorded in the audit log"`
	ID      string   `json:"job_id,omitempty" maxLength:"22" pattern:"^j_[a-z2-7]{13}(-[1-9][0-9]{0,5})?$" doc:"its id, 65 random bits that the caller has made up, and for one of several hosts a number: then a caller that loses the answer knows which job to look for"`
	WaitS   *float64 `json:"wait_s,omitempty" minimum:"0" doc:"seconds to wait for its start, which may need approval (default 30, at most 50)"`

	Confirm    bool   `json:"confirm,omitempty" doc:"the operator's confirmation, where the policy requires one"`
	BreakGlass string `json:"break_glass,omitempty" doc:"an operator's: the host's name, to start what is forbidden; takes a reason too"`
}

// Job is a job as it is now.
type Job struct {
	ID    string `json:"job_id" doc:"HOST/ID: all that any keeper needs to find it again"`
	Host  string `json:"host"`
	State string `json:"state" doc:"awaiting_approval, starting, running, ended, lost (it ended and left no exit code) or canceled (before it began)"`

	ExitCode  *int   `json:"exit_code" doc:"null unless it has ended"`
	Signal    string `json:"signal,omitempty" doc:"the signal of an exit_code above 128, by the shells' convention"`
	StoppedBy string `json:"stopped_by,omitempty" enum:"TERM,KILL"`
	MayRun    bool   `json:"may_run,omitempty" doc:"something that it has started may still run"`

	Damaged string `json:"damaged,omitempty" doc:"what of its files on the host cannot be read: a full disk may have emptied them. Its output can be read, and it can be collected"`

	Owner   string     `json:"owner,omitempty" doc:"the principal; an operator sees those of agents too"`
	Started *time.Time `json:"started,omitempty" doc:"by the host's clock, as ended is"`
	Ended   *time.Time `json:"ended,omitempty"`
	AgeS    float64    `json:"age_s,omitempty" doc:"since it was started"`
	Command string     `json:"command,omitempty" doc:"the beginning of its command on one line, without secrets, as its host has kept it"`
	SHA256  string     `json:"command_sha256,omitempty"`

	StdoutBytes int64            `json:"stdout_bytes" doc:"kept on the host, exact bytes"`
	StderrBytes int64            `json:"stderr_bytes"`
	Omitted     map[string]int64 `json:"omitted,omitempty" doc:"bytes that came after those, by stream, and were thrown away"`

	Exec string `json:"exec,omitempty" doc:"of one that is being started: the command that does it; see /v1/execs/{id}"`
}

// Jobs is a list of them.
type Jobs struct {
	Items  []Job      `json:"items"`
	Next   string     `json:"next_cursor,omitempty"`
	Failed []JobsFrom `json:"failed,omitempty" doc:"hosts that could not be asked"`
}

// JobsFrom is why a host could not be asked for its jobs.
type JobsFrom struct {
	Host   string `json:"host"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// JobPage is a piece of a job's output, and the job as it is then.
type JobPage struct {
	Page
	Job Job `json:"job"`
}

// StopJob says how a job is ended.
type StopJob struct {
	GraceS *float64 `json:"grace_s,omitempty" minimum:"0" doc:"seconds between SIGTERM and SIGKILL (default 5, at most 30)"`
	Reason string   `json:"reason,omitempty" maxLength:"4096" doc:"reason to record in the audit log"`
}

// JobOf is a job as JSON.
func JobOf(j jobs.Job) *Job {
	out := &Job{
		ID: j.Ref().String(), Host: j.Host, State: string(j.State), ExitCode: j.ExitCode, Signal: j.Signal, StoppedBy: j.StoppedBy, MayRun: j.MayRun, Damaged: j.Damaged,
		Owner: j.Owner, Command: j.Command, SHA256: j.CommandSHA256, AgeS: j.Age.Seconds(), StdoutBytes: j.Stdout.Bytes, StderrBytes: j.Stderr.Bytes,
	}
	for _, at := range []struct {
		to   **time.Time
		when time.Time
	}{{&out.Started, j.Started}, {&out.Ended, j.Ended}} {
		if !at.when.IsZero() {
			*at.to = &at.when
		}
	}
	for name, n := range map[string]int64{"stdout": j.Stdout.Omitted, "stderr": j.Stderr.Omitted} {
		if n > 0 {
			if out.Omitted == nil {
				out.Omitted = map[string]int64{}
			}
			out.Omitted[name] = n
		}
	}
	return out
}

// JobsFailed tells apart the errors of hosts that were joined. why says what people read of one.
func JobsFailed(err error, why func(error) string) (all []JobsFrom) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			all = append(all, JobsFailed(e, why)...)
		}
		return all
	}
	var se *session.Error
	if errors.As(err, &se) {
		return []JobsFrom{{Host: se.Host, Code: se.Code, Detail: why(se)}}
	}
	if err != nil {
		return []JobsFrom{{Code: "error", Detail: why(err)}}
	}
	return nil
}
