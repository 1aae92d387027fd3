package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Fleet takes what comes of a run on many hosts, which are told by their place in the request. All its functions are called
// from one goroutine, one at a time.
type Fleet struct {
	// Begin is told that the turn of a host has come, and returns what takes its output. A nil writer takes nothing. A
	// writer that blocks holds the hosts back.
	Begin func(host int) (stdout, stderr io.Writer)
	// Stdin returns the standard input of a host that wants it. It may be nil where the request is one without.
	Stdin func(host int) io.Reader
	// Files takes what a download sends from a host that has begun. All of it has been written when Done is called. It may be
	// nil for other requests.
	Files func(host int) io.Writer
	// Done is told of the end of a host. Its error ends the run.
	Done func(host int, r *wire.RunResult) error
	// Waiting, if not nil, is told that somebody has to approve the command.
	Waiting func()
	// Steps takes what comes of a rollout.
	Steps Steps
}

// RunFleet runs a command on many hosts. When ctx ends it is stopped step by step, and what became of each host is told as
// ever. The error is a *wire.Problem for a run that never began, and wraps ErrCutOff where the end of one never came. Where
// in.ID is "" it is chosen here.
//
// A Read of a host's standard input that blocks is not waited for.
func (c *Client) RunFleet(ctx context.Context, in wire.NewRun, out Fleet) (end *wire.RunsEnd, err error) {
	if in.ID == "" {
		in.ID = NewRunID()
	}
	err = c.start(ctx, in, func(events *eventReader) error {
		f := &fleet{c: c, id: in.ID, out: out, by: map[int]*fleetHost{}}
		defer f.close()
		end, err = f.follow(ctx, events)
		return err
	})
	return end, err
}

// fleet follows a run.
type fleet struct {
	c   *Client
	id  string
	out Fleet
	by  map[int]*fleetHost // that have begun and not ended
}

// fleetHost is one host of a run.
type fleetHost struct {
	stdout, stderr io.Writer
	hangUp         context.CancelFunc // of its standard input
	files          chan struct{}      // closed when all files of a download have been taken; nil else
}

func (f *fleet) close() {
	for _, h := range f.by {
		h.hangUp()
		if h.files != nil {
			<-h.files
		}
	}
}

func (f *fleet) follow(ctx context.Context, events *eventReader) (*wire.RunsEnd, error) {
	next := events.next
	for {
		e, err := next()
		if err != nil {
			return nil, ErrCutOff
		}
		next = events.next
		switch e.kind {
		case "confirm":
			next, err = f.confirm(ctx, e, events)
		case "waiting":
			if f.out.Waiting != nil {
				f.out.Waiting()
			}
		case "begin":
			err = f.begin(ctx, e)
		case "stdin":
			err = f.stdin(ctx, e)
		case "output":
			err = f.output(e)
		case "result":
			err = f.result(e)
		case "end":
			end := &wire.RunsEnd{}
			return end, understood(json.Unmarshal(e.data, end))
		default:
			err = f.rollout(ctx, e)
		}
		if err != nil {
			return nil, err
		}
	}
}

func understood(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("client: the keeper's answer cannot be understood: %w", errors.Join(err, ErrCutOff))
}

func (f *fleet) begin(ctx context.Context, e event) error {
	var b wire.RunBegins
	if err := understood(json.Unmarshal(e.data, &b)); err != nil {
		return err
	}
	h := &fleetHost{hangUp: func() {}}
	h.stdout, h.stderr = f.out.Begin(b.Host)
	f.by[b.Host] = h
	if f.out.Files != nil {
		ctx, h.hangUp = context.WithCancel(context.WithoutCancel(ctx))
		h.files = make(chan struct{})
		to := f.out.Files(b.Host)
		go func() {
			defer close(h.files)
			f.c.takeFiles(ctx, f.id, b.Host, to)
		}()
	}
	return nil
}

func (f *fleet) stdin(ctx context.Context, e event) error {
	var b wire.RunBegins
	if err := understood(json.Unmarshal(e.data, &b)); err != nil {
		return err
	}
	h := f.by[b.Host]
	if h == nil || f.out.Stdin == nil {
		return understood(errors.New("the keeper asked for a standard input that this run does not have"))
	}
	ctx, h.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	go f.c.giveStdin(ctx, f.id, b.Host, f.out.Stdin(b.Host)) // ends with the host, unless a Read of it blocks
	return nil
}

func (f *fleet) output(e event) error {
	var chunk wire.RunChunk
	if err := understood(json.Unmarshal(e.data, &chunk)); err != nil {
		return err
	}
	h := f.by[chunk.Host]
	if h == nil {
		return understood(errors.New("output of a host that has not begun"))
	}
	w := h.stdout
	if chunk.Stream == "stderr" {
		w = h.stderr
	}
	if w == nil {
		return nil
	}
	data, err := wire.Decode(chunk.Encoding, chunk.Data)
	if err != nil {
		return understood(err)
	}
	_, err = w.Write(data)
	return err
}

func (f *fleet) result(e event) error {
	r := &wire.RunResult{}
	err := json.Unmarshal(e.data, r)
	if err == nil && r.Result == nil {
		err = errors.New("a result without one")
	}
	if err != nil {
		return understood(err)
	}
	if h := f.by[r.Host]; h != nil {
		if h.files != nil {
			<-h.files // the keeper ends them with the host
		}
		h.hangUp()
		delete(f.by, r.Host)
	}
	return f.out.Done(r.Host, r)
}

// takeFiles copies what a download sends from a host. How that ends is told by the stream itself, and by the host's result.
func (c *Client) takeFiles(ctx context.Context, id string, host int, to io.Writer) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://keeper/v1/runs/"+url.PathEscape(id)+"/files?host="+strconv.Itoa(host), nil)
	if err != nil {
		return
	}
	c.identify(r)
	resp, err := c.http.Do(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		_, _ = io.CopyBuffer(struct{ io.Writer }{to}, resp.Body, make([]byte, 256<<10))
	}
}

// giveStdin sends a host its standard input. How that ends is told by the host's result.
func (c *Client) giveStdin(ctx context.Context, id string, host int, in io.Reader) {
	body := &stdinBody{in: in, trailer: http.Header{http.CanonicalHeaderKey(wire.StdinError): nil}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://keeper/v1/runs/"+url.PathEscape(id)+"/stdin?host="+strconv.Itoa(host), body)
	if err != nil {
		return
	}
	c.identify(r)
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Trailer = body.trailer
	resp, err := c.http.Do(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	resp.Body.Close()
}

// stdinBody is a body that says in its trailer why it could not be read to its end.
type stdinBody struct {
	in io.Reader

	mu      sync.Mutex
	trailer http.Header
}

func (b *stdinBody) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.mu.Lock()
		b.trailer.Set(wire.StdinError, oneLine(err.Error()))
		b.mu.Unlock()
		err = io.EOF
	}
	return n, err
}

func (b *stdinBody) Close() error { return nil }

// oneLine makes text fit for a header.
func oneLine(text string) string {
	out := make([]rune, 0, len(text))
	for _, c := range text {
		if c < ' ' || c > '~' {
			c = ' '
		}
		out = append(out, c)
	}
	return string(out[:min(len(out), 1000)])
}
