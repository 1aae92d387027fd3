package keeper

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

const (
	jobsPath    = "/v1/jobs"
	maxJobGrace = 30 * time.Second
	maxJobs     = 10000
)

type (
	newJobIn struct {
		Key  string `header:"Idempotency-Key" maxLength:"200" doc:"the same key with the same request gives the same job, for 24 hours"`
		Body wire.NewJob
	}
	jobIn struct {
		ID     string  `path:"id" maxLength:"300" doc:"HOST/ID, with the slash as %2F; or the id alone of a job that this keeper has heard of"`
		Reason string  `query:"reason" maxLength:"4096" doc:"reason to record in the audit log"`
		WaitS  float64 `query:"wait_s" minimum:"0" doc:"wait so many seconds for its end (default 0, at most 50)"`
	}
	jobPageIn struct {
		ID     string  `path:"id" maxLength:"300" doc:"HOST/ID, with the slash as %2F; or the id alone of a job that this keeper has heard of"`
		Stream string  `query:"stream" enum:"stdout,stderr" default:"stdout"`
		Offset int64   `query:"offset" minimum:"0" doc:"of the text as it is shown: next_offset of the page before"`
		Limit  int     `query:"limit" minimum:"0" maximum:"4194304" doc:"bytes (default 262144)"`
		WaitS  float64 `query:"wait_s" minimum:"0" doc:"wait so many seconds for something at that offset, or the end (default 0, at most 50)"`
		Reason string  `query:"reason" maxLength:"4096" doc:"reason to record in the audit log"`
	}
	collectJobIn struct {
		ID     string `path:"id" maxLength:"300" doc:"HOST/ID, with the slash as %2F; or the id alone of a job that this keeper has heard of"`
		Reason string `query:"reason" maxLength:"4096" doc:"reason to record in the audit log"`

		Discard bool `query:"discard" doc:"its output is not wanted: the keeper does not read the rest of it, and keeps none"`
	}
	stopJobIn struct {
		ID   string        `path:"id" maxLength:"300" doc:"HOST/ID, with the slash as %2F; or the id alone of a job that this keeper has heard of"`
		Body *wire.StopJob `required:"false"`
	}
	jobsIn struct {
		Selector string `query:"selector" maxLength:"4096" doc:"the hosts; if omitted, those on which this keeper knows of jobs"`
		Limit    int    `query:"limit" minimum:"0" maximum:"10000" doc:"how many (default 100); each page asks the hosts that come after the cursor again"`
		Group    string `query:"group" maxLength:"80" doc:"only the jobs with this id, which a job on several hosts has on each of them; selector names the hosts, in the order of its start"`
		Cursor   string `query:"cursor" maxLength:"300" doc:"next_cursor of the page before"`
		Known    bool   `query:"known" doc:"those that this keeper has heard of, the latest first, by name alone and without asking a host"`
		Reason   string `query:"reason" maxLength:"4096" doc:"reason to record in the audit log"`
	}
	jobOut struct {
		Status int
		Body   *wire.Job
	}
)

func (k *Keeper) addJobs(a *route.API) {
	const tag = "jobs"
	route.Add(a, route.Route{Method: "POST", Path: jobsPath, ID: "start-job", Tag: tag, Need: access.NeedRun, Status: http.StatusCreated, Also: route.WhileItRuns,
		Summary: "Start a command that outlives the connection: it keeps running when the keeper ends, and its output stays on the host until it is collected"}, k.startJob)
	route.Add(a, route.Route{Method: "GET", Path: jobsPath, ID: "list-jobs", Summary: "The caller's jobs, as their hosts report them", Tag: tag, Need: access.NeedRun}, k.listJobs)
	route.Add(a, route.Route{Method: "GET", Path: jobsPath + "/{id}", ID: "get-job", Summary: "A job as it is now; waits for its end if asked to", Tag: tag, Need: access.NeedRun}, k.getJob)
	route.Add(a, route.Route{Method: "GET", Path: jobsPath + "/{id}/output", ID: "page-job", Summary: "A job's output by offset", Tag: tag, Need: access.NeedRun}, k.pageJob)
	route.Add(a, route.Route{Method: "POST", Path: jobsPath + "/{id}/stop", ID: "stop-job", Summary: "End a job with all processes of its session; its output stays", Tag: tag, Need: access.NeedRun}, k.stopJob)
	route.Add(a, route.Route{Method: "DELETE", Path: jobsPath + "/{id}", ID: "collect-job", Tag: tag, Need: access.NeedRun,
		Summary: "Take a job that has ended off its host, and say once more how it ended; the keeper keeps its output for a while"}, k.collectJob)
}

