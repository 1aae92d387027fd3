package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// StartJob starts a command that outlives the connection, and waits until it has begun or waits for an approval. key makes the
// same request, sent again, start one job; "" is none.
func (c *Client) StartJob(ctx context.Context, in wire.NewJob, key string) (*wire.Job, error) {
	r, err := c.request(ctx, http.MethodPost, "/v1/jobs", in)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set(wire.IdempotencyKey, key)
	}
	out := &wire.Job{}
	return out, c.do(r, out)
}

// Jobs lists the caller's jobs on the hosts that a selector picks; "" is those on which the keeper has heard of jobs. cursor is
// Next of the list before.
func (c *Client) Jobs(ctx context.Context, selector, cursor, reason string) (*wire.Jobs, error) {
	return c.GroupJobs(ctx, selector, "", cursor, reason)
}

// GroupJobs is Jobs for those that have an id, or that of their group; an older keeper lists the others too. "" is all jobs.
func (c *Client) GroupJobs(ctx context.Context, selector, group, cursor, reason string) (*wire.Jobs, error) {
	out := &wire.Jobs{}
	page := func(limit string) error {
		return c.call(ctx, http.MethodGet, "/v1/jobs?"+query("limit", limit, "selector", selector, "group", group, "cursor", cursor, "reason", reason), nil, out)
	}
	err := page("10000")
	if p, ok := errors.AsType[*wire.Problem](err); ok && p.Status == http.StatusUnprocessableEntity {
		err = page("500") // an older keeper takes no more
	}
	return out, err
}

// Job is a job as it is now, after a wait for its end (at most 50 s).
func (c *Client) Job(ctx context.Context, id string, wait time.Duration, reason string) (*wire.Job, error) {
	out := &wire.Job{}
	return out, c.call(ctx, http.MethodGet, jobPath(id)+"?"+query("wait_s", secs(wait), "reason", reason), nil, out)
}

// JobOutput is a page of a job's output, and the job, after a wait for something at that offset (at most 50 s). limit is in
// bytes; 0 is what the keeper likes.
func (c *Client) JobOutput(ctx context.Context, id, stream string, offset int64, limit int, wait time.Duration, reason string) (*wire.JobPage, error) {
	out := &wire.JobPage{}
	return out, c.call(ctx, http.MethodGet, jobPath(id)+"/output?"+query("stream", stream, "offset", strconv.FormatInt(offset, 10),
		"limit", strconv.Itoa(limit), "wait_s", secs(wait), "reason", reason), nil, out)
}

// StopJob ends a job with all processes of its session.
func (c *Client) StopJob(ctx context.Context, id string, in wire.StopJob) (*wire.Job, error) {
	out := &wire.Job{}
	return out, c.call(ctx, http.MethodPost, jobPath(id)+"/stop", in, out)
}

// CollectJob takes a job that has ended off its host.
func (c *Client) CollectJob(ctx context.Context, id, reason string) (*wire.Job, error) {
	out := &wire.Job{}
	return out, c.call(ctx, http.MethodDelete, jobPath(id)+"?"+query("reason", reason), nil, out)
}

// DiscardJob is CollectJob for a job whose output is not wanted.
func (c *Client) DiscardJob(ctx context.Context, id, reason string) (*wire.Job, error) {
	out := &wire.Job{}
	return out, c.call(ctx, http.MethodDelete, jobPath(id)+"?"+query("discard", "true", "reason", reason), nil, out)
}

// KnownJobs are the names of the caller's jobs that the keeper has heard of, the latest first. No host is asked.
func (c *Client) KnownJobs(ctx context.Context) (names []string, err error) {
	out := &wire.Jobs{}
	err = c.call(ctx, http.MethodGet, "/v1/jobs?known=true", nil, out)
	for _, j := range out.Items {
		names = append(names, j.ID)
	}
	return names, err
}

func jobPath(id string) string { return "/v1/jobs/" + url.PathEscape(id) }

func secs(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// query writes names and values, without those that are empty.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q.Encode()
}
