package terminal

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

const (
	socketPath = "/v1/terminals"
	maxFrame   = maxTyped // bytes of one frame: as many as may be typed
	maxControl = 64 << 10 // bytes of a control message
)

// Add adds what is no request and answer. It is described all the same.
func (ts *Terminals) Add(a *route.API, mux *http.ServeMux) {
	mux.Handle("GET "+socketPath, a.Guard(access.NeedType, http.HandlerFunc(ts.serveTerminal)))
	query := func(name, doc string, s huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: &s, Required: name == "host"}
	}
	most, least := float64(wire.MaxCells), float64(1)
	cells := huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
	a.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: socketPath, OperationID: "open-terminal", Tags: []string{"sessions"},
		Summary: "Open a terminal on a host, as a WebSocket: binary frames are bytes, text frames are JSON. To the keeper: {\"resize\":{\"rows\",\"cols\"}} and {\"hang_up\":true}; from it, at the end: {\"end\":{…}}, {\"notice\":\"…\"} and {\"taken\":bytes} meanwhile: 1 MiB may be typed beyond what was taken, in one frame or many. It is recorded",
		Parameters: []*huma.Param{
			query("host", "a host's name, or user@host:port", huma.Schema{Type: huma.TypeString}), query("rows", "of the terminal (default 24)", cells),
			query("cols", "of the terminal (default 80)", cells), query("term", "what kind of terminal it is (default xterm-256color)", huma.Schema{Type: huma.TypeString}),
			query("confirm", "the operator's confirmation, where the policy requires one", huma.Schema{Type: huma.TypeBoolean}),
			query("record", "what is recorded: the output; what is typed too, passwords included; or nothing. Only the keeper's own account may say so", huma.Schema{Type: huma.TypeString, Enum: []any{wire.RecordOutput, wire.RecordInput, wire.RecordNothing}}),
			query("env", "variables NAME=VALUE of the caller's for the program, which the host may refuse to take", huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}),
			query("settings", "what people change in their terminals, for stty: a mode such as iutf8 or -ixon, or a key such as intr \"^C\" or susp undef", huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}),
			query("sum", "of the host as the caller knows it: 409 where it is another one by now", huma.Schema{Type: huma.TypeString}),
			query("connect_timeout_s", "give up connecting after so many seconds", huma.Schema{Type: huma.TypeNumber}),
		},
		Security:  []map[string][]string{{"token": {}}},
		Responses: map[string]*huma.Response{"101": {Description: "Switching Protocols"}},
	})
}

// terminalAsk is what a request for a terminal says.
type terminalAsk struct {
	host           string
	sum            string
	size           session.Size
	term           string
	settings       []string
	env            []string
	confirm        bool
	record         string
	connectTimeout time.Duration
}

// CodeRecording says that a terminal cannot be recorded.
const CodeRecording = "recording"

// setting is what stty may be told, as package shell writes it: a mode to switch on or off, or a key. Each is known to the
// stty of Linux, the BSDs and busybox: one unknown word makes stty change nothing.
var setting = lazyregexp.New(`^(-?(` + modes + `)|(` + keys + `) (undef|"\^[A-Z?]"))$`)

const (
	modes = `brkint|icrnl|ignbrk|igncr|ignpar|imaxbel|inlcr|inpck|istrip|iutf8|ixany|ixoff|ixon|parmrk` +
		`|ocrnl|onlcr|onlret|onocr|opost|echo|echoctl|echoe|echok|echoke|echonl|echoprt|icanon|iexten|isig|noflsh|tostop`
	keys = `eof|eol|eol2|erase|intr|kill|lnext|quit|start|stop|susp|werase`
)

// Bounds of what a terminal is opened with.
const (
	maxSettings = 32
	maxEnv      = 64
)

