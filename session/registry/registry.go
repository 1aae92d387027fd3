package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// maxName bounds the name of a session.
const maxName = 64

// Registry holds sessions and commands. Make one with New.
type Registry struct {
	cfg Config
	wg  sync.WaitGroup // of every goroutine of ours

	closing context.Context // ends with Close
	shut    context.CancelFunc

	mu      sync.Mutex // guards what follows; never held while a session is called
	entries map[string]*Entry
	kept    int              // of them, those that are not for a few commands
	names   map[owned]*Entry // those that have a name; also while they are being opened
	ended   graveyard        // why sessions that are gone were closed
	execs   shelf
	fleets  map[string]*Fleet
	order   []string // of fleets, the oldest first
	keys    ledger
	closed  bool
}

// owned is a name within a principal's.
type owned struct{ principal, name string }

// New returns an empty Registry. The error says what cfg lacks.
func New(cfg Config) (*Registry, error) {
	if cfg.Open == nil {
		return nil, errors.New("registry: Config.Open is required (session.Pool.Open)")
	}
	r := &Registry{
		cfg: cfg.withDefaults(), entries: map[string]*Entry{}, names: map[owned]*Entry{}, fleets: map[string]*Fleet{},
		ended: graveyard{why: map[string]string{}}, execs: shelf{byID: map[string]*Exec{}}, keys: ledger{m: map[key]*claim{}},
	}
	r.closing, r.shut = context.WithCancel(context.Background())
	return r, nil
}

// OpenRequest says what session is wanted.
type OpenRequest struct {
	Principal string     // who owns it
	Host      hosts.Host // where
	Name      string     // unique among the principal's; "" means none
	Dir       string     // where it starts; "" means where the host's shells start: the account's home directory but for a hosts.Command
	Env       []string   // "KEY=value", besides the host's own
	Shell     string     // one of Shells, instead of the host's; "" means none
	Reason    string     // for the record

	Place *Place // the sandbox that it is held in; nil means none
}

// Shells are the names that OpenRequest.Shell takes. auto is the account's own shell where it is one of the others, and mksh
// counts as ksh.
func Shells() []string {
	return []string{"auto", "bash", "zsh", "ksh", "mksh", "dash", "ash", "sh"}
}

// Place is a sandbox as a session gets it.
type Place struct {
	Dir   string                                                  // where the session starts, instead of OpenRequest.Dir
	Level string                                                  // what holds it there: kernel, account or checked
	Why   string                                                  // one sentence for people about that
	Open  func(h hosts.Host, once bool) (*session.Session, error) // instead of Config.Open; once: instead of OpenOnce
}

// Open opens a session and waits until its shell is ready, or ctx ends. Errors are *session.Error; then there is no
// session.
func (r *Registry) Open(ctx context.Context, req OpenRequest) (*Entry, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.Place != nil {
		req.Dir = req.Place.Dir
	}
	e, err := r.add(req, false)
	if err != nil {
		return nil, err
	}
	if err := e.begin(ctx, req); err != nil {
		e.close("it could not be opened")
		return nil, err
	}
	return e, nil
}

func (q *OpenRequest) check() error {
	bad := func(format string, args ...any) error {
		return fault("open", q.Host.Name, CodeInvalid, false, format, args...)
	}
	if q.Shell != "" && !slices.Contains(Shells(), q.Shell) {
		return bad("%.40q is not a shell that a session can have: give one of %s", q.Shell, strings.Join(Shells(), ", "))
	}
	if len(q.Name) > maxName || !utf8.ValidString(q.Name) || strings.HasPrefix(q.Name, "s_") ||
		strings.ContainsFunc(q.Name, func(c rune) bool { return c == ' ' || c == '/' || !unicode.IsPrint(c) }) {
		return bad("a session's name has at most %d bytes, no blanks or invisible characters, no slash, and does not begin with s_", maxName)
	}
	for _, kv := range q.Env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			return bad("%.80q is a variable without a value", name)
		}
		if err := checkVariable(q.Host.Name, name, value); err != nil {
			return err
		}
	}
	return nil
}

