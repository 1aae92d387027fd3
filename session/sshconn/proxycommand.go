package sshconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// proxy is a program that connects to a host, as ssh_config's ProxyCommand names it.
type proxy struct {
	line  string   // for the shell, tokens expanded
	from  string   // where ssh_config says it
	shell string   // the user's
	env   []string // nil means that of this process
	dir   string   // "" means that of this process
}

// unsafe are characters that mean something to a shell. A name that holds one is not put into a command line, as in OpenSSH.
const unsafe = "'`\"$\\;&<>|(){}*?#!~, \t"

// expandProxy replaces the tokens of a ProxyCommand. alias is the name that was typed, keyName the one of the host key.
func expandProxy(line string, t *target, alias, keyName string) (string, error) {
	tokens := map[byte]string{'h': t.host, 'n': alias, 'p': strconv.Itoa(int(t.port)), 'r': t.user, 'k': keyName}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != '%' {
			b.WriteByte(line[i])
			continue
		}
		i++
		if i == len(line) {
			return "", errors.New("a lone % at the end; write %% for the character itself")
		}
		if line[i] == '%' {
			b.WriteByte('%')
			continue
		}
		v, ok := tokens[line[i]]
		if !ok {
			return "", fmt.Errorf("the token %q is not known here; write %%%% for a percent sign", line[i-1:i+1])
		}
		if v == "" || v[0] == '-' || strings.ContainsAny(v, unsafe) || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", fmt.Errorf("%q must not be put into a command line: it holds what a shell would obey", v)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// Bounds of the life of a ProxyCommand, and of what it says.
const (
	proxyEnds    = 2 * time.Second // from the end of its output to SIGHUP
	proxyHangup  = 2 * time.Second // from SIGHUP to SIGKILL
	proxyKill    = 2 * time.Second // from SIGKILL to giving up
	proxyWords   = 2 * time.Second // to read what it has said
	maxProxySaid = 1 << 10
)

// proxied is the connection through a ProxyCommand: its standard input and output. Close ends it with all that it started.
type proxied struct {
	p    *proxy
	addr string
	cmd  *exec.Cmd
	in   *os.File // of the program
	out  *os.File
	errs *os.File

	said   chan struct{} // closed once what it says on standard error has been read
	mu     sync.Mutex
	text   []byte        // the first of that
	tell   func(string)  // gets all of it, while the connection is made
	exited chan struct{} // closed once it has ended; state is set then
	state  error
	closed bool // by us, before it ended

	broke atomic.Bool // it reads or writes no more
	close sync.Once
}

// start starts the program.
func (p *proxy) start(addr string) (_ *proxied, err error) {
	c := &proxied{p: p, addr: addr, said: make(chan struct{}), exited: make(chan struct{})}
	c.cmd = exec.Command(p.shell, "-c", "exec "+p.line)
	c.cmd.Env, c.cmd.Dir = p.env, p.dir
	var theirs, ours []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range ours {
				f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	stdin, in := pipe()
	out, stdout := pipe()
	errs, stderr := pipe()
	for _, f := range []*os.File{stdin, stdout, stderr} {
		if f != nil {
			theirs = append(theirs, f)
		}
	}
	for _, f := range []*os.File{in, out, errs} {
		if f != nil {
			ours = append(ours, f)
		}
	}
	if err != nil {
		return nil, err
	}
	c.in, c.out, c.errs = in, out, errs
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdin, stdout, stderr
	c.cmd.SysProcAttr = ofItsOwn()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: the ProxyCommand cannot be started: %w", p.from, err)
	}
	go c.listen()
	go func() {
		err := c.cmd.Wait()
		c.mu.Lock()
		c.state = err
		c.mu.Unlock()
		close(c.exited)
	}()
	return c, nil
}

// listen reads what the program says, however much, and keeps the first of it.
func (c *proxied) listen() {
	defer close(c.said)
	b := make([]byte, 4<<10)
	for {
		n, err := c.errs.Read(b)
		c.mu.Lock()
		c.text = append(c.text, b[:min(n, maxProxySaid-len(c.text))]...)
		if c.tell != nil {
			c.tell(string(b[:n]))
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// tells has tell get what the program says, and has said; nil ends that.
func (c *proxied) tells(tell func(string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tell = tell; tell != nil {
		tell(string(c.text))
	}
}

func (c *proxied) Read(b []byte) (int, error) {
	n, err := c.out.Read(b)
	switch {
	case errors.Is(err, os.ErrClosed):
		err = net.ErrClosed
	case err != nil:
		c.broke.Store(true)
	}
	return n, err
}

func (c *proxied) Write(b []byte) (int, error) {
	n, err := c.in.Write(b)
	if err != nil {
		c.broke.Store(true)
	}
	return n, err
}

// Close ends the program and waits until it is gone.
func (c *proxied) Close() error {
	c.close.Do(func() {
		c.in.Close()
		c.out.Close()
		if !c.broke.Load() || !c.ends(proxyEnds) {
			select {
			case <-c.exited:
			default:
				c.mu.Lock()
				c.closed = true
				c.mu.Unlock()
			}
		}
		hangUp(c.cmd.Process)
		if !c.ends(proxyHangup) {
			kill(c.cmd.Process)
			c.ends(proxyKill)
		}
		kill(c.cmd.Process) // what it has started, and left behind
		t := time.NewTimer(proxyWords)
		defer t.Stop()
		select {
		case <-c.said:
		case <-t.C: // something has left the group, and holds it open
		}
		c.errs.Close()
		<-c.said
	})
	return nil
}

// ends reports whether the program ends within d.
func (c *proxied) ends(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.exited:
		return true
	case <-t.C:
		return false
	}
}

func (c *proxied) LocalAddr() net.Addr  { return proxyAddr(c.addr) }
func (c *proxied) RemoteAddr() net.Addr { return proxyAddr(c.addr) }

func (c *proxied) SetDeadline(t time.Time) error {
	return errors.Join(c.out.SetDeadline(t), c.in.SetDeadline(t))
}
func (c *proxied) SetReadDeadline(t time.Time) error  { return c.out.SetReadDeadline(t) }
func (c *proxied) SetWriteDeadline(t time.Time) error { return c.in.SetWriteDeadline(t) }

// proxyAddr is the address that a ProxyCommand connects to.
type proxyAddr string

func (proxyAddr) Network() string  { return "proxy" }
func (a proxyAddr) String() string { return string(a) }

// explain puts into an error what became of the program, which is closed.
func (c *proxied) explain(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	c.mu.Lock()
	text, state, byUs := strings.TrimSpace(string(c.text)), c.state, c.closed
	c.mu.Unlock()
	said := ""
	if text = printable.Heard(text, maxHeard); text != "" {
		said = fmt.Sprintf("; it says %q", text)
	}
	at := *e
	switch at.Step {
	case StepGreet, StepExchange, StepReach:
	default: // the host itself was reached
		return err
	}
	if late, ok := errors.AsType[*clock.TimeoutError](e.Err); ok && byUs && at.Step == StepGreet && e.heard == "" {
		at.Err = fmt.Errorf("the ProxyCommand (%s) does not connect: it runs, and passes on nothing: %w%s", c.p.from, late, said)
		return &at
	}
	if byUs {
		at.Err = fmt.Errorf("the ProxyCommand (%s) does not connect: %w%s", c.p.from, e.Err, said)
		return &at
	}
	how := "ended"
	if exit, ok := errors.AsType[*exec.ExitError](state); ok {
		how = "ended with " + exit.ProcessState.String()
	}
	at.Early = false
	at.Err = fmt.Errorf("the ProxyCommand (%s) %s before the connection was made%s", c.p.from, how, said)
	return &at
}

// proxyOf is the ProxyCommand of t.
func (f *files) proxyOf(t *target, raw, from, alias string) (*proxy, error) {
	keyName := t.alias
	if keyName == "" {
		keyName = alias
	}
	line, err := expandProxy(raw, t, alias, keyName)
	if err != nil {
		return nil, fmt.Errorf("%s: ProxyCommand: %w", from, err)
	}
	p := &proxy{line: line, from: from, shell: "/bin/sh", env: f.cfg.Loader.ProgramEnviron(), dir: f.cfg.Loader.ProgramDir()}
	if shell, ok := f.lookupEnv("SHELL"); ok && shell != "" {
		p.shell = shell
	}
	return p, nil
}

func (f *files) lookupEnv(name string) (string, bool) {
	if f.cfg.Loader.LookupEnv != nil {
		return f.cfg.Loader.LookupEnv(name)
	}
	return os.LookupEnv(name)
}

// through starts the ProxyCommand of t.
func (t *target) through(ctx context.Context) (net.Conn, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	c, err := t.proxy.start(t.addr())
	if err != nil {
		return nil, err
	}
	return c, nil
}
