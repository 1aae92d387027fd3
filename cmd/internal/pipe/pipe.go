// Package pipe runs programs on hosts with exact streams, as ssh(1) does, over connections of a pool and through the gate:
// judged, recorded, and only then begun.
package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Ask is what to run: a command line, a subsystem, a connection to a port, or the login shell where all are "".
type Ask struct {
	Line      string   `json:"line,omitempty"`
	Subsystem string   `json:"subsystem,omitempty"`
	Host      string   `json:"host,omitempty"` // to connect to from there, with Port; or the path of a socket
	Port      uint16   `json:"port,omitempty"`
	Env       []string `json:"env,omitempty"`    // NAME=VALUE
	Terminal  bool     `json:"tty,omitempty"`    // for Line and the login shell
	Term      string   `json:"term,omitempty"`   // of Terminal
	Rows      int      `json:"rows,omitempty"`   // of Terminal
	Cols      int      `json:"cols,omitempty"`   // of Terminal
	Caller    string   `json:"caller,omitempty"` // the program that calls, for the audit log
}

// Script is shell source that does the same, which is judged and recorded.
func (a Ask) Script() string {
	switch {
	case hosts.IsSocket(a.Host):
		return "nc -U " + quote(a.Host)
	case a.Host != "":
		return "nc " + quote(a.Host) + " " + strconv.Itoa(int(a.Port))
	case a.Subsystem == "sftp":
		return "sftp-server"
	case a.Subsystem != "":
		return quote(a.Subsystem)
	case a.Line == "":
		return `exec "$SHELL" -l`
	}
	return a.Line
}

// Interactive reports whether what is run is a terminal or shell whose commands are not judged one by one.
func (a Ask) Interactive() bool {
	return a.Terminal || a.Line == "" && a.Subsystem == "" && a.Host == ""
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// maxEnv bounds Env.
const maxEnv = 64

// Check refuses what makes no sense.
func (a Ask) Check() error {
	kinds := 0
	for _, given := range []string{a.Line, a.Subsystem, a.Host} {
		if given != "" {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return errors.New("only one of a command, a subsystem and a port can be asked for")
	case (a.Host == "" || hosts.IsSocket(a.Host)) != (a.Port == 0):
		return errors.New("a host and its port go together, and a socket has none")
	case a.Terminal && (a.Subsystem != "" || a.Host != ""):
		return errors.New("only commands have terminals")
	case len(a.Env) > maxEnv:
		return fmt.Errorf("more than %d variables", maxEnv)
	case strings.ContainsRune(a.Line+a.Subsystem+a.Host, 0):
		return errors.New("NUL cannot be in a command")
	}
	return nil
}

// Config says where and as whom. All fields are required but Label.
type Config struct {
	Sink      audit.Sink
	Principal string
	Decide    func(context.Context, policy.Request) (policy.Decision, error)
	// Lend lets use have a connection to a host; release gives it back.
	Lend func(ctx context.Context, h hosts.Host, use func(session.Transport) error) (release func(), err error)
}

// piper is a connection that can do this.
type piper interface {
	Pipe(ctx context.Context, p sshconn.Piped) (*sshconn.Pipe, error)
}

// Running is a program that has begun. Close it, after which its end is on record.
type Running struct {
	*sshconn.Pipe
	release func()
	entry   *entry
	once    sync.Once
	err     error
}

// Connect logs in to a host and runs nothing there, so that a call that only forwards ports hears at once what is wrong. Errors are
// *[session.Error].
func Connect(ctx context.Context, cfg Config, h hosts.Host) error {
	fail := func(code string, err error) error {
		return &session.Error{Op: "ssh", Host: h.Name, Code: code, Err: err}
	}
	if hosts.RoleOf(cfg.Principal) != hosts.RoleOperator {
		return fail("denied", errors.New("forwards are for operators"))
	}
	release, err := cfg.Lend(ctx, h, func(session.Transport) error { return nil })
	if err != nil {
		return fail(codeOf(err), errors.New(cmdutil.WhyAt(err)))
	}
	release()
	return nil
}

// Begin judges, connects, records and starts, in this order. Errors are *[session.Error], as commands give them.
func Begin(ctx context.Context, cfg Config, h hosts.Host, a Ask, reason string) (*Running, error) {
	fail := func(code string, err error) error {
		return &session.Error{Op: "ssh", Host: h.Name, Code: code, Err: err}
	}
	if err := a.Check(); err != nil {
		return nil, fail("invalid", err)
	}
	if h.Transport != hosts.SSH && h.Transport != "" {
		return nil, fail("invalid", fmt.Errorf("it is reached by %s, and not over ssh: use fairlead run or fairlead shell", h.Transport))
	}
	if h.Become.ByCall {
		return nil, fail("invalid", fmt.Errorf("exact streams are the account's that logs in: to be %s, use fairlead run --become=%s --stdin", h.Become.User, printable.Word(h.Become.User)))
	}
	d, err := cfg.Decide(ctx, policy.Request{Principal: cfg.Principal, Host: h, Command: a.Script(), Reason: reason, Interactive: a.Interactive(), Elsewhere: true})
	if err != nil {
		return nil, fail("denied", fmt.Errorf("the policy could not decide: %w", err))
	}
	if hosts.RoleOf(cfg.Principal) != hosts.RoleOperator {
		// Its output is exact, and so with all secrets; and what is typed is judged by nothing.
		d = policy.Decision{Verdict: policy.Deny, Class: d.Class, Rule: "ssh/operators", Reason: "exact streams are for operators: use fairlead run"}
	}
	e := newEntry(cfg, h, a, reason, d)
	if d.Verdict != policy.Allow {
		why := d.Reason
		if d.Verdict == policy.Ask {
			why = strings.TrimSpace(why + "; it needs approval, which ssh cannot wait for: use fairlead run")
		}
		err := e.request(session.Peer{})
		if err == nil {
			err = e.result(session.StatusDenied, session.Exit{}, &session.Error{Code: "denied", Err: errors.New(why)})
		}
		if err != nil {
			return nil, fail("audit", err)
		}
		return nil, fail("denied", errors.New(why))
	}
	r := &Running{entry: e}
	r.release, err = cfg.Lend(ctx, h, func(t session.Transport) error {
		p, ok := t.(piper)
		if !ok {
			return errors.New("this connection gives no exact streams")
		}
		if !e.asked { // the first connection may have no room
			if err := e.request(t.Peer()); err != nil {
				return &auditError{err}
			}
		}
		program := sshconn.Piped{Line: a.Line, Subsystem: a.Subsystem, Host: a.Host, Port: a.Port, Env: a.Env}
		if a.Terminal {
			program.Terminal = &session.Program{Size: session.Size{Rows: a.Rows, Cols: a.Cols}, Term: a.Term}
		}
		r.Pipe, err = p.Pipe(ctx, program)
		if err != nil && a.Host != "" && !hosts.IsSocket(a.Host) {
			err = fmt.Errorf("%s: %w", net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port))), err)
		}
		return err
	})
	if err == nil {
		return r, nil
	}
	failed := &session.Error{Op: "ssh", Host: h.Name, Code: codeOf(err), Err: err}
	if e.asked {
		status := session.StatusError
		if failed.Code == "unreachable" {
			status = session.StatusUnreachable
		}
		_ = e.result(status, session.Exit{}, failed)
	} else if failed.Code != "audit" {
		failed.Err = errors.New(cmdutil.WhyAt(err))
	}
	return nil, failed
}

