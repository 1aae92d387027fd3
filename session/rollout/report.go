package rollout

import (
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Batch is some of the hosts, which run together.
type Batch struct {
	Number int // from 1
	Canary bool
	Hosts  []hosts.Host

	// What has happened so far. All are of Hosts, and each host is in one of them once its Result is there.
	OK     []hosts.Host
	Failed []hosts.Host // for whatever reason, Verify included
	NotRun []hosts.Host // got nothing
}

// Reason is what stopped a run.
type Reason string

// The reasons. The empty one is of a run that came to its end.
const (
	MaxFail      Reason = "max-fail"
	BatchMaxFail Reason = "batch-max-fail"
	Deadline     Reason = "deadline"
	Declined     Reason = "confirm"  // Plan.Confirm returned an error
	Canceled     Reason = "canceled" // the end of the context
	NoCanary     Reason = "canary"   // every canary was refused before the run; Plan.Run then returns ErrNoCanary, and no Report
)

// Report is what has happened.
type Report struct {
	Batches []Batch // all of the run, also those that have not begun
	Done    int     // how many of them are done
	Took    time.Duration

	Reason Reason
	Why    string // Reason in words; "" without one
}

// Hosts returns how many hosts there are, and how many of them are ok, have failed, and got nothing.
func (r *Report) Hosts() (all, ok, failed, notRun int) {
	for i := range r.Batches {
		b := &r.Batches[i]
		all, ok, failed, notRun = all+len(b.Hosts), ok+len(b.OK), failed+len(b.Failed), notRun+len(b.NotRun)
	}
	return all, ok, failed, notRun
}

// NotRun returns the hosts that got nothing.
func (r *Report) NotRun() []hosts.Host {
	var hs []hosts.Host
	for _, b := range r.Batches {
		hs = append(hs, b.NotRun...)
	}
	return hs
}

// Failed returns the hosts that have failed.
func (r *Report) Failed() []hosts.Host {
	var hs []hosts.Host
	for _, b := range r.Batches {
		hs = append(hs, b.Failed...)
	}
	return hs
}

// exceeded says that a limit is exceeded.
func exceeded(name Reason, l Limit, failed, n int, where string) string {
	return fmt.Sprintf("%d of %d %s%s failed, and %s is %s", failed, n, plural(n, "host"), where, name, l)
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