func (k *Keeper) startJob(ctx context.Context, c *access.Caller, in *newJobIn) (*jobOut, error) {
	engine, err := k.realms.Admit(c)
	if err != nil {
		return nil, err
	}
	if err := engine.Limits(c.Principal).Shell(); err != nil {
		return nil, err
	}
	b := &in.Body
	wait, err := params.Seconds("wait_s", b.WaitS, route.DefaultWait, route.MaxWait)
	switch {
	case err != nil:
		return nil, err
	case (b.Host == "") == (b.Session == ""):
		return nil, problem.Invalid("give host or session_id, and not both")
	case b.Become != "" && b.Session != "":
		return nil, problem.Invalid("a job in a session runs as the session's account: omit become")
	case b.CWD != "" && b.Session != "":
		return nil, problem.Invalid("a job in a session runs in the session's directory: omit cwd")
	}
	r, done, err := k.realms.Of(c)
	if err != nil {
		return nil, err
	}
	defer done()
	cmd, err := jobwork.Command(b.ID, c.Principal, nil, registry.Command{Script: b.Command, Reason: b.Reason})
	if err != nil {
		return nil, err
	}
	same := *b
	same.WaitS = nil
	ref, err := onlyonce.DoLasting(ctx, k.onces, c.Principal, in.Key, struct {
		Inventory string
		Job       wire.NewJob
	}{c.Where(), same}, onlyonce.Lasting[jobs.Ref]{
		Do:     func(aim func(string) error) (jobs.Ref, error) { return k.beginJob(ctx, c, r, b, cmd, aim) },
		Recall: recallJob,
	})
	if err != nil {
		return nil, err
	}
	wctx, stop := context.WithTimeout(ctx, wait)
	r.Jobs.Wait(wctx, ref)
	stop()
	if s, ok := r.Jobs.Start(ref); ok && s.Exec != nil {
		withdrawn(ctx, s.Exec)
	}
	return shownStart(ctx, r, ref, b.Reason)
}

// jobTarget begins what stands for a job where its key is kept.
const jobTarget = "job "

// recallJob names a job that a keeper before this one has started: it may live on its host.
func recallJob(target string) (jobs.Ref, error) {
	name, ok := strings.CutPrefix(target, jobTarget)
	if !ok {
		return jobs.Ref{}, problem.MadeBefore()
	}
	return jobs.ParseRef(name)
}

// beginJob has a job started, as far as that goes without anybody's approval. aim keeps its name first.
func (k *Keeper) beginJob(ctx context.Context, c *access.Caller, r *realm.Realm, b *wire.NewJob, cmd registry.Command, aim func(string) error) (jobs.Ref, error) {
	e, finish, err := k.fileEntry(ctx, c, FileAt{Host: b.Host, Session: b.Session, Become: b.Become})
	if err != nil {
		return jobs.Ref{}, err
	}
	defer finish()
	yes, err := k.realms.Consent(c, e.Host().Name, b.Command, &wire.Run{Reason: b.Reason, Confirm: b.Confirm, BreakGlass: b.BreakGlass})
	if err != nil {
		return jobs.Ref{}, err
	}
	if ref := jobwork.RefOf(e.Host().Name, cmd); r.Jobs.Knows(ref) {
		return jobs.Ref{}, problem.New(http.StatusConflict, registry.CodeExists, "there is a job %s already", ref)
	}
	if err := aim(jobTarget + jobwork.RefOf(e.Host().Name, cmd).String()); err != nil {
		return jobs.Ref{}, err
	}
	ctx, stop := context.WithTimeout(context.WithValue(ctx, livepolicy.ConsentKey{}, yes), route.BeforeSending)
	defer stop()
	if b.CWD != "" {
		if err := e.Go(ctx, b.CWD, b.Reason); err != nil {
			return jobs.Ref{}, err
		}
	}
	x, err := e.Start(ctx, cmd)
	if err != nil {
		return jobs.Ref{}, err
	}
	return r.Jobs.Began(x), nil
}