func parseTerminal(c *access.Caller, r *http.Request) (a terminalAsk, err error) {
	q := r.URL.Query()
	a = terminalAsk{
		host: q.Get("host"), sum: q.Get("sum"), term: terminals.Term(q.Get("term")), confirm: q.Get("confirm") == "true",
		settings: q["settings"], env: q["env"], record: cmp.Or(q.Get("record"), wire.RecordOutput),
	}
	switch {
	case a.host == "":
		return a, problem.Invalid("host is missing")
	case a.record != wire.RecordOutput && a.record != wire.RecordInput && a.record != wire.RecordNothing:
		return a, problem.Invalid("record is %s, %s or %s", wire.RecordOutput, wire.RecordInput, wire.RecordNothing)
	case a.record != wire.RecordOutput && c.Role != access.Owner:
		return a, problem.New(http.StatusForbidden, "forbidden", "only the keeper's own account says what is recorded of its terminals")
	case !slices.Contains([]string{"", "true", "false"}, q.Get("confirm")):
		return a, problem.Invalid("confirm is true or false")
	case q.Get("term") != "" && a.term != q.Get("term"):
		return a, problem.Invalid("term is a terminal's name such as xterm-256color")
	case len(a.settings) > maxSettings:
		return a, problem.Invalid("there are at most %d settings", maxSettings)
	}
	for _, s := range a.settings {
		if !setting.MatchString(s) {
			return a, problem.Invalid("%.40q is not a setting of a terminal: give a mode such as iutf8 or -ixon, or a key such as intr \"^C\" or susp undef", s)
		}
	}
	if len(a.env) > maxEnv || slices.ContainsFunc(a.env, func(kv string) bool {
		return strings.IndexByte(kv, '=') < 1 || strings.ContainsRune(kv, 0)
	}) {
		return a, problem.Invalid("env is NAME=VALUE, at most %d of them", maxEnv)
	}
	if text := q.Get("connect_timeout_s"); text != "" {
		s, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return a, problem.Invalid("connect_timeout_s is a number of seconds")
		}
		if a.connectTimeout, err = params.Seconds("connect_timeout_s", &s, 0, cmdutil.MaxConnectTimeout); err != nil {
			return a, err
		}
	}
	if !isUpgrade(r) {
		return a, problem.New(http.StatusUpgradeRequired, "upgrade", "a terminal is a WebSocket")
	}
	for name, n := range map[string]*int{"rows": &a.size.Rows, "cols": &a.size.Cols} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		if *n, err = strconv.Atoi(text); err != nil || *n < 1 || *n > wire.MaxCells {
			return a, problem.Invalid("%s is a number from 1 to %d", name, wire.MaxCells)
		}
	}
	if (a.size.Rows == 0) != (a.size.Cols == 0) {
		return a, problem.Invalid("give both rows and cols, or neither")
	}
	return a, nil
}

// serveTerminal opens a terminal. What is in the way is told before the protocol is switched, as any request is told.
func (ts *Terminals) serveTerminal(w http.ResponseWriter, r *http.Request) {
	leave, err := ts.Stay()
	if err != nil {
		problem.Write(w, problem.Of(err))
		return
	}
	defer leave()
	c := access.CallerOf(r.Context())
	t, err := ts.openTerminal(r.Context(), c, r)
	if err != nil {
		noTerminal(w, r, c, problem.Of(err))
		return
	}
	t.serve(w, r)
}

func isUpgrade(r *http.Request) bool { return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") }

func acceptTerminal(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	return websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled, Subprotocols: []string{page.Protocol}})
}

