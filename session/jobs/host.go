package jobs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Host is where jobs are, for one principal: the one of its pool's sessions.
type Host struct {
	name string
	open func(change func(*session.Config)) (*session.Session, error)
}

// On returns the jobs on a host that a pool reaches. It connects with the first call.
func On(p *session.Pool, h hosts.Host) *Host {
	return &Host{h.Name, func(change func(*session.Config)) (*session.Session, error) {
		return p.OpenWith(h, func(c *session.Config) {
			c.OneOff, c.Principal = true, cmp.Or(c.Principal, session.DefaultPrincipal)
			change(c)
		})
	}}
}

// Spec says what is to be started.
type Spec struct {
	Command string // shell source, at most MaxCommand bytes
	Dir     string // where it runs; "" is the account's home
	Reason  string // for the record
	Limit   int64  // bytes kept of each output; zero means DefaultLimit
	ID      string // NewID's; "" makes one up
}

// Start has a job started. The Result is that of the start, as of any command: where the policy says no, or asks, it says so.
// After an error that wraps session.ErrUnknownOutcome the job may run: Look says whether.
func (h *Host) Start(ctx context.Context, spec Spec) (Job, session.Result, error) {
	if spec.ID == "" {
		spec.ID = NewID()
	}
	var who string
	s, err := h.open(func(c *session.Config) { who = c.Principal })
	if err != nil {
		return Job{}, session.Result{}, err
	}
	defer s.Close()
	w, err := NewStart(spec.ID, who, spec.Limit)
	if err != nil {
		return Job{}, session.Result{}, fault(h.name, CodeInvalid, "%w", err)
	}
	if spec.Dir != "" {
		if r, err := goTo(ctx, s, spec); err != nil || r.Status != session.StatusOK {
			if err == nil {
				err = fault(h.name, CodeInvalid, "nothing can be started in %q: %s", spec.Dir, said(r.Stderr))
			}
			return Job{}, r, err
		}
	}
	var out bounded
	cmd := session.Command{Script: spec.Command, Reason: spec.Reason, Stdout: &out, Keep: -1}
	seam.Wrap(&cmd, w)
	r, err := s.Run(ctx, cmd)
	if err != nil {
		return Job{}, r, err
	}
	j, err := h.one(out.Bytes(), &r)
	return j, r, mayRun(h.name, err)
}

func goTo(ctx context.Context, s *session.Session, spec Spec) (session.Result, error) {
	cd, err := session.Words("cd", "--", spec.Dir)
	if err != nil {
		return session.Result{}, fault("", CodeInvalid, "cwd: %w", err)
	}
	return s.Run(ctx, session.Command{Script: cd, Reason: spec.Reason})
}

// Started reads what a session's command with [NewStart] has printed: the error says why no job runs.
func Started(host string, stdout []byte) error {
	h := Host{name: host}
	_, err := h.one(stdout, nil)
	return mayRun(host, err)
}

// LookOptions say what of a job's output is wanted. The zero value asks for its state alone.
type LookOptions struct {
	Wait           time.Duration // for output beyond the offsets, or the end; at most 50 s
	EndOnly        bool          // only the end ends the wait, not output
	Stdout, Stderr Span
	Reason         string
}

// Span is a piece of an output, in bytes.
type Span struct {
	Offset int64
	Limit  int // at most 4 MiB
}

// Look is a job as it is now, and pieces of its outputs.
type Look struct {
	Job
	Stdout, Stderr []byte // from the offsets on; exact bytes
}

// Look looks at a job.
func (h *Host) Look(ctx context.Context, id string, o LookOptions) (Look, error) {
	span := func(s Span) []string {
		return []string{strconv.FormatInt(min(max(s.Offset, 0), maxNumber), 10), strconv.Itoa(min(max(s.Limit, 0), maxPage))}
	}
	args := append([]string{seconds(min(o.Wait, maxWait))}, append(span(o.Stdout), span(o.Stderr)...)...)
	if o.EndOnly {
		args = append(args, "end")
	}
	a, j, err := h.ask(ctx, "look", id, o.Reason, args...)
	return Look{j, a.stdout, a.stderr}, err
}

// Stop ends a job with all processes of its session: with SIGTERM, and what is left after grace with SIGKILL (zero means
// DefaultGrace). It returns when that is done. A job that has ended is left as it is. What the job has taken out of its session
// (setsid) goes on; MayRun says so where it shows.
func (h *Host) Stop(ctx context.Context, id string, grace time.Duration, reason string) (Job, error) {
	if grace == 0 {
		grace = DefaultGrace
	}
	_, j, err := h.ask(ctx, "stop", id, reason, "0", "0", "0", "0", "0", seconds(min(grace, maxWait)))
	return j, err
}