// auditError says that nothing was begun, because it could not be put on record.
type auditError struct{ error }

func (e *auditError) Unwrap() error { return e.error }

func codeOf(err error) string {
	var unrecorded *auditError
	switch {
	case errors.As(err, &unrecorded):
		return "audit"
	case errors.Is(err, session.ErrHostKey):
		return "hostkey"
	case errors.Is(err, session.ErrAuth):
		return "auth"
	case errors.Is(err, errors.ErrUnsupported):
		return "unsupported"
	}
	return "unreachable"
}

// End records how the program ended and gives the connection back. exit and err are those of Wait; in and out are the bytes
// that have passed.
func (r *Running) End(exit session.Exit, err error, in, out int64) error {
	r.once.Do(func() {
		r.Pipe.Close()
		r.release()
		r.entry.in, r.entry.out = in, out
		switch {
		case err != nil:
			r.err = r.entry.result(session.StatusLost, exit, &session.Error{Code: "lost", Err: err})
		case exit.Signal != "":
			r.err = r.entry.result(session.StatusSignal, exit, nil)
		case exit.Code != 0:
			r.err = r.entry.result(session.StatusExit, exit, nil)
		default:
			r.err = r.entry.result(session.StatusOK, exit, nil)
		}
	})
	return r.err
}

// entry is what the audit log says of one program.
type entry struct {
	sink    audit.Sink
	who     audit.Event
	ask     audit.Event
	ended   audit.Kind // of its end
	began   time.Time
	asked   bool
	in, out int64
}

