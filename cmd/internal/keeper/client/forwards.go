package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// OpenForward forwards a port until it is closed or the keeper ends.
func (c *Client) OpenForward(ctx context.Context, in wire.NewForward) (f wire.Forward, err error) {
	return f, c.call(ctx, http.MethodPost, "/v1/forwards", in, &f)
}

// Forwards lists the ports that are forwarded for the caller.
func (c *Client) Forwards(ctx context.Context) ([]wire.Forward, error) {
	var out wire.Forwards
	err := c.call(ctx, http.MethodGet, "/v1/forwards", nil, &out)
	return out.Items, err
}

// CloseForward ends one, and returns what has passed.
func (c *Client) CloseForward(ctx context.Context, id string) (f wire.Forward, err error) {
	return f, c.call(ctx, http.MethodDelete, "/v1/forwards/"+url.PathEscape(id), nil, &f)
}
