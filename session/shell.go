package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// maxStray bounds what is kept of late output between two commands.
const maxStray = 64 << 10

// shell is one shell on one stream: the program, the decoder of what it prints, and the goroutine that reads it.
type shell struct {
	stream Stream
	hello  framing.Hello
	done   chan struct{} // closed when the pump has ended
	cooked atomic.Bool   // the terminal must be repaired before the next command
	traps  atomic.Bool   // a command may have set traps
	unused atomic.Bool   // it has waited for its command, and that was not sent yet
	deaf   atomic.Bool   // a command may have taken away the one that ends it, and it does not show
	worn   atomic.Bool   // it is not as it was at its start any more
	noPerl bool          // the host's perl does not start
	began  time.Time
	behind atomic.Bool // what it knows of where programs are may be old: the next command's frame comes with one that has it forget
	seen   atomic.Bool // it has been looked at for functions of the account's; see kept.go

	mu    sync.Mutex // guards what follows; never held while reading, writing or calling out
	dec   *framing.Decoder
	cur   *Exec  // who gets the events
	next  *Exec  // who gets them once cur, a frame of our own, has ended; nil else
	stray []byte // late output that no command has taken yet
	dead  bool   // no more commands: the shell has ended or is being replaced
}

// startShell opens a shell and waits until it is ready. ctx bounds that. A host whose perl does not start, as while its libraries are
// being replaced, is done without it: that is when people need their hosts.
func startShell(ctx context.Context, t Transport, spec framing.Shell) (*shell, error) {
	sh, err := startOnce(ctx, t, spec)
	var ended *endedError
	if !errors.As(err, &ended) || !ended.typed {
		return sh, err
	}
	spec.NoPerl = true
	sh, again := startOnce(ctx, t, spec)
	var unheld *framing.UnheldError
	switch {
	case errors.As(again, &unheld):
		return nil, again
	case again != nil:
		return nil, err
	}
	sh.noPerl = true
	return sh, nil
}

func startOnce(ctx context.Context, t Transport, spec framing.Shell) (*shell, error) {
	nonce := framing.NewToken()
	text, err := framing.Bootstrap(nonce, spec)
	if err != nil {
		return nil, err
	}
	stream, err := t.Open(ctx, Program{Line: framing.Loader(nonce)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := boundAfter(ctx, stream)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { stream.Close() })
	up := framing.NewStartup(nonce)
	sh, err := handshake(stream, up, text, func() ([]byte, error) { return framing.BootstrapPython(nonce, spec) })
	if !stop() {
		// The stream's own error says only that it was closed: by us.
		err = ctxerr.Of(ctx)
		if said := heard(up); said != "" && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w%s", err, said)
		}
	}
	if err != nil {
		stream.Close()
		return nil, err
	}
	go sh.pump()
	return sh, nil
}

// handshake drives the startup to the shell's hello. python is the text for a host without perl.
func handshake(stream Stream, up *framing.Startup, text []byte, python func() ([]byte, error)) (*shell, error) {
	buf := make([]byte, 4096)
	typed := false
	for {
		n, err := stream.Read(buf)
		loaded, hello, dec, uperr := up.Feed(buf[:n])
		switch {
		case uperr != nil:
			return nil, uperr
		case dec != nil:
			return &shell{stream: stream, hello: hello, dec: dec, done: make(chan struct{}), began: time.Now()}, nil
		case err != nil:
			return nil, noShell(stream, up, typed, err)
		case strings.Contains(up.Noise(), changePassword):
			return nil, &endedError{typed, "no shell starts" + heard(up) + passwordExpired}
		case loaded:
			typed = true
			if up.Python() {
				if text, uperr = python(); uperr != nil {
					return nil, uperr
				}
			}
			if err := typeText(stream, text); err != nil && !up.Python() { // a python3 that does not start says so
				return nil, noShell(stream, up, typed, err)
			}
		}
	}
}

// maxWrite bounds one write. An SSH connection keeps buffers of the size of its largest packet for as long as it lives.
const maxWrite = 1 << 10

