package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// patience is how long one call waits for the end of a command; the next one goes on.
const patience = 45 * time.Second

// Run runs a command in a session and waits for its end. When ctx ends first the command is stopped, and the Result says
// so. key, if not "", makes the same request, sent again, the same command.
func (c *Client) Run(ctx context.Context, session string, cmd wire.Run, key string) (*wire.Result, error) {
	wait := patience.Seconds()
	cmd.WaitS = &wait
	r, err := c.send(ctx, session, cmd, key)
	if err != nil {
		return nil, err
	}
	return c.finish(ctx, r)
}

// Start starts a command and returns at once.
func (c *Client) Start(ctx context.Context, session string, cmd wire.Run, key string) (*wire.Result, error) {
	wait := 0.0
	cmd.WaitS = &wait
	return c.send(ctx, session, cmd, key)
}

func (c *Client) send(ctx context.Context, session string, cmd wire.Run, key string) (*wire.Result, error) {
	r, err := c.request(ctx, http.MethodPost, sessionPath(session)+"/execs", cmd)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set(wire.IdempotencyKey, key)
	}
	out := &wire.Result{}
	if err := c.do(r, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Look returns a command as it is now.
func (c *Client) Look(ctx context.Context, exec string) (*wire.Result, error) {
	return c.look(ctx, exec, 0)
}

// Wait waits for the end of a command, or of ctx, whose cause it returns then: the command goes on.
func (c *Client) Wait(ctx context.Context, exec string) (*wire.Result, error) {
	for {
		r, err := c.look(ctx, exec, patience)
		if err != nil || r.State == "done" {
			return r, err
		}
	}
}

func (c *Client) look(ctx context.Context, exec string, wait time.Duration) (*wire.Result, error) {
	out := &wire.Result{}
	err := c.call(ctx, http.MethodGet, execPath(exec)+"?wait_s="+strconv.FormatFloat(wait.Seconds(), 'f', -1, 64), nil, out)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// finish waits for the end of a command that was started, and stops it if ctx ends first.
func (c *Client) finish(ctx context.Context, r *wire.Result) (*wire.Result, error) {
	if r.State == "done" {
		return r, nil
	}
	done, err := c.Wait(ctx, r.Exec)
	if err == nil || ctx.Err() == nil {
		return done, err
	}
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return c.StopExec(sctx, r.Exec)
}

// StopExec stops a command step by step, and returns when it has ended.
func (c *Client) StopExec(ctx context.Context, exec string) (*wire.Result, error) {
	out := &wire.Result{}
	if err := c.call(ctx, http.MethodPost, execPath(exec)+"/stop", nil, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Input types at a command, or sends it a signal.
func (c *Client) Input(ctx context.Context, exec string, in wire.Input) (*wire.Result, error) {
	out := &wire.Result{}
	if err := c.call(ctx, http.MethodPost, execPath(exec)+"/input", in, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Page returns a piece of a command's output from an offset on, at most limit bytes (0: what the keeper likes). It waits
// up to wait for something to be there.
func (c *Client) Page(ctx context.Context, exec, stream string, offset int64, limit int, wait time.Duration) (p wire.Page, err error) {
	q := url.Values{
		"stream": {stream}, "offset": {strconv.FormatInt(offset, 10)}, "limit": {strconv.Itoa(limit)},
		"wait_s": {strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)},
	}
	return p, c.call(ctx, http.MethodGet, execPath(exec)+"/output?"+q.Encode(), nil, &p)
}
