package keeper

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

const (
	socketPath = "/v1/terminals"
	maxFrame   = 64 << 10 // bytes that are typed at once
	maxCells   = 1000     // rows or columns
)

// addSockets adds what is no request and answer. It is described all the same.
func (k *Keeper) addSockets(a *api, mux *http.ServeMux) {
	mux.Handle("GET "+socketPath, a.guard(needType, http.HandlerFunc(k.serveTerminal)))
	query := func(name, doc string, s huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: &s, Required: name == "host"}
	}
	most, least := float64(maxCells), float64(1)
	cells := huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
	a.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: socketPath, OperationID: "open-terminal", Tags: []string{"sessions"},
		Summary: "Open a terminal on a host, as a WebSocket: binary frames are bytes, text frames are JSON. To the keeper: {\"resize\":{\"rows\",\"cols\"}}; from it, at the end: {\"end\":{…}}. It is recorded",
		Parameters: []*huma.Param{
			query("host", "a host's name, or user@host:port", huma.Schema{Type: huma.TypeString}), query("rows", "of the terminal (default 24)", cells),
			query("cols", "of the terminal (default 80)", cells), query("term", "what kind of terminal it is (default xterm-256color)", huma.Schema{Type: huma.TypeString}),
			query("confirm", "an operator's second thought, where the policy wants one", huma.Schema{Type: huma.TypeBoolean}),
		},
		Security:  []map[string][]string{{"token": {}}},
		Responses: map[string]*huma.Response{"101": {Description: "Switching Protocols"}},
	})
}

// terminalAsk is what a request for a terminal says.
type terminalAsk struct {
	host    string
	size    session.Size
	term    string
	confirm bool
}

func parseTerminal(r *http.Request) (a terminalAsk, err error) {
	q := r.URL.Query()
	a = terminalAsk{host: q.Get("host"), term: terminals.Term(q.Get("term")), confirm: q.Get("confirm") == "true"}
	if a.host == "" {
		return a, invalid("host is missing")
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return a, problem(http.StatusUpgradeRequired, "upgrade", "a terminal is a WebSocket")
	}
	for name, n := range map[string]*int{"rows": &a.size.Rows, "cols": &a.size.Cols} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		if *n, err = strconv.Atoi(text); err != nil || *n < 1 || *n > maxCells {
			return a, invalid("%s is a number from 1 to %d", name, maxCells)
		}
	}
	if (a.size.Rows == 0) != (a.size.Cols == 0) {
		return a, invalid("give both rows and cols, or none of them")
	}
	return a, nil
}

// serveTerminal opens a terminal. What is in the way is told before the protocol is switched, as any request is told.
func (k *Keeper) serveTerminal(w http.ResponseWriter, r *http.Request) {
	leave, err := k.stay()
	if err != nil {
		writeProblem(w, asProblem(err))
		return
	}
	defer leave()
	t, err := k.openTerminal(r.Context(), callerOf(r.Context()), r)
	if err != nil {
		writeProblem(w, asProblem(err))
		return
	}
	t.serve(w, r)
}

// stay keeps Close waiting for what is no request of the HTTP server's any more.
func (k *Keeper) stay() (leave func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.base.Err() != nil {
		return nil, errEnding
	}
	k.leaving.Add(1)
	return k.leaving.Done, nil
}

// openTerminal judges, connects, records, and starts the account's shell, in this order.
func (k *Keeper) openTerminal(ctx context.Context, c *caller, r *http.Request) (_ *full, err error) {
	ask, err := parseTerminal(r)
	if err != nil {
		return nil, err
	}
	engine, err := k.admit(c)
	if err != nil {
		return nil, err
	}
	if err := engine.Limits(c.principal).Shell(); err != nil {
		return nil, err
	}
	rm, done, err := k.realm(c)
	if err != nil {
		return nil, err
	}
	t := &full{k: k, done: done}
	defer func() {
		if err != nil {
			t.drop()
		}
	}()
	h, err := rm.host(ask.host)
	if err != nil {
		return nil, err
	}
	line := terminals.Line(nil, h.Env)
	jctx := context.WithValue(ctx, consentKey{}, consent{script: line, confirm: ask.confirm})
	d, err := rm.judge.decide(jctx, policy.Request{Principal: c.principal, Host: h, Command: line, Interactive: true})
	if err != nil {
		return nil, err
	}
	if d.Verdict != policy.Allow {
		return nil, k.noTerminal(c, h, line, d)
	}
	dctx, cancel := context.WithTimeout(ctx, beforeSending)
	defer cancel()
	if t.conn, err = rm.conn.dial(dctx, h); err != nil {
		return nil, &session.Error{Op: "dial", Host: h.Name, Code: dialCode(err), Err: err}
	}
	t.entry = terminals.NewEntry(k.sink, c.principal, h.Name, t.conn.Peer())
	p := session.Program{Line: line, Size: ask.size, Term: ask.term}
	if err := t.record(h, p); err != nil {
		return nil, err
	}
	if err := t.entry.Request(line, d, t.how); err != nil {
		return nil, problem(http.StatusInternalServerError, "audit", "%v", err)
	}
	if t.stream, err = t.conn.Open(dctx, p); err != nil {
		e := &session.Error{Op: "shell", Host: h.Name, Code: "unreachable", Err: err}
		_ = t.entry.Result(terminals.Outcome{Result: session.Result{Status: session.StatusUnreachable, Err: e}}, t.how, terminals.Recorded{})
		return nil, e
	}
	return t, nil
}

// dialCode sorts why there is no connection.
func dialCode(err error) string {
	switch {
	case errors.Is(err, session.ErrHostKey):
		return "hostkey"
	case errors.Is(err, session.ErrAuth):
		return "auth"
	}
	return "unreachable"
}

// noTerminal puts a refusal on record.
func (k *Keeper) noTerminal(c *caller, h hosts.Host, line string, d policy.Decision) error {
	why := d.Reason
	if d.Verdict == policy.Ask {
		why += "; it needs a yes, which nobody can give here"
	}
	e := &session.Error{Op: "shell", Host: h.Name, Code: "denied", Err: errors.New(why)}
	entry := terminals.NewEntry(k.sink, c.principal, h.Name, session.Peer{})
	err := entry.Request(line, d, "")
	if err == nil {
		err = entry.Result(terminals.Outcome{Result: session.Result{Status: session.StatusDenied, Err: e}}, "", terminals.Recorded{})
	}
	if err != nil {
		return problem(http.StatusInternalServerError, "audit", "%v", err)
	}
	return e
}

var (
	errClientGone = errors.New("the client has gone")
	errNonsense   = errors.New("the client has sent what is no control message")
	errKeeperEnds = errors.New("the keeper has ended")
)

// closeTime bounds telling a client how its terminal has ended.
const closeTime = 5 * time.Second