// typeText writes text in pieces.
func typeText(w io.Writer, text []byte) error {
	for len(text) > 0 {
		n := min(len(text), maxWrite)
		if _, err := w.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// noShell says in the host's own words why there is no shell.
func noShell(stream Stream, up *framing.Startup, typed bool, err error) error {
	said := heard(up)
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("the shell did not become ready: %w%s", err, said)
	}
	if up.Python() {
		return &framing.UnheldError{Reason: "it has no perl, and its python3 does not start" + said}
	}
	exit, werr := stream.Wait()
	switch {
	case werr != nil:
		return fmt.Errorf("the host closed the shell before it was ready%s%s", said, howEnded(stream))
	case exit.Signal != "":
		return &endedError{typed, fmt.Sprintf("the shell was killed by SIG%s before it was ready%s", exit.Signal, said)}
	default:
		if as, is := stream.(*elevatedStream); is {
			if err := as.confined(exit.Code, up.Noise()); err != nil {
				return err
			}
		}
		return &endedError{typed, fmt.Sprintf("the account's login shell ended with code %d before a shell was ready%s%s", exit.Code, said, loginHint(up.Noise()))}
	}
}

// heard is what the host printed instead of a shell, for the end of a message; "" where that is nothing.
func heard(up *framing.Startup) string {
	said := printable.Heard(up.Noise(), 200)
	if said == "" {
		return ""
	}
	return fmt.Sprintf("; it printed %q", said)
}

// changePassword is what OpenSSH's sshd prints before it starts passwd in the place of a command. That waits for a person.
const changePassword = "You must change your password now and login again!"

const passwordExpired = ": the account's password has expired; log in with ssh, change it there, and try again"

// endedError says that a shell has ended before it was ready.
type endedError struct {
	typed bool // it had asked for its programs
	text  string
}

func (e *endedError) Error() string { return e.text }

// loginHint says what keeps an account from running commands, by what its login shell said. It goes behind what was heard.
func loginHint(said string) string {
	switch {
	case strings.Contains(said, "Your password has expired"):
		return passwordExpired
	case strings.Contains(said, "restricted"):
		return ": its login shell is restricted, as rbash is, and starts no other shell; give the account a full one, or send the command as it is with ssh or fairlead ssh"
	case strings.Contains(said, "account is currently not available"), strings.Contains(said, "nologin"):
		return ": its login shell is nologin, so the account runs no commands; name another user"
	case strings.Contains(said, "allows sftp connections only"):
		return ": the server forces sftp (ForceCommand internal-sftp), so commands cannot run, and files can only be copied by programs that speak sftp, as sftp -S and scp -S with fairlead ssh"
	}
	return ": the server or the key may force a command (ForceCommand, or command= in authorized_keys), the account may run none, its start files may exit, or its login shell understands no sh; fairlead ssh sends a command as it is"
}

// The pump reads with a small buffer while nothing much comes, so that an idle session stays small.
const smallRead = 512

var bigReads = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// pump reads the stream to its end and hands out what it holds. It is the only reader and the only user of Next.
func (sh *shell) pump() {
	defer close(sh.done)
	small := make([]byte, smallRead)
	var big *[]byte
	for {
		buf := small
		if big != nil {
			buf = *big
		}
		n, err := sh.stream.Read(buf)
		idle, ended := sh.decode(buf[:n])
		if big == nil && n == len(small) {
			big = bigReads.Get().(*[]byte)
		} else if big != nil && idle {
			bigReads.Put(big)
			big = nil
		}
		if ended {
			sh.stream.Close() // the supervisor waits for it
			return
		}
		if err != nil {
			sh.lost(err)
			return
		}
	}
}

// decode hands out the events in p. idle says that no command is running, ended that the shell is no more.
func (sh *shell) decode(p []byte) (idle, ended bool) {
	sh.mu.Lock()
	sh.dec.Feed(p)
	for {
		ev, ok := sh.dec.Next()
		x, next := sh.cur, (*Exec)(nil)
		if !ok {
			sh.mu.Unlock()
			return x == nil, ended
		}
		switch ev.Kind {
		case framing.Ended:
			if sh.cur, sh.next = sh.next, nil; sh.cur != nil {
				sh.dec.Expect(sh.cur.tok)
			}
		case framing.Exited, framing.Broken: // nothing that comes after a broken mark can be believed
			next = sh.next
			sh.cur, sh.next, sh.dead, ended = nil, nil, true, true
		}
		if x == nil {
			if ev.Kind == framing.Stray && len(sh.stray) < maxStray {
				sh.stray = append(sh.stray, ev.Data...)
			}
			continue
		}
		sh.mu.Unlock()
		x.event(sh, ev)
		if next != nil {
			next.streamEnded(io.EOF, nil)
		}
		sh.mu.Lock()
	}
}

// lost ends the shell because its stream has ended.
func (sh *shell) lost(err error) {
	sh.mu.Lock()
	x, next := sh.cur, sh.next
	sh.cur, sh.next, sh.dead = nil, nil, true
	sh.mu.Unlock()
	if x != nil {
		x.streamEnded(err, sh.stream)
	}
	if next != nil {
		next.streamEnded(err, sh.stream)
	}
}

// endPatience bounds how long a stream that has ended is asked why: a server that answers nothing any more would not say.
const endPatience = 5 * time.Second

// howEnded says how a stream ended that has given no answer, to be put behind what became of the command; "" where it is not said in
// time. It is text and no error, which would be one of the connection: the command may have run.
func howEnded(stream Stream) string {
	if stream == nil {
		return ""
	}
	said := make(chan string, 1)
	go func() { // ends with the connection at the latest
		exit, err := stream.Wait()
		var why interface{ Why() string }
		switch {
		case errors.As(err, &why):
			said <- "; " + why.Why()
		case err != nil:
			said <- ""
		case exit.Signal != "":
			said <- "; the shell was killed by SIG" + exit.Signal
		default:
			said <- fmt.Sprintf("; the shell ended with code %d", exit.Code)
		}
	}()
	patience := time.NewTimer(endPatience)
	defer patience.Stop()
	select {
	case text := <-said:
		return text
	case <-patience.C:
		return ""
	}
}

// take makes x, whose frame is about to be written, the one that gets the events, after the frame of our own that may be under way. It
// reports false when the shell takes no more commands.
func (sh *shell) take(x *Exec, tok framing.Token) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.dead {
		return false
	}
	sh.unused.Store(false)
	first := sh.cur == nil
	if first {
		sh.dec.Expect(tok)
	}
	x.mu.Lock() // somebody may look at it: it may have waited for an approval
	x.stray, sh.stray = sh.stray, nil
	x.mu.Unlock()
	if first {
		sh.cur = x
	} else {
		sh.next = x
	}
	return true
}

