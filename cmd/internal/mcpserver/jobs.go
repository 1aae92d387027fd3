package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type jobStartArgs struct {
	Targets string   `json:"targets"`
	Command string   `json:"command"`
	CWD     string   `json:"cwd,omitempty"`
	Become  string   `json:"become,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	WaitS   *float64 `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
}

type jobOutputArgs struct {
	JobID    string   `json:"job_id" jsonschema:"HOST/ID"`
	Offset   *int64   `json:"offset,omitempty" jsonschema:"page from this byte: next_offset"`
	Stream   string   `json:"stream,omitempty"`
	MaxBytes int      `json:"max_bytes,omitempty"`
	Base64   bool     `json:"base64,omitempty" jsonschema:"show binary output"`
	WaitS    *float64 `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
}

type jobStopArgs struct {
	JobID  string `json:"job_id"`
	Reason string `json:"reason,omitempty"`
}

// jobOut is a job as it is now.
type jobOut struct {
	from      string           // the host, for the text
	ID        string           `json:"job_id,omitempty"`
	State     string           `json:"state,omitempty"` // awaiting_approval, starting, running, ended, lost, failed or canceled (it never began)
	ExitCode  *int             `json:"exit_code,omitempty"`
	Signal    string           `json:"signal,omitempty"`
	StoppedBy string           `json:"stopped_by,omitempty"`
	MayRun    bool             `json:"may_run,omitempty"`
	Damaged   string           `json:"damaged,omitempty"` // what of its files on the host cannot be read
	AgeS      float64          `json:"age_s,omitempty"`
	Stdout    int64            `json:"stdout_bytes,omitempty"`
	Stderr    int64            `json:"stderr_bytes,omitempty"`
	Omitted   map[string]int64 `json:"omitted,omitempty"`   // bytes of each stream that came after those and were thrown away
	Collected bool             `json:"collected,omitempty"` // nothing of it is left on the host
	Page      *pageOut         `json:"page,omitempty"`
	Decision  *decisionOut     `json:"decision,omitempty"`
	Next      string           `json:"next,omitempty"`
	Error     *faultOut        `json:"error,omitempty"`
}

func (o *jobOut) fault() **faultOut { return &o.Error }
func (o *jobOut) failed() bool      { return o.Error != nil }

// text implements result.
func (o *jobOut) text() string {
	r := &rendered{}
	r.say(plainState(o.State) + prefixed(" SIG", o.Signal))
	if o.ExitCode != nil {
		r.say(fmt.Sprintf("exit %d", *o.ExitCode))
	}
	r.say(stopped(o.StoppedBy, o.MayRun), o.Damaged, o.Error.text())
	if o.AgeS > 0 {
		r.say(fmt.Sprintf("age %g s", o.AgeS))
	}
	r.say(unlessZero("stdout %d bytes", o.Stdout), unlessZero("stderr %d bytes", o.Stderr), prefixed("not kept: ", counts("%d bytes of %s", o.Omitted)),
		when(o.Collected, "collected: nothing of it is left on the host"))
	if o.Decision != nil {
		r.say(o.Decision.text())
	}
	if o.Page != nil {
		r.say(o.Page.about())
	}
	r.say(prefixed("next: ", o.Next))
	if o.Page != nil {
		o.Page.show(r, o.from)
	}
	return r.String(o.ID + when(o.ID != "", ": "))
}

// jobsOut is what became of the start of a job on several hosts.
type jobsOut struct {
	Jobs  []*jobOut `json:"jobs,omitempty"`
	Error *faultOut `json:"error,omitempty"`
}

func (o *jobsOut) fault() **faultOut { return &o.Error }
func (o *jobsOut) failed() bool      { return o.Error != nil }

// text implements result.
func (o *jobsOut) text() string {
	var lines []string
	if o.Error != nil && len(o.Jobs) == 0 {
		lines = append(lines, o.Error.text())
	}
	for _, j := range o.Jobs {
		lines = append(lines, j.text())
	}
	return strings.Join(lines, "\n")
}

func (s *Server) addJobTools() error {
	for _, err := range []error{
		add(s, &mcp.Tool{
			Name: "job_start", Annotations: hints("Start a job", false, true), OutputSchema: schemaOf(`"jobs":{"type":"array"}`),
			Description: "Start a command that outlives the connection, on each of targets. Its output and exit code stay on the host. The same approval rules as run.",
		}, s.jobStart),
		add(s, &mcp.Tool{
			Name: "job_output", Annotations: hints("Look at a job", true, false), OutputSchema: schemaOf(`"state":{"type":"string"},"page":{"type":"object"}`),
			Description: "A job's state and a page of its output. Waits up to wait_s for more.",
		}, s.jobOutput),
		add(s, &mcp.Tool{
			Name: "job_stop", Annotations: hints("Stop a job", false, true), OutputSchema: schemaOf(""),
			Description: "Stop a job: SIGTERM, then SIGKILL. If the job has ended, deletes its files on the host.",
		}, s.jobStop),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) jobStart(ctx context.Context, c *call, in jobStartArgs) (*jobsOut, error) {
	out := &jobsOut{}
	wait, err := waitTime(in.WaitS)
	if err == nil && in.Command == "" {
		err = invalid("give command")
	}
	if err == nil {
		err = s.cfg.Limits().Shell()
	}
	if err != nil {
		return out, err
	}
	hs, err := s.selectHosts(in.Targets)
	if err != nil {
		return out, err
	}
	if hs, err = as(hs, in.Become); err != nil {
		return out, err
	}
	cmd, err := jobwork.Command("", s.cfg.Principal, hs, registry.Command{Script: in.Command, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	f, refused, err := s.toHosts(ctx, hs, cmd, in.CWD, in.Become, nil, false)
	if err != nil {
		return out, err
	}
	var refs []jobs.Ref
	if refused == nil {
		refs = s.cfg.Jobs.BeganAll(f)
	}
	s.awaitFleet(ctx, c, f, wait, true)
	if refused != nil {
		return out, refused
	}
	failed := 0
	for _, ref := range refs {
		st, _ := s.cfg.Jobs.Start(ref)
		j := &jobOut{from: ref.Host, ID: ref.String(), State: string(st.State), Error: faultOf(st.Err)}
		if j.Error != nil {
			j.Error.Message, _ = s.cfg.Registry.Redact(j.Error.Message)
			failed++
		}
		if j.State == string(jobwork.Awaiting) {
			if i := slices.IndexFunc(hs, func(h hosts.Host) bool { return h.Name == ref.Host }); i >= 0 {
				if j.Decision = decided(f.Decision(hs[i]), s.redactor().text); j.Decision != nil {
					s.explainDecision(hs[i], registry.Command{Script: in.Command}, f.Decision(hs[i]), nil, j.Decision)
				}
			}
			j.Next = "job_output waits for the answer; job_stop withdraws it"
		}
		out.Jobs = append(out.Jobs, j)
	}
	if failed > 0 && failed == len(out.Jobs) {
		out.Error = out.Jobs[0].Error
	}
	return out, nil
}

func (s *Server) jobOutput(ctx context.Context, c *call, in jobOutputArgs) (*jobOut, error) {
	out := &jobOut{}
	wait, err := waitTime(in.WaitS)
	most := filePage
	switch {
	case err != nil:
		return out, err
	case in.MaxBytes < 0 || in.Offset != nil && *in.Offset < 0:
		return out, invalid("offset and max_bytes must not be negative")
	case in.MaxBytes > 0:
		most = min(in.MaxBytes, callBytes)
	}
	ref, err := s.cfg.Jobs.Find(in.JobID)
	if err != nil {
		return out, err
	}
	stream := in.Stream
	if stream == "" {
		stream = registry.Stdout
	}
	began := time.Now()
	wctx, stop := s.waiting(ctx, c, wait+time.Minute, func() progress {
		d := time.Since(began)
		return progress{done: d.Seconds(), text: fmt.Sprintf("%s: nothing new for %v", ref, d.Round(time.Second))}
	})
	j, p, err := s.cfg.Jobs.Output(wctx, ref, jobwork.Ask{Stream: stream, Offset: at(in.Offset), Limit: int(s.cfg.Limits().Output(int64(most))), Wait: wait})
	stop()
	if err != nil {
		return out, err
	}
	out = jobOf(j)
	out.Collected = s.cfg.Jobs.Collected(ref)
	out.Page = s.redactor().page(stream, p)
	unseen := !in.Base64 && out.Page.Text == "" && out.Page.Base64 != ""
	if unseen {
		out.Page = out.Page.withoutBase64()
	}
	switch {
	case unseen:
		out.Next = "these bytes are no text: the same call with base64 true shows them"
	case out.Collected:
	case over(j) && p.End:
		out.Next = "job_stop deletes its files on the host"
	}
	return out, nil
}

func over(j jobs.Job) bool { return j.State == jobs.Ended || j.State == jobs.Lost }

func (s *Server) jobStop(ctx context.Context, _ *call, in jobStopArgs) (*jobOut, error) {
	ref, err := s.cfg.Jobs.Find(in.JobID)
	if err != nil {
		return &jobOut{}, err
	}
	j, err := s.cfg.Jobs.State(ctx, ref, 0, in.Reason)
	if err != nil {
		return &jobOut{}, err
	}
	was := over(j)
	if was {
		j, err = s.cfg.Jobs.Collect(ctx, ref, in.Reason)
	} else {
		j, err = s.cfg.Jobs.Stop(ctx, ref, 0, in.Reason)
	}
	if err != nil {
		return &jobOut{}, err
	}
	out := jobOf(j)
	out.Collected = was
	return out, nil
}

func jobOf(j jobs.Job) *jobOut {
	o := &jobOut{
		from: j.Ref().Host, ID: j.Ref().String(), State: string(j.State), ExitCode: j.ExitCode, Signal: j.Signal, StoppedBy: j.StoppedBy, MayRun: j.MayRun, Damaged: j.Damaged,
		AgeS: j.Age.Seconds(), Stdout: j.Stdout.Bytes, Stderr: j.Stderr.Bytes,
	}
	for name, n := range map[string]int64{registry.Stdout: j.Stdout.Omitted, registry.Stderr: j.Stderr.Omitted} {
		if n > 0 {
			if o.Omitted == nil {
				o.Omitted = map[string]int64{}
			}
			o.Omitted[name] = n
		}
	}
	return o
}
