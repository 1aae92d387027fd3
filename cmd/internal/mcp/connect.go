package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
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
		return nil, cmdutil.Wrap("the keeper does not serve the agent", err)
	}
	fmt.Fprintf(o.IO.Err, "fairlead: going on without the keeper, which does not serve the agent: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
	return nil, nil
}

// dialAgain is dial after a keeper has ended. The agent is not served here then: it would meet another policy and other sessions.
func (o *Options) dialAgain(ctx context.Context) (*client.Pipe, error) {
	c, err := o.Keeper(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("none can be started; see fairlead doctor")
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	return c.As("agent/"+o.As).MCP(ctx, o.Elicit)
}

// helloTime is how long another keeper may take to serve the agent, and then to answer the client's initialization.
const helloTime = 30 * time.Second

// connect connects to a keeper after one has ended, and initializes it unless m, the message that comes next, does.
func (r *relay) connect(ctx context.Context, m message) error {
	p, err := r.dial(ctx)
	if err != nil {
		return err
	}
	in := newReader(p)
	r.mu.Lock()
	hello, ready, version := r.hello, r.ready, r.version
	r.mu.Unlock()
	if hello != nil && m.Method != "initialize" {
		stop := context.AfterFunc(ctx, func() { p.Close() })
		err := initialize(p, in, hello, ready, version)
		stop()
		if err != nil {
			p.Close()
			return err
		}
	}
	r.use(p, in)
	return nil
}

// initialize does with a keeper what the client has done with the first one. Its answer is not for the client.
func initialize(p *client.Pipe, in *bufio.Reader, hello, ready []byte, version string) error {
	_ = p.SetDeadline(time.Now().Add(helloTime))
	if _, err := p.Write(hello); err != nil {
		return fmt.Errorf("the keeper does not take the client's initialization: %w", err)
	}
	for id := readMessage(hello).key(); ; {
		line, err := readLine(in)
		if err != nil {
			return fmt.Errorf("the keeper does not answer the client's initialization: %w", err)
		}
		m := readMessage(line)
		if !m.isAnswer() || m.key() != id {
			continue
		}
		if m.protocolVersion() != version {
			return errors.New("the keeper that runs now does not speak the client's version of the protocol: start fairlead mcp again")
		}
		break
	}
	if _, err := p.Write(ready); err != nil {
		return fmt.Errorf("the keeper does not take the client's initialization: %w", err)
	}
	return p.SetDeadline(time.Time{})
}