// write types a frame. After an error the pump sees the stream's end and tells whom it concerns.
func (sh *shell) write(text []byte) {
	if err := typeText(sh.stream, text); err != nil {
		sh.stream.Close()
	}
}

// mind notes what a script may do to how the shell takes signals. What ksh93 ignores shows as caught at times.
func (sh *shell) mind(script string) {
	ksh93 := sh.hello.Dialect == framing.Ksh93
	if !strings.Contains(script, "trap") && !(ksh93 && strings.Contains(script, ". ")) {
		return
	}
	sh.traps.Store(true)
	if ksh93 && namesURG.MatchString(script) {
		sh.deaf.Store(true)
	}
}

// namesURG finds the signal that makes a shell end its command as a word of its own: 23 in a path is none.
var namesURG = lazyregexp.New(`(^|[^[:alnum:]./_-])((SIG)?URG|23)($|[^[:alnum:]./_-])`)

// retire makes the shell take no more commands.
func (sh *shell) retire() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.dead = true
}

// keepStray puts back late output that nobody has been told of.
func (sh *shell) keepStray(p []byte) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.stray = append(p, sh.stray...)
}

// alive reports whether the shell takes commands.
func (sh *shell) alive() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return !sh.dead
}

// close hangs up and waits for the pump.
func (sh *shell) close() {
	sh.mu.Lock()
	idle := sh.cur == nil && sh.next == nil
	sh.mu.Unlock()
	if r, ok := sh.stream.(releaser); ok && idle {
		r.Release()
	} else {
		sh.stream.Close()
	}
	<-sh.done
}
