// Package client calls a keeper: sessions that outlive the caller, commands in them, and what comes of those.
//
// A [Client] keeps connections to one socket and starts nothing; see reach.Dial. It may be used concurrently.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fairlead-ssh/fairlead/cmd/internal/jsontext"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Config says whom to call, and as whom. Socket is required.
type Config struct {
	Socket    string // of the keeper
	Principal string // "agent/NAME" to act for an agent; "" is the account itself
	Inventory string // absolute path of the inventory; "" is the keeper's own
	// Ask answers what connecting wants to know, while requests are in progress. Nil is never asked, nor are agents.
	Ask func(context.Context, wire.Question) (wire.QuestionAnswer, error)

	AuthSock string // the caller's SSH_AUTH_SOCK; "" means none
	SSH      string // how hosts are reached, from sshopt.Set; "" is as ever
	Env      string // what the caller's variables say about that, from sshopt.Environment; "" is nothing
}

// Client calls one keeper.
type Client struct {
	cfg   Config
	http  *http.Client
	short *shortWay
	asks  *asking // nil where nothing is answered
}

// maxAnswer bounds what is read of an answer that is no stream.
const maxAnswer = 64 << 20

// New returns a Client. It connects with the first call.
func New(cfg Config) *Client {
	dial := func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", cfg.Socket)
	}
	var asks *asking
	if cfg.Ask != nil {
		asks = newAsking(cfg.Ask)
	}
	short := &shortWay{dial: dial}
	return &Client{cfg: cfg, asks: asks, short: short, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			// A keeper looks at whoever connects, which takes longer than most answers: one connection does for a whole command.
			if l := short.take(); l != nil {
				return l.Conn, nil
			}
			return dial(ctx)
		},
		MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: idleTime, DisableCompression: true,
	}}}
}

// Close gives idle connections back. What runs goes on.
func (c *Client) Close() {
	c.asks.close()
	c.http.CloseIdleConnections()
	c.short.close()
}

// As returns a Client for another agent, or for the account itself with "", over the same connections.
func (c *Client) As(principal string) *Client {
	other := *c
	other.cfg.Principal = principal
	return &other
}

// With returns a Client for calls about which the caller's variables say something, over the same connections.
func (c *Client) With(environment string) *Client {
	other := *c
	other.cfg.Env = environment
	return &other
}

// Health asks whether the keeper lives.
func (c *Client) Health(ctx context.Context) (h wire.Health, err error) {
	return h, c.call(ctx, "GET", "/healthz", nil, &h)
}

// Stop asks the keeper to end. It answers before it has.
func (c *Client) Stop(ctx context.Context) error {
	return c.call(ctx, "POST", "/v1/keeper/stop", nil, nil)
}

// Leave asks the keeper to end if nothing is lost by that; a *wire.Problem with the code "busy" says what would be. It
// answers before it has ended.
func (c *Client) Leave(ctx context.Context) error {
	return c.call(ctx, "POST", "/v1/keeper/leave", nil, nil)
}

// Hosts lists the hosts that a selector picks; "" is all.
func (c *Client) Hosts(ctx context.Context, selector string) ([]wire.Host, error) {
	var out wire.Hosts
	err := c.call(ctx, "GET", "/v1/hosts?"+query("selector", selector), nil, &out)
	return out.Items, err
}

// Open opens a session and waits until its shell is ready.
func (c *Client) Open(ctx context.Context, o wire.Open) (s wire.Session, err error) {
	return s, c.call(ctx, "POST", "/v1/sessions", o, &s)
}

// Sessions lists the caller's.
func (c *Client) Sessions(ctx context.Context) ([]wire.Session, error) {
	var out wire.Sessions
	err := c.call(ctx, "GET", "/v1/sessions", nil, &out)
	return out.Items, err
}

// Session returns one by id or name.
func (c *Client) Session(ctx context.Context, id string) (s wire.Session, err error) {
	return s, c.call(ctx, "GET", sessionPath(id), nil, &s)
}

