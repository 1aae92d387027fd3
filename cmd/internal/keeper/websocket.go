package keeper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/screen"
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

// full is a terminal on a host, for the time of a connection.
type full struct {
	k      *Keeper
	conn   session.Transport
	stream session.Stream
	entry  *terminals.Entry
	rec    *terminals.Recording
	how    string // it is recorded
	typed  atomic.Int64
	done   func() // with the realm
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

// record starts the recording. What cannot be recorded is not started: nobody sits at this machine to be told.
func (t *full) record(h hosts.Host, p session.Program) (err error) {
	if t.k.cfg.Recordings == "" {
		return problem(http.StatusInternalServerError, "audit", "there is no place for recordings, so nothing was sent")
	}
	t.rec, err = terminals.StartRecording(t.k.cfg.Recordings, terminals.RecordingName(t.entry.Start, h.Name, t.entry.ID()), terminals.MaxRecording, p.Size,
		screen.CastHeader{Timestamp: t.entry.Start.Unix(), Title: h.Name, Env: map[string]string{"TERM": p.Term}},
		func(err error) {
			t.k.log.Printf("the recording %s stops early: %s", t.entry.ID(), terminals.Reason(err))
		})
	if err != nil {
		return problem(http.StatusInternalServerError, "audit", "the terminal cannot be recorded, so nothing was sent: %v", err)
	}
	t.how = terminals.HowRecorded(t.rec.Path(), false, "")
	return nil
}

// drop gives back what was opened for a terminal that did not begin.
func (t *full) drop() {
	t.rec.Drop()
	if t.conn != nil {
		t.conn.Close()
	}
	t.done()
}

var (
	errClientGone = errors.New("the client has gone")
	errNonsense   = errors.New("the client has sent what is no control message")
	errKeeperEnds = errors.New("the keeper has ended")
)

// serve connects the program with the client until one of them ends.
func (t *full) serve(w http.ResponseWriter, r *http.Request) {
	defer t.done()
	defer t.conn.Close()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil { // which has been answered
		t.stream.Close()
		t.settle(terminals.Outcome{Result: endOfTerminal(session.Exit{}, errClientGone)})
		return
	}
	ws.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancelCause(r.Context()) // which ends with the keeper
	defer cancel(nil)
	var wg sync.WaitGroup
	wg.Go(func() { t.hear(ws, cancel) })
	wg.Go(func() { ping(ctx, ws, cancel) })
	out, cause := t.show(ctx, ws)
	cancel(nil)
	t.say(ws, out, t.settle(out), cause)
	ws.CloseNow()
	wg.Wait()
}

// settle puts the end on record.
func (t *full) settle(out terminals.Outcome) terminals.Recorded {
	rec := t.rec.Close()
	out.Typed = t.typed.Load()
	if err := t.entry.Result(out, t.how, rec); err != nil {
		t.k.log.Printf("the end of terminal %s cannot be recorded: %v", t.entry.ID(), err)
	}
	return rec
}

// closeTime bounds telling a client how its terminal has ended.
const closeTime = 5 * time.Second

// say tells the client how its terminal has ended, and why the connection does.
func (t *full) say(ws *websocket.Conn, out terminals.Outcome, rec terminals.Recorded, cause error) {
	end := &wire.TerminalEnd{Status: string(out.Status), ExitCode: out.ExitCode, Signal: out.Signal, Recording: filepath.Base(rec.Path)}
	if out.Err != nil {
		end.Error = &wire.Fault{Code: out.Err.Code, Message: asProblem(out.Err).Detail}
	}
	code := websocket.StatusNormalClosure
	switch {
	case errors.Is(cause, errNonsense):
		code = websocket.StatusPolicyViolation
	case t.k.base.Err() != nil:
		code = websocket.StatusGoingAway
	}
	text, err := json.Marshal(wire.TerminalSays{End: end})
	if err != nil {
		return // it can always be written
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if ws.Write(ctx, websocket.MessageText, text) == nil {
		_ = ws.Close(code, "") // it may be gone
	}
}

// show passes on what is printed until the program or ctx has ended, and returns how, with the cause of ctx. When ctx ends
// the program is hung up.
func (t *full) show(ctx context.Context, ws *websocket.Conn) (out terminals.Outcome, cause error) {
	hung := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(hung)
		t.stream.Close()
	})
	sum := sha256.New()
	buf := make([]byte, 32<<10)
	var failed error
	for {
		n, err := t.stream.Read(buf)
		if n > 0 && ctx.Err() == nil && failed == nil {
			t.rec.Output(buf[:n])
			_, _ = sum.Write(buf[:n])
			out.Shown += int64(n)
			if failed = t.write(ctx, ws, buf[:n]); failed != nil {
				t.stream.Close()
			}
		}
		if err != nil {
			break
		}
	}
	exit, err := t.stream.Wait()
	switch {
	case failed != nil:
		cause = errClientGone
	case ctx.Err() != nil:
		cause = context.Cause(ctx)
	}
	if cause != nil {
		err = cause
		if errors.Is(cause, context.Canceled) {
			err = errClientGone
			if t.k.base.Err() != nil {
				err = errKeeperEnds
			}
		}
	}
	if !unhook() {
		<-hung
	}
	t.stream.Close()
	out.Result, out.ShownSHA256 = endOfTerminal(exit, err), hex.EncodeToString(sum.Sum(nil))
	return out, cause
}

