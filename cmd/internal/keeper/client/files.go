package client

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// FileAt says where a file is, and why somebody wants it. One of Host and Session is set.
type FileAt struct {
	Host    string // a host's name
	Session string // id or name of a session, in whose directory relative paths begin
	Path    string
	Reason  string
}

func (f FileAt) query() url.Values {
	q := url.Values{"path": {f.Path}}
	for name, value := range map[string]string{"host": f.Host, "session_id": f.Session, "reason": f.Reason} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// WriteOptions say when and how a file is written. The zero value is fine.
type WriteOptions struct {
	Mode     string // in octal; "" keeps that of the old file
	IfSHA256 string // the hash of the old content; "" is any
	IfNew    bool   // nothing may be there yet
	Key      string // makes the same request, sent again, be done once
}

// ReadFile returns a page of a file: at most limit bytes (0: what the keeper likes) from an offset on. Work that waits for
// an approval is returned as it is; see Wait.
func (c *Client) ReadFile(ctx context.Context, at FileAt, offset int64, limit int) (*wire.File, error) {
	return c.file(ctx, http.MethodGet, "/v1/files", at, page(offset, limit), nil, "")
}

// ListFiles returns a page of the names in a directory.
func (c *Client) ListFiles(ctx context.Context, at FileAt, offset int64, limit int) (*wire.File, error) {
	return c.file(ctx, http.MethodGet, "/v1/files/list", at, page(offset, limit), nil, "")
}

// NamesNow are the names in a directory of a host to which the keeper is connected: it does not log in for that.
func (c *Client) NamesNow(ctx context.Context, host, dir string) ([]wire.FileName, error) {
	f, err := c.file(ctx, http.MethodGet, "/v1/files/list", FileAt{Host: host, Path: dir, Reason: "completion"}, url.Values{"connected": {"true"}}, nil, "")
	if err != nil {
		return nil, err
	}
	return f.Names, nil
}

func page(offset int64, limit int) url.Values {
	return url.Values{"offset": {strconv.FormatInt(offset, 10)}, "limit": {strconv.Itoa(limit)}}
}

// EditFile replaces text that is in a file exactly once. at.Reason goes before that of the edit.
func (c *Client) EditFile(ctx context.Context, at FileAt, e wire.FileEdit, key string) (*wire.File, error) {
	if at.Reason != "" {
		e.Reason = at.Reason
	}
	at.Reason = ""
	return c.file(ctx, http.MethodPost, "/v1/files/edit", at, nil, e, key)
}

func (c *Client) file(ctx context.Context, method, path string, at FileAt, more url.Values, in any, key string) (*wire.File, error) {
	q := at.query()
	for name, value := range more {
		q[name] = value
	}
	r, err := c.request(ctx, method, path+"?"+q.Encode(), in)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set(wire.IdempotencyKey, key)
	}
	out := &wire.File{}
	if err := c.do(r, out); err != nil {
		return nil, err
	}
	return out, nil
}

// WriteFile gives a file new content, and makes it if it is not there.
func (c *Client) WriteFile(ctx context.Context, at FileAt, content []byte, o WriteOptions) (*wire.File, error) {
	q := at.query()
	if o.Mode != "" {
		q.Set("mode", o.Mode)
	}
	r, err := c.request(ctx, http.MethodPut, "/v1/files?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	with, err := http.NewRequestWithContext(ctx, http.MethodPut, r.URL.String(), bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	with.Header = r.Header
	with.Header.Set("Content-Type", "application/octet-stream")
	if o.IfSHA256 != "" {
		with.Header.Set(wire.IfMatch, `"`+o.IfSHA256+`"`)
	}
	if o.IfNew {
		with.Header.Set(wire.IfNoneMatch, "*")
	}
	if o.Key != "" {
		with.Header.Set(wire.IdempotencyKey, o.Key)
	}
	out := &wire.File{}
	if err := c.do(with, out); err != nil {
		return nil, err
	}
	return out, nil
}