// CloseSession closes one, and ends what runs in it.
func (c *Client) CloseSession(ctx context.Context, id string) error {
	_, err := c.CloseAndTell(ctx, id)
	return err
}

// CloseAndTell is CloseSession that returns what is left running on the host.
func (c *Client) CloseAndTell(ctx context.Context, id string) ([]wire.Process, error) {
	var out wire.SessionLeft
	err := c.call(ctx, "DELETE", sessionPath(id), nil, &out)
	return out.Left, err
}

// Reset gives one a new shell in the same directory.
func (c *Client) Reset(ctx context.Context, id string) (s wire.Session, err error) {
	return s, c.call(ctx, "POST", sessionPath(id)+"/reset", nil, &s)
}

func sessionPath(id string) string { return "/v1/sessions/" + url.PathEscape(id) }
func execPath(id string) string    { return "/v1/execs/" + url.PathEscape(id) }

// Approvals lists the asks that wait for an answer.
func (c *Client) Approvals(ctx context.Context) ([]wire.Approval, error) {
	var out wire.Approvals
	err := c.call(ctx, "GET", "/v1/approvals", nil, &out)
	return out.Items, err
}

// Approval returns an ask in full.
func (c *Client) Approval(ctx context.Context, id string) (d wire.Document, err error) {
	return d, c.call(ctx, "GET", "/v1/approvals/"+url.PathEscape(id), nil, &d)
}

// Answer says yes or no to exactly the document of a digest.
func (c *Client) Answer(ctx context.Context, id string, approve bool, a wire.Answer) error {
	word := "reject"
	if approve {
		word = "approve"
	}
	return c.call(ctx, "POST", "/v1/approvals/"+url.PathEscape(id)+"/"+word, a, nil)
}

// Web returns a link to the keeper's web page.
func (c *Client) Web(ctx context.Context) (l wire.Link, err error) {
	return l, c.call(ctx, "POST", "/v1/web", nil, &l)
}

// ErrNoText is why a request was not made: JSON would have carried something else.
var ErrNoText = errors.New("client: what is asked for holds bytes that are not UTF-8, which can be sent as a command to run, and not otherwise: nothing was sent")

// request makes one. Its body can be sent again on another connection, as long as nothing has been answered.
func (c *Client) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(in); err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		if jsontext.Replaced(b.Bytes()) {
			return nil, ErrNoText
		}
		body = bytes.NewReader(b.Bytes())
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://keeper"+path, body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	c.identify(r)
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// identify says in a request who asks.
func (c *Client) identify(r *http.Request) {
	c.asks.names(c, r)
	for name, value := range map[string]string{wire.Principal: c.cfg.Principal, wire.Inventory: c.cfg.Inventory, wire.AuthSock: c.cfg.AuthSock, wire.SSHOptions: c.cfg.SSH, wire.Environment: c.cfg.Env} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

// call makes a request and reads its answer into out. A problem that the keeper tells is a *wire.Problem.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	r, err := c.request(ctx, method, path, in)
	if err != nil {
		return err
	}
	return c.do(r, out)
}

func (c *Client) do(r *http.Request, out any) error {
	resp, body, err := c.exchange(r)
	if err != nil {
		return unreachable(r.Context(), err)
	}
	if resp.StatusCode >= 400 {
		return problemOf(resp, body)
	}
	if out == nil || len(body) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
	}
	return nil
}

// exchange makes a request and reads the whole answer.
func (c *Client) exchange(r *http.Request) (*http.Response, []byte, error) {
	if c.short.takes(r) {
		return c.short.do(r)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp, body, err
}

// ErrUnreachable is wrapped where a keeper did not answer. Whether it has heard the request is not known.
var ErrUnreachable = errors.New("client: the keeper does not answer")

func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the address is ours and says nothing
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

func problemOf(resp *http.Response, body []byte) error {
	p := &wire.Problem{}
	if err := json.Unmarshal(body, p); err != nil || p.Detail == "" {
		p.Status, p.Code, p.Detail = resp.StatusCode, "error", "the keeper answers "+strconv.Itoa(resp.StatusCode)
	}
	return p
}
