package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/id"
)

// Live takes what comes of a run. Stdout and Stderr are required.
type Live struct {
	Stdout, Stderr io.Writer // a writer that blocks holds the command back; its error stops it
	Waiting        func()    // somebody has to approve the command; nil tells nobody
}

// ErrCutOff is wrapped where the keeper went away while a command ran: how it ended is not known.
var ErrCutOff = errors.New("client: the keeper went away, and how the command ended is not known")

// RunLive runs a command and passes on what it prints as it comes. When ctx ends the command is stopped step by step, and
// what became of it is returned as ever. The error is a *wire.Problem for a run that never began, and wraps ErrCutOff where
// the end of one never came. in.ID is chosen here.
func (c *Client) RunLive(ctx context.Context, in wire.NewRun, out Live) (end *wire.RunEnd, err error) {
	in.ID = NewRunID()
	err = c.start(ctx, in, func(events *eventReader) error {
		end, err = follow(events, out)
		return err
	})
	return end, err
}

// NewRunID is an id for a run.
func NewRunID() string { return id.New("r_") }

// start starts a run and has f read its events. When ctx ends the run is stopped, and f hears of it.
func (c *Client) start(ctx context.Context, in wire.NewRun, f func(*eventReader) error) error {
	// The connection outlives ctx, to hear how the command was stopped; with it the command would end unheard.
	rctx, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	over := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
			c.stopRun(context.WithoutCancel(ctx), in.ID, over, hangUp)
		case <-over:
		}
	}()
	defer func() {
		close(over)
		<-stopped
	}()
	r, err := c.request(rctx, http.MethodPost, "/v1/runs", in)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %w", ErrCutOff, unreachable(rctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		return problemOf(resp, body)
	}
	return f(newEventReader(resp.Body))
}

func follow(events *eventReader, out Live) (*wire.RunEnd, error) {
	for {
		e, err := events.next()
		if err != nil {
			return nil, ErrCutOff
		}
		switch e.kind {
		case "output":
			if err := e.write(out.Stdout, out.Stderr); err != nil {
				return nil, err
			}
		case "waiting":
			if out.Waiting != nil {
				out.Waiting()
			}
		case "end":
			end := &wire.RunEnd{}
			if err := json.Unmarshal(e.data, end); err != nil || end.Result == nil {
				return nil, fmt.Errorf("client: the keeper's answer cannot be understood: %w", errors.Join(err, ErrCutOff))
			}
			return end, nil
		}
	}
}

// How a run is stopped that the keeper may not have heard of yet.
const (
	stopEvery    = 50 * time.Millisecond
	stopPatience = 10 * time.Second
)

// stopRun asks for the end of a run, until it is over or the keeper has heard. Where that does not help it hangs up.
func (c *Client) stopRun(ctx context.Context, id string, over <-chan struct{}, hangUp func()) {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	for {
		err := c.call(ctx, http.MethodPost, "/v1/runs/"+url.PathEscape(id)+"/stop", nil, nil)
		if err == nil {
			return
		}
		select {
		case <-over:
			return
		case <-ctx.Done():
			hangUp()
			return
		case <-time.After(stopEvery):
		}
	}
}
