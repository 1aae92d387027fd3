package wire

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// Rollout says how a run on many hosts goes in steps.
type Rollout struct {
	Batches      []string `json:"batches,omitempty" maxItems:"1000" doc:"sizes of the batches, as a number of hosts or a percentage of all: 1, 10%, 100%; the last one repeats"`
	Canary       []string `json:"canary,omitzero" maxItems:"100000" doc:"which of the hosts, by name or user@host:port, are a first batch; left out: no canary; an empty list is an error"`
	MaxFail      string   `json:"max_fail,omitempty" maxLength:"20" doc:"how many of all hosts may fail, as a number or a percentage; once more have, no further host gets the command"`
	BatchMaxFail string   `json:"batch_max_fail,omitempty" maxLength:"20" doc:"how many hosts of one batch may fail"`
	Verify       string   `json:"verify,omitempty" doc:"shell source that runs after each batch where the command succeeded; the policy must allow it without a question"`
	Confirm      bool     `json:"confirm,omitempty" doc:"wait between batches, from the event “confirm” on, for POST /v1/runs/{id}/confirm"`
	DeadlineS    *float64 `json:"deadline_s,omitempty" minimum:"0" doc:"stop the whole run after so many seconds"`
	Retry        int      `json:"retry,omitempty" minimum:"0" maximum:"100" doc:"how often a connection that cannot be made is tried again; a command is never sent again, and one that was approved not tried again"`
}

// MaxRetry bounds Rollout.Retry.
const MaxRetry = 100

// maxDeadline bounds a run's deadline.
const maxDeadline = 30 * 24 * time.Hour

// Plan is the plan that it describes, but for what watches the run. canary is which hosts Canary names.
func (r *Rollout) Plan(canary func(hosts.Host) bool) (p rollout.Plan, err error) {
	for _, text := range r.Batches {
		size, err := rollout.ParseSize(text)
		if err != nil {
			return p, fmt.Errorf("batches: %w", err)
		}
		p.Batches = append(p.Batches, size)
	}
	switch {
	case r.Canary == nil:
	case len(r.Canary) == 0: // a caller whose canaries are all gone does not want to run everywhere at once
		return p, errors.New("canary: the list is empty; leave it out to run without a canary")
	default:
		p.Canary = canary
	}
	if r.MaxFail != "" {
		if p.MaxFail, err = rollout.ParseLimit(r.MaxFail); err != nil {
			return p, fmt.Errorf("max_fail: %w", err)
		}
	}
	if r.BatchMaxFail != "" {
		if p.BatchMaxFail, err = rollout.ParseLimit(r.BatchMaxFail); err != nil {
			return p, fmt.Errorf("batch_max_fail: %w", err)
		}
	}
	if s := r.DeadlineS; s != nil {
		if math.IsNaN(*s) || *s <= 0 || *s > maxDeadline.Seconds() {
			return p, fmt.Errorf("deadline_s must be more than 0 and at most %v", maxDeadline.Seconds())
		}
		p.Deadline = time.Duration(*s * float64(time.Second))
	}
	if r.Verify != "" {
		p.Verify = &session.Command{Script: r.Verify}
	}
	p.Retry = r.Retry
	return p, nil
}

// RunBatch is the event “batch”: a batch of a rollout begins; and one batch of a RunReport. Names are folded.
type RunBatch struct {
	Number int    `json:"batch" doc:"from 1"`
	Of     int    `json:"of"`
	Canary bool   `json:"canary,omitempty"`
	Hosts  string `json:"hosts"`
	OK     string `json:"ok,omitempty"`
	Failed string `json:"failed,omitempty"`
	NotRun string `json:"notrun,omitempty" doc:"got nothing"`
}

// RunReport is the event “confirm”, and what the event “end” tells of a rollout: what has happened. Names are folded.
type RunReport struct {
	Batches []RunBatch `json:"batches"`
	Done    int        `json:"done" doc:"how many of the batches are done"`
	Stopped string     `json:"stopped,omitempty" enum:"max-fail,batch-max-fail,deadline,confirm,canceled,canary" doc:"what stopped the run"`
	Why     string     `json:"why,omitempty" doc:"the same in words"`
	NotRun  string     `json:"notrun,omitempty" doc:"hosts that got nothing"`
}

// Cut reports whether the run was stopped by what it was asked for, and not by its caller. A limit that was exceeded on the last
// hosts has stopped nothing.
func (r *RunReport) Cut() bool {
	switch rollout.Reason(r.Stopped) {
	case "", rollout.Canceled:
		return false
	case rollout.MaxFail, rollout.BatchMaxFail:
		return r.NotRun != ""
	}
	return true
}

// BatchOf puts a batch of so many into its JSON form.
func BatchOf(b rollout.Batch, of int, label func(hosts.Host) string) RunBatch {
	fold := func(hs []hosts.Host) string { return foldLabels(hs, label) }
	return RunBatch{Number: b.Number, Of: of, Canary: b.Canary, Hosts: fold(b.Hosts), OK: fold(b.OK), Failed: fold(b.Failed), NotRun: fold(b.NotRun)}
}

// ReportOf puts a report into its JSON form.
func ReportOf(r rollout.Report, label func(hosts.Host) string) RunReport {
	out := RunReport{Batches: []RunBatch{}, Done: r.Done, Stopped: string(r.Reason), Why: r.Why, NotRun: foldLabels(r.NotRun(), label)}
	for _, b := range r.Batches {
		out.Batches = append(out.Batches, BatchOf(b, len(r.Batches), label))
	}
	return out
}

// WithoutCanary reports a rollout that did not start, because the policy refused the command on all its canaries.
func WithoutCanary(canaries, rest []hosts.Host, label func(hosts.Host) string) RunReport {
	return RunReport{
		Batches: []RunBatch{}, Stopped: string(rollout.NoCanary), NotRun: foldLabels(rest, label),
		Why: "the policy refuses the command on every canary (" + foldLabels(canaries, label) + ")",
	}
}

func foldLabels(hs []hosts.Host, label func(hosts.Host) string) string {
	if len(hs) == 0 {
		return ""
	}
	names := make([]string, len(hs))
	for i, h := range hs {
		names[i] = label(h)
	}
	return hosts.Fold(names)
}

// RunConfirm answers the event “confirm”.
type RunConfirm struct {
	Done int  `json:"done" minimum:"0" doc:"as the event said: another number is an answer to another question"`
	GoOn bool `json:"go_on"`
}