// add makes the entry and takes its name. once says that it is for a single command, and not listed.
func (r *Registry) add(req OpenRequest, once bool) (*Entry, error) {
	h := req.Host
	h.Env = append(slices.Clone(h.Env), req.Env...)
	switch req.Shell {
	case "":
	case "mksh":
		h.Shell = "ksh"
	default:
		h.Shell = req.Shell
	}
	r.learn(req.Principal, h.Env)
	open := r.cfg.Open
	switch {
	case req.Place != nil:
		open = func(h hosts.Host) (*session.Session, error) { return req.Place.Open(h, once) }
	case once && r.cfg.OpenOnce != nil:
		open = r.cfg.OpenOnce
	}
	s, err := open(h)
	if err != nil {
		return nil, asError("open", h.Name, err)
	}
	now := time.Now()
	e := &Entry{r: r, s: s, name: req.Name, principal: req.Principal, place: req.Place, once: once, opened: now, used: now, gone: make(chan struct{})}
	if !once {
		e.listed = r.listed(h)
	}
	mine := owned{req.Principal, req.Name}
	r.mu.Lock()
	twin := r.names[mine]
	switch {
	case r.closed:
		err = fault("open", h.Name, CodeClosed, false, "%w", session.ErrClosed)
	case req.Name != "" && twin != nil:
		err = fault("open", h.Name, CodeExists, false, "there is a session %s on %s already (%s): use it, close it, or take another name",
			req.Name, twin.Host().Name, twin.ID())
	case !once && r.cfg.MaxSessions > 0 && r.kept >= r.cfg.MaxSessions:
		err = fault("open", h.Name, CodeFull, true, "%s has %d open sessions, which is the limit; close one: fairlead sessions close NAME",
			req.Principal, r.kept)
	default:
		r.entries[e.ID()] = e
		if !once {
			r.kept++
		}
		if req.Name != "" {
			r.names[mine] = e
		}
	}
	r.mu.Unlock()
	if err != nil {
		s.Close()
		return nil, err
	}
	e.arm()
	return e, nil
}

// learn takes the values of variables whose names say that they are secret for secrets.
func (r *Registry) learn(principal string, env []string) {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if word, err := framing.Quote(value); err == nil {
			r.cfg.Secrets.Owner(principal).LearnFromCommand(name + "=" + word)
		}
	}
}

// Get returns a principal's session by its id or name. A session that was closed is told from one that never was.
func (r *Registry) Get(principal, idOrName string) (*Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[idOrName]
	if e == nil {
		e = r.names[owned{principal, idOrName}]
	}
	if e != nil && e.principal == principal && idOrName != "" {
		return e, nil
	}
	if why := r.ended.why[principal+"\x00"+idOrName]; why != "" {
		return nil, &session.Error{Op: "find", Code: CodeClosed, Err: textError{fmt.Sprintf("session %s is closed: %s", idOrName, why), session.ErrClosed}}
	}
	return nil, fault("find", "", CodeNotFound, false, "there is no session %.80q", idOrName)
}

// List returns a principal's sessions, the oldest first.
func (r *Registry) List(principal string) []*Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Entry
	for _, e := range r.entries {
		if e.principal == principal && !e.once {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *Entry) int { return a.opened.Compare(b.opened) })
	return all
}

// Running returns a principal's commands that have not ended, those that await approval among them, the oldest first.
func (r *Registry) Running(principal string) []*Exec {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Exec
	for _, x := range r.execs.all() {
		if x.e.principal == principal && x.Running() && !x.cmd.own {
			all = append(all, x)
		}
	}
	return all
}

// Exec returns a principal's command by its id.
func (r *Registry) Exec(principal, id string) (*Exec, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.execs.byID[id]; x != nil && x.e.principal == principal {
		return x, nil
	}
	return nil, fault("find", "", CodeNotFound, false, "there is no command %.80q, or its output is no longer kept", id)
}

// Close closes every session, stopping what runs, frees every output, and returns when all goroutines are gone. It is
// idempotent.
func (r *Registry) Close() error {
	r.mu.Lock()
	r.closed = true
	all := make([]*Entry, 0, len(r.entries))
	for _, e := range r.entries {
		all = append(all, e)
	}
	r.mu.Unlock()
	r.shut()
	var wg sync.WaitGroup
	for _, e := range all {
		wg.Go(func() { e.close("everything was closed") })
	}
	wg.Wait()
	r.wg.Wait()
	r.mu.Lock()
	kept := r.execs.all()
	r.execs = shelf{byID: map[string]*Exec{}}
	r.mu.Unlock()
	for _, x := range kept {
		x.drop()
	}
	return nil
}

// graveyard remembers why the last sessions were closed.
type graveyard struct {
	why   map[string]string
	order []string
}

const maxGraves = 200

func (g *graveyard) bury(id, why string) {
	if g.why[id] == "" {
		g.order = append(g.order, id)
	}
	g.why[id] = why
	if len(g.order) > maxGraves {
		delete(g.why, g.order[0])
		g.order = slices.Delete(g.order, 0, 1)
	}
}

// String is for messages: how many of what there are.
func (r *Registry) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d sessions, %d commands kept", len(r.entries), len(r.execs.byID))
}