// Remove takes a job that has ended off the host, with its output, and says once more how it ended.
func (h *Host) Remove(ctx context.Context, id, reason string) (Job, error) {
	_, j, err := h.ask(ctx, "remove", id, reason)
	return j, err
}

// MaxListed bounds the jobs that a host lists.
const MaxListed = 10_000

// listPage is how many jobs one look at a host lists; look.sh says so, too.
const listPage = 1000

// List returns the principal's jobs on the host, at most [MaxListed] of them; more says that there are others.
func (h *Host) List(ctx context.Context, reason string) (all []Job, more bool, err error) {
	return h.list(ctx, "", "", reason)
}

// ListGroup is List for the jobs of a group: those that NewStartAll makes of one id. With numbers it is for those among them that have
// one of these.
func (h *Host) ListGroup(ctx context.Context, id, reason string, numbers ...int) (all []Job, more bool, err error) {
	if !ValidID(id) || strings.Contains(id, "-") {
		return nil, false, fault(h.name, CodeInvalid, "%w", errRef)
	}
	only := ""
	for _, n := range numbers {
		only += " " + strconv.Itoa(n) + " "
	}
	return h.list(ctx, id, only, reason)
}

func (h *Host) list(ctx context.Context, id, only, reason string) (all []Job, more bool, err error) {
	for skip := 0; skip < MaxListed; skip += listPage {
		a, err := h.run(ctx, newWork("list", id, only, strconv.Itoa(skip)), reason)
		if err != nil {
			return nil, false, err
		}
		for i := range a.jobs {
			a.jobs[i].Host = h.name
		}
		all, more = append(all, a.jobs...), a.more
		if !more {
			break
		}
	}
	slices.SortFunc(all, func(a, b Job) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b Job) bool { return a.ID == b.ID }), more, nil // one that began meanwhile moves others to the next page
}

// ask does something to one job.
func (h *Host) ask(ctx context.Context, op, id, reason string, args ...string) (answer, Job, error) {
	if !ValidID(id) {
		return answer{}, Job{}, fault(h.name, CodeInvalid, "%w", errRef)
	}
	a, err := h.run(ctx, newWork(op, id, args...), reason)
	if err != nil {
		return a, Job{}, err
	}
	if len(a.jobs) != 1 || a.jobs[0].ID != id {
		return a, Job{}, unread(h.name, garbled("it is about another job"))
	}
	a.jobs[0].Host = h.name
	return a, a.jobs[0], nil
}

// newWork returns what makes a Work once the principal is known.
func newWork(op, id string, args ...string) func(who string) *Work {
	return func(who string) *Work { return newLook(op, id, who, args...) }
}

// run runs one script in a session of its own.
func (h *Host) run(ctx context.Context, work func(who string) *Work, reason string) (answer, error) {
	var who string
	s, err := h.open(func(c *session.Config) {
		who, c.Policy = c.Principal, unasked{c.Policy}
	})
	if err != nil {
		return answer{}, err
	}
	defer s.Close()
	w := work(who)
	var out bounded
	cmd := session.Command{Script: w.script(), Reason: reason, Stdout: &out, Keep: -1}
	seam.Wrap(&cmd, w)
	r, err := s.Run(ctx, cmd)
	if err != nil {
		return answer{}, err
	}
	return h.read(out.Bytes(), &r)
}

// read reads an answer, and makes an error of a failure that it tells.
func (h *Host) read(text []byte, r *session.Result) (answer, error) {
	a, err := parse(text)
	if err != nil {
		if r != nil && len(r.Stderr) > 0 {
			err = fmt.Errorf("%w; it says %q", err, said(r.Stderr))
		}
		return a, unread(h.name, err)
	}
	return a, a.err(h.name)
}

// one reads an answer about one job.
func (h *Host) one(text []byte, r *session.Result) (Job, error) {
	a, err := h.read(text, r)
	if err == nil && len(a.jobs) != 1 {
		err = unread(h.name, garbled("it names no job"))
	}
	if err != nil {
		return Job{}, err
	}
	a.jobs[0].Host = h.name
	return a.jobs[0], nil
}

// said is the beginning of what a host printed, for a message.
func said(text []byte) string { return printable.Heard(string(text), 200) }

// bounded keeps no more than an answer may have.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxHeader + 2*maxPage - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// unasked takes for a no what the policy would ask somebody: nobody's time is taken for looking.
type unasked struct{ policy.Decider }

func (u unasked) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	d, err := u.Decider.Decide(ctx, req)
	if err == nil && d.Verdict == policy.Ask {
		d.Verdict, d.Needs, d.Hint = policy.Deny, "", ""
		d.Reason = "the policy does not allow reading a job's files without approval: " + d.Reason
	}
	return d, err
}