// write sends output. Only a client that takes nothing for a while loses its connection: the end of ctx leaves it open, for
// the end to be told.
func (t *full) write(ctx context.Context, ws *websocket.Conn, p []byte) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer stop()
	return ws.Write(ctx, websocket.MessageBinary, p)
}

// endOfTerminal says how a terminal has ended.
func endOfTerminal(exit session.Exit, err error) session.Result {
	failed := func(s session.Status, code string) session.Result {
		return session.Result{Status: s, Err: &session.Error{Op: "shell", Code: code, Sent: true, Err: err}}
	}
	switch {
	case errors.Is(err, errClientGone), errors.Is(err, errNonsense), errors.Is(err, errKeeperEnds):
		return failed(session.StatusCanceled, "canceled")
	case err != nil:
		return failed(session.StatusLost, "lost")
	case exit.Signal != "":
		return session.Result{Status: session.StatusSignal, Signal: exit.Signal}
	case exit.Code != 0:
		return session.Result{Status: session.StatusExit, ExitCode: &exit.Code}
	}
	return session.Result{Status: session.StatusOK, ExitCode: &exit.Code}
}

// ping finds out that a client is gone that has not said so.
func ping(ctx context.Context, ws *websocket.Conn, gone context.CancelCauseFunc) {
	tick := time.NewTicker(keepAliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		pctx, stop := context.WithTimeout(ctx, writeTime)
		err := ws.Ping(pctx)
		stop()
		if err != nil && ctx.Err() == nil {
			gone(errClientGone)
			return
		}
	}
}

// hear takes what the client sends, until the connection ends.
func (t *full) hear(ws *websocket.Conn, gone context.CancelCauseFunc) {
	for {
		kind, p, err := ws.Read(context.Background()) // a context that ends would end the connection
		if err != nil {
			gone(errClientGone)
			return
		}
		if kind == websocket.MessageText {
			if !t.obey(p) {
				gone(errNonsense)
				return
			}
			continue
		}
		n, _ := t.stream.Write(p) // it fails when the program has ended, which the reader of its output learns too
		clear(p)                  // there may be passwords in it
		t.typed.Add(int64(n))
	}
}

// obey does what a control message says; false for what is none.
func (t *full) obey(text []byte) bool {
	var m wire.TerminalHears
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&m) != nil || m.Resize == nil {
		return false
	}
	size := session.Size{Rows: m.Resize.Rows, Cols: m.Resize.Cols}
	if size.Rows < 1 || size.Rows > maxCells || size.Cols < 1 || size.Cols > maxCells {
		return false
	}
	t.rec.Resize(size)
	if r, ok := t.stream.(session.Resizer); ok {
		_ = r.Resize(size) // fails when the program has ended
	}
	return true
}