func newEntry(cfg Config, h hosts.Host, a Ask, reason string, d policy.Decision) *entry {
	who := audit.Event{
		ID: id.New("e_"), Session: id.New("s_"), Principal: cfg.Principal, Host: h.Name, Tier: h.Tier, SSHOptions: h.ShownOptions(),
		Client: a.Caller,
	}
	ask := who
	ask.Kind, ask.Exact, ask.Command = audit.CommandRequest, []byte(a.Script()), cmdutil.Redactor(redact.New(redact.Config{}))(a.Script())
	ask.Verdict, ask.Rule, ask.Class, ask.Policy, ask.Approval, ask.Reason = d.Verdict.String(), d.Rule, string(d.Class), d.Policy, d.Approval, reason
	return &entry{sink: cfg.Sink, who: who, ask: ask, ended: audit.CommandResult, began: time.Now()}
}

// newForwardEntry is that of a port that is forwarded.
func newForwardEntry(cfg Config, h hosts.Host, f hosts.Forward, reason, caller string, d policy.Decision) *entry {
	e := newEntry(cfg, h, Ask{Caller: caller}, reason, d)
	e.who.Session, e.ask.Session = "", ""
	e.ask.Kind, e.ended = audit.ForwardRequest, audit.ForwardResult
	e.ask.Command, e.ask.Exact = f.String(), []byte(f.String())
	return e
}

// request puts on record that the program is about to be started. After an error nothing may be sent.
func (e *entry) request(p session.Peer) error {
	for _, ev := range []*audit.Event{&e.who, &e.ask} {
		ev.Address, ev.SSHUser, ev.Key, ev.HostKey, ev.Route = p.Addr, p.User, p.Key, p.HostKey, strings.Join(p.Via, ",")
		ev.CertID, ev.CertSerial = p.CertID, p.CertSerial
	}
	if err := e.sink.Record(context.Background(), e.ask); err != nil {
		return fmt.Errorf("%w, so nothing was sent: %w", session.ErrAudit, err)
	}
	e.asked = true
	return nil
}

func (e *entry) result(status session.Status, exit session.Exit, fault *session.Error) error {
	end := e.who
	end.Kind, end.State, end.Status = e.ended, string(session.Done), string(status)
	end.Signal = exit.Signal
	if e.ended == audit.CommandResult && exit.Signal == "" && (status == session.StatusOK || status == session.StatusExit) {
		end.ExitCode = &exit.Code
	}
	end.DurationMS = time.Since(e.began).Milliseconds()
	end.StdinBytes, end.StdoutBytes = e.in, e.out
	if fault != nil {
		end.Error = audit.Fault{Code: fault.Code, Message: fault.Err.Error()}
	}
	return e.sink.Record(context.Background(), end)
}

// Copy connects a program with the caller's streams until all its output has come, or the program is hung up, and returns
// how it ended. stdin may be nil, which is an empty one; a Read of it that blocks is not awaited. Where output cannot be
// written any more the program is hung up; where standard output is a pipe that is not read any more, it goes on until it writes there.
func (r *Running) Copy(stdin io.Reader, stdout, stderr io.Writer) (exit session.Exit, in, out int64, err error) {
	var sent, got, errs atomic.Int64
	go func() { // ends with the program, unless a Read of stdin blocks
		if stdin != nil {
			_, _ = io.CopyBuffer(&counting{r.Pipe, &sent}, readOnly{stdin}, make([]byte, chunk))
		}
		_ = r.Pipe.CloseWrite()
	}()
	var wg sync.WaitGroup
	broken := make(chan error, 2)
	pass := func(to io.Writer, from io.Reader, n *atomic.Int64) {
		wg.Go(func() {
			if _, err := io.CopyBuffer(&counting{to, n}, readOnly{from}, make([]byte, chunk)); err != nil {
				if from != io.Reader(r.Pipe) || !errors.Is(err, syscall.EPIPE) || !r.Pipe.EndOutput() {
					broken <- fmt.Errorf("the output could not be written: %w", err)
					r.Pipe.Close()
				}
				_, _ = io.Copy(io.Discard, from) // or the program would be held back, and with it the channel
			}
		})
	}
	pass(stdout, r.Pipe, &got)
	pass(stderr, r.Pipe.Stderr(), &errs)
	over := make(chan struct{})
	go func() { // ends with the channel, which a server may hold as long as the program runs
		wg.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-r.Pipe.Left():
	}
	exit, err = r.Pipe.Wait()
	select {
	case err = <-broken:
	default:
	}
	return exit, sent.Load(), got.Load(), err
}

// readOnly hides what else a reader can do.
type readOnly struct{ io.Reader }

// counting counts what is written.
type counting struct {
	to io.Writer
	n  *atomic.Int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// ParsePort reads host:port, as ssh -W takes it.
func ParsePort(text string) (host string, port uint16, err error) {
	host, word, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not host:port", text)
	}
	n, err := strconv.ParseUint(word, 10, 16)
	if err != nil || n == 0 || host == "" {
		return "", 0, fmt.Errorf("%q is not host:port", text)
	}
	return host, uint16(n), nil
}
