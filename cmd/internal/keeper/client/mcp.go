package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Pipe is a connection on which a keeper serves an agent: messages of the Model Context Protocol, a line each.
type Pipe struct {
	*net.UnixConn
	in *bufio.Reader
}

// Read reads what the keeper says.
func (p *Pipe) Read(b []byte) (int, error) { return p.in.Read(b) }

// WriteTo is Read for io.Copy.
func (p *Pipe) WriteTo(w io.Writer) (int64, error) { return p.in.WriteTo(w) }

// MCP has the keeper serve the client's principal, which is an agent, on a connection of its own. With elicit the agent's
// client may be asked for approval too. ctx bounds the call only. Whoever gets the Pipe closes it; what the agent has begun
// ends with it.
func (c *Client) MCP(ctx context.Context, elicit bool) (*Pipe, error) {
	return c.upgraded(ctx, "/v1/mcp", wire.UpgradeMCP, func(h http.Header) {
		if elicit {
			h.Set(wire.Elicit, "1")
		}
	})
}

// Streams returns a connection for one program with exact streams: see package pipe. ctx bounds the call only. Whoever gets
// the Pipe closes it.
func (c *Client) Streams(ctx context.Context) (*Pipe, error) {
	return c.upgraded(ctx, "/v1/pipes", wire.UpgradePipe, func(http.Header) {})
}

// upgraded turns a connection of its own into one of another protocol.
func (c *Client) upgraded(ctx context.Context, path, protocol string, more func(http.Header)) (*Pipe, error) {
	r, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", protocol)
	more(r.Header)
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", c.cfg.Socket)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	p, err := upgrade(r, conn.(*net.UnixConn))
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return p, nil
}

func upgrade(r *http.Request, conn *net.UnixConn) (*Pipe, error) {
	if err := r.Write(conn); err != nil {
		return nil, unreachable(r.Context(), err)
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	resp, err := http.ReadResponse(in, r)
	if err != nil {
		return nil, unreachable(r.Context(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if resp.StatusCode < http.StatusBadRequest {
			return nil, fmt.Errorf("client: the keeper answers %d, and serves no agents so", resp.StatusCode)
		}
		return nil, problemOf(resp, body)
	}
	return &Pipe{conn, in}, nil
}
