package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Steps takes what comes of a rollout besides what comes of any run on many hosts. Its functions are called as those of Fleet
// are; those that are nil take nothing.
type Steps struct {
	// Batch is told that a batch begins.
	Batch func(b *wire.RunBatch)
	// Verified is told of the end of the check on a host.
	Verified func(host int, r *wire.RunResult) error
	// Confirm reports whether the next batch may begin. It returns when ctx ends, as it does where the run has ended meanwhile, and is
	// called from a goroutine of its own, while nothing else is called. Nil is no.
	Confirm func(ctx context.Context, so *wire.RunReport) bool
}

// rollout takes an event of a rollout; other events are left alone.
func (f *fleet) rollout(ctx context.Context, e event) error {
	switch e.kind {
	case "batch":
		b := &wire.RunBatch{}
		if err := understood(json.Unmarshal(e.data, b)); err != nil || f.out.Steps.Batch == nil {
			return err
		}
		f.out.Steps.Batch(b)
	case "verified":
		r := &wire.RunResult{}
		err := json.Unmarshal(e.data, r)
		if err == nil && r.Result == nil {
			err = errors.New("a result without one")
		}
		if err != nil || f.out.Steps.Verified == nil {
			return understood(err)
		}
		return f.out.Steps.Verified(r.Host, r)
	}
	return nil
}

// confirm asks whether the next batch may begin, until the answer is sent or anything else comes of the run, as its end where it was
// stopped from elsewhere, its deadline has passed or the keeper has gone. It returns what gives the next event.
func (f *fleet) confirm(ctx context.Context, e event, events *eventReader) (next func() (event, error), err error) {
	so := &wire.RunReport{}
	if err := understood(json.Unmarshal(e.data, so)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- f.answer(ctx, so) }()
	var came event
	var cut error
	coming := make(chan struct{})
	go func() { // ends with the stream of events at the latest
		defer close(coming)
		came, cut = events.next()
	}()
	select {
	case err = <-answered:
	case <-coming:
		cancel()
		err = <-answered
	}
	return func() (event, error) {
		<-coming
		return came, cut
	}, err
}

// answer asks, and sends the answer.
func (f *fleet) answer(ctx context.Context, so *wire.RunReport) error {
	goOn := f.out.Steps.Confirm != nil && f.out.Steps.Confirm(ctx, so)
	if ctx.Err() != nil {
		return nil // the run is being stopped, or has ended
	}
	err := f.c.ConfirmRun(ctx, f.id, wire.RunConfirm{Done: so.Done, GoOn: goOn})
	var problem *wire.Problem
	if ctx.Err() != nil || errors.As(err, &problem) && (problem.Code == "conflict" || problem.Code == "not_found") {
		return nil // it is asked no longer, and the run's end says why
	}
	return err
}

// ConfirmRun answers whether the next batch of a rollout may begin.
func (c *Client) ConfirmRun(ctx context.Context, id string, in wire.RunConfirm) error {
	return c.call(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(id)+"/confirm", in, nil)
}

// StopRun stops a run step by step; its stream tells the end.
func (c *Client) StopRun(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(id)+"/stop", nil, nil)
}

// KeptRuns lists one's runs on many hosts, the newest first.
func (c *Client) KeptRuns(ctx context.Context, limit int) ([]wire.KeptRun, error) {
	var out wire.KeptRuns
	err := c.call(ctx, http.MethodGet, "/v1/runs?limit="+strconv.Itoa(limit), nil, &out)
	return out.Items, err
}

// KeptRun returns how a run has ended, or is going.
func (c *Client) KeptRun(ctx context.Context, id string) (*wire.KeptRun, error) {
	out := &wire.KeptRun{}
	return out, c.call(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(id), nil, out)
}

// AwaitKeptRun is KeptRun after a wait for its end (at most 50 s).
func (c *Client) AwaitKeptRun(ctx context.Context, id string, wait time.Duration) (*wire.KeptRun, error) {
	out := &wire.KeptRun{}
	return out, c.call(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(id)+"?"+query("wait_s", secs(min(wait, 50*time.Second))), nil, out)
}
