// Package seam is what packages below session do with commands and pools that programs which embed session do not: work on
// files and jobs that passes the gate of a session, and terminals on connections that a pool shares.
//
// Package session sets the functions when it is initialized.
package seam

import (
	"context"
	"io"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Action is something that is done on a session's host without its shell, such as replacing a file. T is session.Transport.
// It passes the same gate as a command: the Script of its session.Command is judged, as shell source that would do the same;
// Text is approved and recorded; and nothing happens before. It runs as the session's command, so another one finds the
// session busy.
type Action[T any] interface {
	// Text says exactly what will be done. hide, if not nil, takes secrets out of a piece of text: for the record. It
	// returns the same every time.
	Text(hide func(string) string) string

	// Open gets ready on t, which leads to h and is not the Action's to close; where the session's programs are held it is
	// a [Held]. Nothing may change yet: after an error that wraps ErrClosed or ErrFull it is called again with another
	// connection. An *Error says with its Code what went wrong. ctx bounds it.
	Open(ctx context.Context, t T, h hosts.Host) (Deed, error)

	// Record puts what there is to say of the result on record. It is called once, when the action has ended, also where
	// it was never begun.
	Record(e *audit.Event)
}

// Deed is an Action that is ready. Both methods are called once, Do first or not at all.
type Deed interface {
	// Do does it. What it writes to out is standard output. When ctx ends it returns soon. An *Error says with its Code what
	// went wrong; an error that wraps ErrUnknownOutcome, that it may have been done or not; after any other nothing was, or, of
	// [Several], what it has written to out.
	Do(ctx context.Context, out io.Writer) error

	Close() error
}

// PerHost is an Action that is one request for many hosts and keeps what became of each.
type PerHost[T any] interface {
	// For returns the Action of one host.
	For(h hosts.Host) Action[T]
}

// Aside is an Action that may need no shell of its session's: none is started for it alone.
type Aside interface{ Aside() bool }

// Several is an Action on several files, some of which may be done when it fails or is stopped.
type Several interface{ Several() bool }

// Leading is a Deed that may turn out to touch other paths than its Action was judged for.
type Leading interface {
	// Leads returns shell source that names them; "" means that there are none. The Deed is done only if the policy allows
	// that, too.
	Leads() (script string, err error)
}

// Wrapping is for a command that is sent inside of shell source of Fairlead's, to run on by itself as a job for instance. It
// passes the same gate as any: its Script is judged, Text is approved and recorded, and what Wrap makes of the script is
// sent to the session's shell. A session whose programs are started in a place of their own (Config.Program) refuses it:
// what runs on by itself could not stay there.
type Wrapping interface {
	// Text says exactly what will be done with script: what people approve and what is recorded, there without secrets. It
	// returns the same every time.
	Text(script string) string

	// Changes reports whether something on the host is other than before, whatever the script does: then the request is on
	// the disk before it is sent.
	Changes() bool

	// Wrap returns what a shell of dialect d on h is to run for script, which has been judged. shown is the script without
	// secrets, as it is recorded.
	Wrap(script, shown string, h hosts.Host, d framing.Dialect) (string, error)
}

// Held is a session.Transport whose programs are started as Config.Program says, in a place of their own. What an Action
// does to files must be done by such programs: nothing else is held there.
type Held interface{ Held() }

// Functions of session. The types that they take are named in their comments, because this package cannot import session.
var (
	// Act has an action, an Action[session.Transport], done instead of running the Script of cmd, a *session.Command.
	Act func(cmd, action any)

	// Wrap says what is sent instead of the Script of cmd, a *session.Command.
	Wrap func(cmd any, w Wrapping)

	// Own says that nobody has asked for cmd, a *session.Command: it makes the session ready. Its Result says so.
	Own func(cmd any)

	// Need has the session of cmd, a *session.Command, take no more commands unless cmd ends with status ok.
	Need func(cmd any)

	// Lend lets use, a func(session.Transport) error, open something else than a session on a connection to h of pool, a
	// *session.Pool. See registry.Lend.
	Lend func(ctx context.Context, pool any, h hosts.Host, use any) (release func(), err error)

	// Elevate is t, a session.Transport, with its programs started as the account of h.Become; ask is a become.Ask. See
	// registry.Elevate.
	Elevate func(t any, h hosts.Host, ask any) any

	// Traced returns ctx for a dial to h whose steps trace, a *session.Trace, is told. See registry.Traced.
	Traced func(ctx context.Context, trace any, h hosts.Host) context.Context
)

// Unframed is a session.Transport that can start programs without a terminal, where it gives none (session.ErrNoTerminal).
// E is session.Exit.
type Unframed[E any] interface {
	// Unframed is Open for a command line without a terminal.
	Unframed(ctx context.Context, line string) (Piped[E], error)
}

// Piped is a running program without a terminal: Read is its standard output, Write its standard input. Close is that of a
// session.Stream, but a program that does not mind may go on.
type Piped[E any] interface {
	io.ReadWriteCloser
	Stderr() io.Reader // must be read as well
	CloseWrite() error
	Wait() (E, error)
	// HangUp is Close that waits for nothing, and costs no connection where the program goes on: Wait returns at once, and the
	// reads and writes that are under way with the program.
	HangUp() error
}