// openTerminal judges, connects, records, and starts the account's shell, in this order.
func (ts *Terminals) openTerminal(ctx context.Context, c *access.Caller, r *http.Request) (_ *Terminal, err error) {
	ask, err := parseTerminal(c, r)
	if err != nil {
		return nil, err
	}
	engine, err := ts.Realms.Admit(c)
	if err != nil {
		return nil, err
	}
	if err := engine.Limits(c.Principal).Shell(); err != nil {
		return nil, err
	}
	rm, done, err := ts.Realms.Of(c)
	if err != nil {
		return nil, err
	}
	t := &Terminal{ts: ts, ask: ask, owner: c.Principal, guarded: c.Role == access.Page, patient: c.Bucket == "", done: done}
	defer func() {
		if err != nil {
			t.drop()
		}
	}()
	h, err := rm.HostAs(ask.host, ask.sum, ask.connectTimeout)
	if err != nil {
		return nil, err
	}
	line := terminals.Line(ask.settings, h.Env)
	jctx := context.WithValue(ctx, livepolicy.ConsentKey{}, livepolicy.Consent{Script: line, Confirm: ask.confirm})
	d, err := rm.Judge.DecideCommand(jctx, policy.Request{Principal: c.Principal, Host: h, Command: line, Interactive: true})
	if err != nil {
		return nil, err
	}
	if d.Verdict != policy.Allow {
		return nil, ts.refuseTerminal(c, h, line, d)
	}
	return t, t.start(ctx, c, rm, h, line, d)
}

// start connects, or takes a connection that is there, records, and starts the account's shell.
func (t *Terminal) start(ctx context.Context, c *access.Caller, rm *realm.Realm, h hosts.Host, line string, d policy.Decision) (err error) {
	ctx, cancel := context.WithTimeout(ctx, route.BeforeSending)
	defer cancel()
	p := session.Program{Line: line, Size: t.ask.size, Term: t.ask.term, Env: t.ask.env, Cooked: true}
	t.host = h.Name
	begin := func(conn session.Transport) (err error) {
		if t.entry == nil { // the first connection may have no room
			t.entry = terminals.NewEntry(t.ts.Record, c.Principal, h, conn.Peer())
			if err = t.record(h, p); err == nil {
				err = t.request(line, d)
			}
			if err != nil {
				return err
			}
		}
		t.stream, err = registry.Elevate(conn, h, question.Become(rm.Conn.Ask)).Open(ctx, p)
		return err
	}
	t.release, err = registry.Lend(ctx, rm.Pool, h, begin)
	if errors.Is(err, session.ErrFull) {
		t.release, err = rm.Alone(ctx, h, begin)
	}
	switch {
	case err == nil:
		t.release = sync.OnceFunc(t.release)
		return nil
	case t.entry == nil:
		p := problem.Of(&session.Error{Op: "dial", Host: h.Name, Code: dialCode(err), Err: err})
		p.Detail = cmdutil.WhyAt(err)
		return p
	case t.asked && isBecome(err):
		e := &session.Error{Op: "shell", Host: h.Name, Code: "auth", Err: err}
		_ = t.entry.Result(terminals.Outcome{Result: session.Result{Status: session.StatusAuth, Err: e}}, t.how, terminals.Recorded{})
		return e
	case t.asked:
		e := &session.Error{Op: "shell", Host: h.Name, Code: "unreachable", Err: err}
		_ = t.entry.Result(terminals.Outcome{Result: session.Result{Status: session.StatusUnreachable, Err: e}}, t.how, terminals.Recorded{})
		return e
	}
	return err
}

// request puts on record that the shell is about to be started.
func (t *Terminal) request(line string, d policy.Decision) error {
	if err := t.entry.Request(line, d, t.how); err != nil {
		return problem.New(http.StatusInternalServerError, "audit", "%v", err)
	}
	t.asked = true
	return nil
}

// isBecome reports whether err is why there is no shell as another account.
func isBecome(err error) bool {
	_, not := errors.AsType[*become.Error](err)
	return not
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

var (
	errClientGone = errors.New("the client has gone")
	errHungUp     = errors.New("hung up by the client")
	errTooMuch    = errors.New("input buffer full: more was typed than the program takes")
	errNonsense   = errors.New("the client sent an invalid control message")
	errKeeperEnds = errors.New("the keeper has ended")
)

// closeTime bounds telling a client how its terminal has ended.
const closeTime = 5 * time.Second
