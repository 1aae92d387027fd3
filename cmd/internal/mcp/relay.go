package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
)

// dial connects to the keeper, which then serves the agent. It returns nil where the agent is to be served here.
func (o *Options) dial(ctx context.Context) (*client.Pipe, error) {
	mode, err := o.KeeperMode()
	if err != nil {
		return nil, err
	}
	if o.AllowAll {
		if mode == config.Require {
			return nil, cmdutil.Usagef("--allow-all works without a keeper only, so it cannot be combined with --keeper require")
		}
		return nil, nil
	}
	c, err := o.Keeper(ctx)
	if c == nil || err != nil {
		return nil, err
	}
	defer c.Close()
	p, err := c.As("agent/"+o.As).MCP(ctx, o.Elicit)
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case mode == config.Require:
		return nil, fmt.Errorf("the keeper does not serve the agent: %w", err)
	}
	fmt.Fprintf(o.IO.Err, "fairlead: going on without the keeper, which does not serve the agent: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
	return nil, nil
}

// relay copies what the client says to the keeper and what that says to the client, until both have ended. It returns the
// cause of ctx when that ends first.
func relay(ctx context.Context, ios *iostreams.IOStreams, p *client.Pipe) error {
	defer p.Close()
	defer context.AfterFunc(ctx, func() { p.Close() })()
	said := make(chan error, 1)
	go func() { // ends with the process at the latest: there is no way to stop reading standard input
		_, err := io.Copy(p.UnixConn, ios.In)
		said <- err
		_ = p.CloseWrite() // the keeper ends what the agent has begun, and closes the other half
	}()
	_, err := io.Copy(ios.Out, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-said:
	default:
		if err == nil {
			err = errors.New("its keeper has ended")
		}
		return fmt.Errorf("the agent is served no longer: %w", err)
	}
	return err
}
