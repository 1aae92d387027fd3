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
	"time"

	"github.com/coder/websocket"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

// TerminalAsk is a terminal on a host. Host is required.
type TerminalAsk struct {
	Host           string
	Sum            string // of the host as the caller knows it; "" is not compared
	Size           session.Size
	Term           string
	Settings       []string // for stty
	Env            []string // NAME=VALUE, which the host may refuse to take
	Record         string   // wire.RecordInput or wire.RecordNothing; "" is the output
	ConnectTimeout time.Duration

	// Notice, if not nil, is told in a line what the keeper has to say meanwhile. It is called by Read.
	Notice func(string)
}

// Terminal is the account's own shell on a host, which the keeper has started: a [session.Stream]. Read and Wait are for one
// goroutine at a time.
type Terminal struct {
	ws     *websocket.Conn
	notice func(string)
	rest   []byte // read and not yet given to the caller
	hangUp sync.Once

	mu     sync.Mutex // guards what follows
	change sync.Cond
	typed  int64  // bytes that Write has sent
	taken  *int64 // of them, as the keeper says; nil where it does not
	closed bool
	record string // the recording's name

	ended chan struct{} // closed when end and err are known
	end   *wire.TerminalEnd
	err   error
}

const (
	maxTerminalFrame = 1 << 20         // bytes at once, from the keeper
	maxTyped         = 64 << 10        // bytes that the program has not taken
	hangUpTime       = 2 * time.Second // for the keeper to say how a terminal ended that we have hung up: it may wait longer for a host
)

// errWentAway is the end of a terminal whose keeper did not say how it ended.
var errWentAway = errors.New("the keeper went away")

// OpenTerminal opens a terminal. ctx bounds the call only. The error is a *wire.Problem for one that never began.
func (c *Client) OpenTerminal(ctx context.Context, ask TerminalAsk) (*Terminal, error) {
	q := url.Values{"host": {ask.Host}, "settings": ask.Settings, "env": ask.Env}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("sum", ask.Sum)
	set("term", ask.Term)
	set("record", ask.Record)
	if ask.Size != (session.Size{}) {
		size := cells(ask.Size)
		q.Set("rows", strconv.Itoa(size.Rows))
		q.Set("cols", strconv.Itoa(size.Cols))
	}
	if ask.ConnectTimeout > 0 {
		q.Set("connect_timeout_s", strconv.FormatFloat(ask.ConnectTimeout.Seconds(), 'f', -1, 64))
	}
	r, err := c.request(ctx, http.MethodGet, "/v1/terminals?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	ws, resp, err := websocket.Dial(ctx, r.URL.String(), &websocket.DialOptions{
		HTTPClient: c.http, HTTPHeader: r.Header, CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case err == nil:
	case resp != nil && resp.StatusCode >= 400:
		body, _ := io.ReadAll(resp.Body) // of which the library keeps the beginning
		return nil, problemOf(resp, body)
	default:
		return nil, unreachable(ctx, err)
	}
	ws.SetReadLimit(maxTerminalFrame)
	t := &Terminal{ws: ws, notice: ask.Notice, ended: make(chan struct{})}
	t.change.L = &t.mu
	return t, nil
}

// Read returns what the program prints; io.EOF after its end.
func (t *Terminal) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		select {
		case <-t.ended:
			return 0, io.EOF
		default:
		}
		kind, data, err := t.ws.Read(context.Background()) // which Close ends
		switch {
		case err != nil:
			t.over(nil, errWentAway)
		case kind == websocket.MessageBinary:
			t.rest = data
		default:
			t.hear(data)
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

func (t *Terminal) hear(text []byte) {
	var says wire.TerminalSays
	if err := json.Unmarshal(text, &says); err != nil {
		t.over(nil, fmt.Errorf("client: the keeper's answer cannot be understood: %w", err))
		return
	}
	if says.Recording != "" {
		t.mu.Lock()
		t.record = says.Recording
		t.mu.Unlock()
	}
	if says.Notice != "" && t.notice != nil {
		t.notice(says.Notice)
	}
	if says.Taken != nil {
		t.mu.Lock()
		t.taken = says.Taken
		t.change.Broadcast()
		t.mu.Unlock()
	}
	if says.End != nil {
		t.over(says.End, nil)
	}
}

// over is called by Read alone.
func (t *Terminal) over(end *wire.TerminalEnd, err error) {
	t.end, t.err = end, err
	close(t.ended)
	t.noMore()
	_ = t.ws.CloseNow() // nothing more comes
}

// noMore ends Write.
func (t *Terminal) noMore() {
	t.mu.Lock()
	t.closed = true
	t.change.Broadcast()
	t.mu.Unlock()
}

// Write types. It waits while much of what was typed has not been taken by the program; Read must go on meanwhile.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	for !t.closed && t.taken != nil && t.typed-*t.taken >= maxTyped {
		t.change.Wait()
	}
	closed := t.closed
	t.typed += int64(len(p))
	t.mu.Unlock()
	if closed {
		return 0, errWentAway
	}
	if err := t.ws.Write(context.Background(), websocket.MessageBinary, p); err != nil {
		return 0, errWentAway
	}
	return len(p), nil
}

// Resize tells the program that the terminal has another size.
func (t *Terminal) Resize(s session.Size) error {
	size := cells(s)
	return t.say(wire.TerminalHears{Resize: &size})
}

// cells is a size as the keeper takes it. There are no larger terminals, but those who make one for the sake of its scrollback.
func cells(s session.Size) wire.TerminalSize {
	within := func(n int) int { return min(max(n, 1), wire.MaxCells) }
	return wire.TerminalSize{Rows: within(s.Rows), Cols: within(s.Cols)}
}

func (t *Terminal) say(what wire.TerminalHears) error {
	text, err := json.Marshal(what)
	if err == nil {
		err = t.ws.Write(context.Background(), websocket.MessageText, text)
	}
	return err
}

// Wait returns how the program ended, once Read has come to its end. The error says why that is not known, or who has hung
// up.
func (t *Terminal) Wait() (session.Exit, error) {
	<-t.ended
	switch {
	case t.err != nil:
		return session.Exit{}, t.err
	case t.end.Signal != "":
		return session.Exit{Signal: t.end.Signal}, nil
	case t.end.ExitCode != nil:
		return session.Exit{Code: *t.end.ExitCode}, nil
	case t.end.Why != "":
		return session.Exit{}, errors.New(t.end.Why)
	}
	return session.Exit{}, errWentAway
}

// Recording is the name of the file that the keeper records in; "" is none. It is known with the first output, and stays so where
// the keeper does not say how the terminal ended.
func (t *Terminal) Recording() string {
	select {
	case <-t.ended:
		if t.end != nil {
			return t.end.Recording
		}
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.record
}

// Close hangs up. Read goes on to the end that the keeper tells, for some seconds at most.
func (t *Terminal) Close() error {
	t.hangUp.Do(func() {
		t.noMore()
		select {
		case <-t.ended:
			return
		default:
		}
		if t.say(wire.TerminalHears{HangUp: true}) != nil {
			_ = t.ws.CloseNow()
			return
		}
		time.AfterFunc(hangUpTime, func() { _ = t.ws.CloseNow() })
	})
	return nil
}
