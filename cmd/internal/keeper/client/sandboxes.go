package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

const sandboxesPath = "/agent/terminal/sandboxes"

// maxSandboxes is how many come in one answer.
const maxSandboxes = 200

// Sandboxes lists those of an owner and on a host, the newest first; "" is any. An agent is told of its own alone.
func (c *Client) Sandboxes(ctx context.Context, owner, host string) (all []wire.Sandbox, err error) {
	q := url.Values{"limit": {strconv.Itoa(maxSandboxes)}}
	if owner != "" {
		q.Set("owner_principal_id", owner)
	}
	if host != "" {
		q.Set("host", host)
	}
	for {
		var page wire.Sandboxes
		if err := c.call(ctx, "GET", sandboxesPath+"?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, nil
		}
		q.Set("cursor", page.Next)
	}
}

// Sandbox returns one.
func (c *Client) Sandbox(ctx context.Context, id string) (b wire.Sandbox, err error) {
	return b, c.call(ctx, "GET", sandboxPath(id), nil, &b)
}

// NewSandbox makes one. It is not sent again by itself: a second one would be another.
func (c *Client) NewSandbox(ctx context.Context, in wire.NewSandbox) (b wire.Sandbox, err error) {
	return b, c.call(ctx, "POST", sandboxesPath, in, &b)
}

// ChangeSandbox changes one.
func (c *Client) ChangeSandbox(ctx context.Context, id string, in wire.SandboxChange) (b wire.Sandbox, err error) {
	return b, c.call(ctx, "PATCH", sandboxPath(id), in, &b)
}

// DeleteSandbox deletes one; its commands stay on record.
func (c *Client) DeleteSandbox(ctx context.Context, id string) error {
	return c.call(ctx, "DELETE", sandboxPath(id), nil, nil)
}

// CheckSandbox has the keeper connect to its host as its owner, and says what holds them there.
func (c *Client) CheckSandbox(ctx context.Context, id string) (e wire.Enforcement, err error) {
	return e, c.call(ctx, "GET", sandboxPath(id)+"/enforcement", nil, &e)
}

func sandboxPath(id string) string { return sandboxesPath + "/" + url.PathEscape(id) }
