package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver"
)

// relay carries messages between a client and its keeper. When the keeper ends, the client stays connected: relay answers the
// requests that the keeper left open, and the client's next request goes to another keeper, which gets the client's
// initialization first.
//
// A request of a keeper, such as an elicitation, reaches the client under an id that names the connection. So a late answer
// never counts for the question of another keeper.
type relay struct {
	ios  *iostreams.IOStreams
	dial func(context.Context) (*client.Pipe, error)

	writing sync.Mutex // one message at a time to the client

	mu      sync.Mutex // guards what follows
	up      *upstream  // nil: the keeper has ended
	ups     int        // so far
	hello   []byte     // the client's initialization, once a keeper has accepted it
	ready   []byte     // the client's notification that follows it
	version string     // of the protocol, as agreed on then
	ending  bool       // the client has ended
	failed  error      // why the client cannot be written to
	cancel  context.CancelFunc
}

// upstream is a connection to a keeper.
type upstream struct {
	*client.Pipe
	in      *bufio.Reader
	number  int
	asks    int                        // requests of the keeper so far
	waiting map[string]message         // open requests of the client, by their ids
	asked   map[string]json.RawMessage // ids of the keeper's open requests, by those that the client knows
	over    chan struct{}              // closed when everything that the keeper sent has been carried
}

// serve carries messages until the client has ended. It returns the cause of ctx when that ends first.
func (r *relay) serve(ctx context.Context, p *client.Pipe) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	r.cancel = cancel
	r.use(p, newReader(p))
	read := make(chan error, 1)
	go func() { read <- r.carry(inner) }() // ends with the process at the latest: there is no way to stop reading standard input
	var err error
	select {
	case err = <-read:
	case <-inner.Done():
	}
	r.mu.Lock()
	c := r.up
	r.ending = true
	r.mu.Unlock()
	if c != nil {
		stop := context.AfterFunc(inner, func() { c.Close() })
		_ = c.CloseWrite() // the keeper ends what the agent has begun, and closes the other half
		<-c.over
		stop()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(err, r.failed)
}

// use begins to carry what a keeper sends.
func (r *relay) use(p *client.Pipe, in *bufio.Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ups++
	r.up = &upstream{Pipe: p, in: in, number: r.ups, waiting: map[string]message{}, asked: map[string]json.RawMessage{}, over: make(chan struct{})}
	go r.receive(r.up)
}

// carry carries what the client sends, until it has ended.
func (r *relay) carry(ctx context.Context) error {
	in := newReader(r.ios.In)
	for {
		line, err := readLine(in)
		if len(line) > 0 {
			for _, m := range readMessages(line) {
				r.send(ctx, m)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the client's messages cannot be read: %w", err)
		}
	}
}

// send passes a message of the client on, to another keeper if the last one has ended.
func (r *relay) send(ctx context.Context, m message) {
	for {
		r.mu.Lock()
		c := r.up
		pass := c != nil && r.track(c, &m)
		r.mu.Unlock()
		switch {
		case pass:
			_, _ = c.Write(m.line) // where that fails, the connection has ended, and receive answers
			return
		case c != nil, m.isAnswer(), m.isNotification(), len(bytes.TrimSpace(m.line)) == 0:
			return // it was for an earlier keeper
		}
		if err := r.connect(ctx, m); err != nil {
			if ctx.Err() == nil {
				r.refuse(m, "unreachable", "the keeper has ended, and no other serves the agent: "+cmdutil.OneLine(cmdutil.Text(err)), "the same call again, which looks for a keeper again", true)
			}
			return
		}
	}
}

// track remembers a message of the client that c is about to get, and reports false for one that is meant for another keeper. An
// answer gets the id that its keeper has given the question.
func (r *relay) track(c *upstream, m *message) bool {
	switch {
	case m.isRequest():
		open := message{ID: m.ID, Method: m.Method}
		if m.Method == "initialize" {
			open.line = m.line
		}
		c.waiting[m.key()] = open
	case m.isAnswer():
		id, ok := c.asked[m.key()]
		if !ok {
			return false
		}
		delete(c.asked, m.key())
		m.setID(id)
	case m.Method == "notifications/initialized":
		r.ready = m.line
	}
	return true
}

// receive carries what a keeper sends until it has ended, and answers then what it left open.
func (r *relay) receive(c *upstream) {
	defer close(c.over)
	defer c.Close()
	for {
		line, err := readLine(c.in)
		if len(line) > 0 {
			r.write(r.deliverable(c, readMessage(line)))
		}
		if err != nil {
			break
		}
	}
	r.mu.Lock()
	if r.up == c {
		r.up = nil
	}
	ending := r.ending
	r.mu.Unlock()
	if ending {
		return
	}
	fmt.Fprintln(r.ios.Err, "fairlead: the keeper has ended, and the agent's sessions with it; the agent's next request connects to a keeper again")
	for key := range c.asked {
		r.tell("notifications/cancelled", map[string]any{"requestId": strings.TrimPrefix(key, `"`), "reason": "the keeper has ended"})
	}
	for _, m := range c.waiting {
		r.refuse(m, "lost", "the keeper ended before it answered, so the outcome of this call is unknown; its sessions are closed",
			"session_open or run, to see what the call has done before you repeat it", false)
	}
}

// deliverable is a message of a keeper as the client gets it.
func (r *relay) deliverable(c *upstream, m message) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case m.isRequest():
		c.asks++
		id := m.ID
		m.setID(quoted(fmt.Sprintf("%d-%d", c.number, c.asks)))
		c.asked[m.key()] = id
	case m.isAnswer():
		if asked := c.waiting[m.key()]; asked.Method == "initialize" && r.hello == nil {
			if version := m.protocolVersion(); version != "" {
				r.hello, r.version = asked.line, version
			}
		}
		delete(c.waiting, m.key())
	case m.Method == "notifications/cancelled":
		for key, id := range c.asked {
			if m.cancels(id, strings.TrimPrefix(key, `"`)) {
				delete(c.asked, key)
				break
			}
		}
	}
	return m.line
}

// refuse answers a request in a keeper's place.
func (r *relay) refuse(m message, code, why, next string, retriable bool) {
	if m.Method == "tools/call" {
		r.answer(m, "result", mcpserver.Failure(code, why, next, retriable))
		return
	}
	r.answer(m, "error", map[string]any{"code": internalError, "message": why})
}

// internalError is JSON-RPC's code for what went wrong with the server (https://www.jsonrpc.org/specification, 5.1).
const internalError = -32603

func (r *relay) answer(m message, kind string, what any) {
	r.say(map[string]any{"jsonrpc": "2.0", "id": m.ID, kind: what})
}

func (r *relay) tell(method string, params any) {
	r.say(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (r *relay) say(message map[string]any) {
	line, err := json.Marshal(message)
	if err != nil {
		panic("mcp: internal error: " + err.Error()) // strings and numbers can always be written
	}
	r.write(append(line, '\n'))
}

// write gives the client a message. When it takes no more, everything ends.
func (r *relay) write(line []byte) {
	r.writing.Lock()
	defer r.writing.Unlock()
	if _, err := r.ios.Out.Write(line); err != nil {
		r.mu.Lock()
		if r.failed == nil {
			r.failed = fmt.Errorf("the client takes no more messages: %w", err)
		}
		r.mu.Unlock()
		r.cancel()
	}
}
