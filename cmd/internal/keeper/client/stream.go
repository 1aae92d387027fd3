package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// maxEvent bounds one event of a stream, its base64 included.
const maxEvent = 16 << 20

// maxBreaks is how often a stream may break without having brought anything new.
const maxBreaks = 3

// Stream copies what a command prints, from its beginning, to the writers as it comes, and returns the Result, which holds
// no output then. A connection that breaks is made anew, and nothing comes twice. When ctx ends the command goes on. A
// writer's error ends the stream.
func (c *Client) Stream(ctx context.Context, exec string, stdout, stderr io.Writer) (*wire.Result, error) {
	last, breaks := "", 0
	for {
		r, err := c.request(ctx, http.MethodGet, execPath(exec)+"/stream", nil)
		if err != nil {
			return nil, err
		}
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		was := last
		res, err := c.follow(r, &last, stdout, stderr)
		switch {
		case err == nil || !errors.Is(err, ErrUnreachable):
			return res, err
		case last != was:
			breaks = 0
		default:
			if breaks++; breaks > maxBreaks {
				return nil, err
			}
		}
	}
}

// follow reads one connection's events. last becomes the id of the last one that was used.
func (c *Client) follow(r *http.Request, last *string, stdout, stderr io.Writer) (*wire.Result, error) {
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, unreachable(r.Context(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		return nil, problemOf(resp, body)
	}
	events := newEventReader(resp.Body)
	for {
		e, err := events.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the stream broke off")
			}
			return nil, unreachable(r.Context(), err)
		}
		switch e.kind {
		case "output":
			if err := e.write(stdout, stderr); err != nil {
				return nil, err
			}
			*last = e.id
		case "result":
			res := &wire.Result{}
			if err := json.Unmarshal(e.data, res); err != nil {
				return nil, fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
			}
			return res, nil
		}
	}
}

func (e event) write(stdout, stderr io.Writer) error {
	var chunk wire.Chunk
	if err := json.Unmarshal(e.data, &chunk); err != nil {
		return fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
	}
	data, err := wire.Decode(chunk.Encoding, chunk.Data)
	if err != nil {
		return fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
	}
	w := stdout
	if chunk.Stream == "stderr" {
		w = stderr
	}
	_, err = w.Write(data)
	return err
}

// Events calls f with what happens, until ctx ends, whose cause it returns, or f returns an error.
func (c *Client) Events(ctx context.Context, f func(wire.Event) error) error {
	r, err := c.request(ctx, http.MethodGet, "/v1/events", nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		return problemOf(resp, body)
	}
	events := newEventReader(resp.Body)
	for {
		e, err := events.next()
		if err != nil {
			return unreachable(ctx, err)
		}
		var ev wire.Event
		if err := json.Unmarshal(e.data, &ev); err != nil {
			return fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
		}
		if err := f(ev); err != nil {
			return err
		}
	}
}

// event is one server-sent event (the WHATWG's HTML standard, 9.2).
type event struct {
	kind, id string
	data     []byte
}

// eventReader reads what a keeper sends: a subset of the format, without retry and byte order mark.
type eventReader struct{ lines *bufio.Scanner }

func newEventReader(r io.Reader) *eventReader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxEvent)
	return &eventReader{s}
}

// next returns the next event that has data, or io.EOF. An event that is cut off is none.
func (r *eventReader) next() (event, error) {
	var e event
	for r.lines.Scan() {
		line := r.lines.Bytes()
		if len(line) == 0 {
			if e.data != nil {
				return e, nil
			}
			e = event{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.kind = string(value)
		case "id":
			e.id = string(value)
		case "data":
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > maxEvent {
				return e, bufio.ErrTooLong
			}
			e.data = append(e.data, value...)
			if e.data == nil {
				e.data = []byte{}
			}
		}
	}
	if err := r.lines.Err(); err != nil {
		return e, err
	}
	return e, io.EOF
}
