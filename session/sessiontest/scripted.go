package sessiontest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Dialer connects to hosts that exist only in memory. Their shells speak the real protocol, and run nothing: the test
// says with On what each command gives. It may be used inside a testing/synctest bubble, and concurrently.
type Dialer struct {
	t testing.TB

	mu      sync.Mutex // guards what follows; never held while waiting or calling out
	replies map[string]*answers
	hosts   map[string]*machine
	lastPID int
}

// Reply is what a command gives. The zero Reply is silence and exit code 0.
type Reply struct {
	Stdout, Stderr string // in this order on a merged stream
	Exit           int
	Dir            string // the working directory afterwards; "" stays

	Hang    bool   // once its output is out, the command runs until a signal ends it
	Ignores string // the signals that do not end it: "INT", "INT TERM", "INT TERM KILL"
	Builtin bool   // it has no processes: TERM and KILL find nobody

	Ends   bool   // the shell ends with the command and Exit, as with exit
	Killed int    // the shell dies of this signal
	Late   string // what is printed after the command's end, as by a job in the background
	Wire   string // printed as it is instead of all that; @F stands for the frame's token, @S for the shell's, ^ for RS
}

// Call is one command as the shell got it. The writers are the command's own, live.
type Call struct {
	Host           string
	Script         string
	Dir            string
	Merged         bool
	Stdout, Stderr io.Writer

	Interrupted <-chan struct{} // closed by ^C
	HungUp      <-chan struct{} // closed when the stream is gone; the function must return then
}

// Faults are what is wrong with a host. The zero Faults are none.
type Faults struct {
	Dial        error           // Dial fails with it: session.ErrAuth, session.ErrHostKey, any other
	Slow        <-chan struct{} // Dial waits until it is closed, or until its context ends
	MaxSessions int             // programs at a time on one connection; zero means no limit
	Ping        error           // a ping fails with it
	PingSlow    <-chan struct{} // a ping waits until it is closed, or until its context ends

	Nologin string // the login shell prints this and ends with code 1; with Mute it waits for something
	Mute    bool   // the shell never becomes ready
	Deaf    bool   // the shell is ready and then takes no command
}

// answers are the replies to one command.
type answers struct {
	replies []Reply
	f       func(*Call) Reply
	used    int
}

// machine is one host.
type machine struct {
	faults Faults
	dialed int
	open   []*link
	typed  int
	ran    []string
}

// NewDialer returns a Dialer that fails t when connections are still open at the end of the test, when a command
// arrives that no reply was given for, and when a reply was never asked for. Close what uses it before: in a defer, or
// in a t.Cleanup that is registered later.
func NewDialer(t testing.TB) *Dialer {
	d := &Dialer{t: t, replies: map[string]*answers{}, hosts: map[string]*machine{}}
	t.Cleanup(d.verify)
	return d
}

func (d *Dialer) verify() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, m := range d.hosts {
		if n := len(m.open); n > 0 {
			d.t.Errorf("sessiontest: at the end of the test %d connections to %s are open", n, name)
		}
	}
	for text, s := range d.replies {
		if s.used == 0 {
			d.t.Errorf("sessiontest: nothing ran %.200q", text)
		}
	}
}

// On says what a command gives, on every host: the replies in turn, and the last one from then on. The script "*"
// stands for every command without replies of its own. What [session.Words] makes of a bare command name (\uname -a) is
// also found without its backslash.
func (d *Dialer) On(text string, replies ...Reply) {
	if len(replies) == 0 {
		replies = []Reply{{}}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replies[text] = &answers{replies: replies}
}

// OnFunc is On with a function, which runs in a goroutine of its own for every command.
func (d *Dialer) OnFunc(text string, f func(*Call) Reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replies[text] = &answers{f: f}
}

// Fault replaces what is wrong with a host. MaxSessions, Ping and what concerns shells change for connections that are
// open, too.
func (d *Dialer) Fault(host string, f Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.machine(host).faults = f
}

// Dial has the form of session.PoolConfig.Dial.
func (d *Dialer) Dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	f := d.faults(h.Name)
	if f.Slow != nil {
		select {
		case <-f.Slow:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if f.Dial != nil {
		return nil, f.Dial
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l := &link{d: d, host: h, gone: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.machine(h.Name)
	m.dialed++
	m.open = append(m.open, l)
	return l, nil
}

// Open is the number of connections to host that are open now.
func (d *Dialer) Open(host string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.machine(host).open)
}

// Dialed is the number of connections to host that were ever made.
func (d *Dialer) Dialed(host string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine(host).dialed
}

// Typed is the number of bytes that shells on host were sent after they were ready.
func (d *Dialer) Typed(host string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine(host).typed
}

// Ran is the commands that shells on host have begun, in this order.
func (d *Dialer) Ran(host string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.machine(host).ran)
}

var errBroken = errors.New("sessiontest: the network went away")

// Break ends every connection to host, as if the network went away.
func (d *Dialer) Break(host string) {
	d.mu.Lock()
	open := slices.Clone(d.machine(host).open)
	d.mu.Unlock()
	for _, l := range open {
		l.end(errBroken)
	}
}

// machine returns what is known of a host. d.mu is held.
func (d *Dialer) machine(host string) *machine {
	m := d.hosts[host]
	if m == nil {
		m = &machine{}
		d.hosts[host] = m
	}
	return m
}

func (d *Dialer) faults(host string) Faults {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine(host).faults
}

// reply finds what a command gives: a Reply, or a function to ask.
func (d *Dialer) reply(host, text string) (Reply, func(*Call) Reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.machine(host)
	m.ran = append(m.ran, text)
	s := d.replies[text]
	if bare, ok := strings.CutPrefix(text, `\`); ok && s == nil {
		s = d.replies[bare]
	}
	if s == nil {
		s = d.replies["*"]
	}
	if s == nil {
		d.t.Errorf("sessiontest: %s was sent %.500q, for which there is no reply", host, text)
		return Reply{Stderr: "no reply\n", Exit: 127}, nil
	}
	s.used++
	if s.f != nil {
		return Reply{}, s.f
	}
	return s.replies[min(s.used, len(s.replies))-1], nil
}