// shownStart tells how far the start of a job is: 201 once it has begun, 202 before; a problem where it never will. Of one
// that a keeper before this one has started its host tells.
func shownStart(ctx context.Context, r *realm.Realm, ref jobs.Ref, reason string) (*jobOut, error) {
	s, ok := r.Jobs.Start(ref)
	if !ok {
		j, err := r.Jobs.State(ctx, ref, 0, reason)
		switch {
		case problem.CodeOf(err) == jobs.CodeNotFound:
			return nil, problem.New(http.StatusGone, registry.CodeGone, "that request was made before, and its job %s is not on its host: the audit log has its outcome", ref)
		case err != nil:
			return nil, err
		}
		return &jobOut{Status: http.StatusCreated, Body: jobJSON(r, j)}, nil
	}
	out := &jobOut{Status: http.StatusCreated, Body: &wire.Job{ID: ref.String(), Host: ref.Host, State: string(s.State)}}
	if s.Exec != nil {
		out.Body.Exec = s.Exec.ID()
	}
	switch {
	case s.Err != nil:
		p := *problem.Of(s.Err)
		p.Exec = out.Body.Exec
		return nil, &p
	case s.State != jobs.Running:
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// job finds what a request is about. It counts as one that may run something.
func (k *Keeper) job(c *access.Caller, id string) (*realm.Realm, jobs.Ref, func(), error) {
	if _, err := k.realms.Admit(c); err != nil {
		return nil, jobs.Ref{}, nil, err
	}
	r, done, err := k.realms.Of(c)
	if err != nil {
		return nil, jobs.Ref{}, nil, err
	}
	ref, err := r.Jobs.Find(id)
	if err != nil {
		done()
		return nil, ref, nil, err
	}
	return r, ref, done, nil
}

func (k *Keeper) getJob(ctx context.Context, c *access.Caller, in *jobIn) (*route.Body[wire.Job], error) {
	r, ref, done, err := k.job(c, in.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	wait, err := params.Seconds("wait_s", &in.WaitS, 0, route.MaxWait)
	if err != nil {
		return nil, err
	}
	j, err := r.Jobs.State(ctx, ref, wait, in.Reason)
	if err != nil {
		return nil, err
	}
	return route.JSON(jobJSON(r, j)), nil
}

func (k *Keeper) pageJob(ctx context.Context, c *access.Caller, in *jobPageIn) (*route.Body[wire.JobPage], error) {
	r, ref, done, err := k.job(c, in.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	limits, err := k.realms.Limits(c)
	if err != nil {
		return nil, err
	}
	wait, err := params.Seconds("wait_s", &in.WaitS, 0, route.MaxWait)
	if err != nil {
		return nil, err
	}
	j, p, err := r.Jobs.Output(ctx, ref, jobwork.Ask{
		Stream: in.Stream, Offset: in.Offset, Limit: int(limits.Output(int64(cmp.Or(in.Limit, route.DefaultPage)))), Wait: wait, Reason: in.Reason,
	})
	if err != nil {
		return nil, err
	}
	out := &wire.JobPage{Page: wire.Page{Stream: in.Stream, Offset: p.Offset, Next: p.Next, End: p.End, Skipped: p.Skipped}, Job: *jobJSON(r, j)}
	out.Encoding, out.Data = wire.Encode(p.Text, utf8.Valid(p.Text))
	return route.JSON(out), nil
}

func (k *Keeper) stopJob(ctx context.Context, c *access.Caller, in *stopJobIn) (*route.Body[wire.Job], error) {
	r, ref, done, err := k.job(c, in.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	b := in.Body
	if b == nil {
		b = &wire.StopJob{}
	}
	grace, err := params.Seconds("grace_s", b.GraceS, jobs.DefaultGrace, maxJobGrace)
	if err != nil {
		return nil, err
	}
	j, err := r.Jobs.Stop(ctx, ref, cmp.Or(grace, -1), b.Reason)
	if err != nil {
		return nil, err
	}
	return route.JSON(jobJSON(r, j)), nil
}

func (k *Keeper) collectJob(ctx context.Context, c *access.Caller, in *collectJobIn) (*route.Body[wire.Job], error) {
	r, ref, done, err := k.job(c, in.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	remove := r.Jobs.Collect
	if in.Discard {
		remove = r.Jobs.Discard
	}
	j, err := remove(ctx, ref, in.Reason)
	if err != nil {
		return nil, err
	}
	return route.JSON(jobJSON(r, j)), nil
}

// check refuses what would have no effect, and a cursor that no page has had.
func (in *jobsIn) check() error {
	if in.Known && (in.Selector != "" || in.Group != "" || in.Cursor != "" || in.Reason != "") {
		return problem.Invalid("known goes with limit alone: it asks no host")
	}
	if ref, err := jobs.ParseRef(in.Cursor); in.Cursor != "" && (err != nil || ref.Host == "") {
		return problem.Invalid("no cursor of this list: give next_cursor as it came")
	}
	return nil
}

func (k *Keeper) listJobs(ctx context.Context, c *access.Caller, in *jobsIn) (*route.Body[wire.Jobs], error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if !in.Known { // which asks no host
		if _, err := k.realms.Admit(c); err != nil {
			return nil, err
		}
	}
	r, done, err := k.realms.Of(c)
	if err != nil {
		return nil, err
	}
	defer done()
	if in.Known {
		out := &wire.Jobs{Items: []wire.Job{}}
		for _, ref := range r.Jobs.Refs(cmp.Or(in.Limit, 100)) {
			out.Items = append(out.Items, wire.Job{ID: ref.String(), Host: ref.Host})
		}
		return route.JSON(out), nil
	}
	var hs []hosts.Host
	if in.Selector != "" {
		if hs, err = r.Select(in.Selector); err != nil {
			if h, herr := r.Host(in.Selector); herr == nil { // it is outside the inventory
				hs, err = []hosts.Host{h}, nil
			}
		}
	} else {
		hs = r.Jobs.Hosts()
	}
	if err != nil {
		return nil, err
	}
	out := &wire.Jobs{Items: []wire.Job{}}
	var all []jobs.Job
	switch {
	case in.Group == "":
		all, err = r.Jobs.List(ctx, after(hs, in.Cursor), in.Reason)
	case !jobs.ValidID(in.Group):
		return nil, problem.Invalid("group is not the id of a job")
	default:
		all, err = r.Jobs.ListGroup(ctx, hs, in.Group, in.Reason)
	}
	out.Failed = wire.JobsFailed(err, cmdutil.Why)
	slices.SortFunc(all, func(a, b jobs.Job) int { return cmp.Compare(a.Ref().String(), b.Ref().String()) })
	limit := cmp.Or(in.Limit, 100)
	for _, j := range all {
		switch {
		case j.Ref().String() <= in.Cursor:
		case len(out.Items) == min(limit, maxJobs):
			out.Next = out.Items[len(out.Items)-1].ID
			return route.JSON(out), nil
		default:
			out.Items = append(out.Items, *jobJSON(r, j))
		}
	}
	return route.JSON(out), nil
}

// after leaves out hosts all of whose jobs come before the cursor: they were asked for the pages before.
func after(hs []hosts.Host, cursor string) []hosts.Host {
	return slices.DeleteFunc(slices.Clone(hs), func(h hosts.Host) bool {
		first := h.Name + "/"
		return first < cursor && !strings.HasPrefix(cursor, first)
	})
}

func jobJSON(r *realm.Realm, j jobs.Job) *wire.Job {
	out := wire.JobOf(j)
	if s, ok := r.Jobs.Start(j.Ref()); ok && s.State != jobs.Running && s.Exec != nil {
		out.Exec = s.Exec.ID()
	}
	return out
}
