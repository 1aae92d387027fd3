// Package localpty implements [session.Transport] with pseudo-terminals of this machine: for a shell on the controller
// itself, and for any command that yields a shell, such as "docker exec -it box sh".
//
// Begin with [Dial], which is for session.PoolConfig. The package is stable. It works on Unix systems; elsewhere Open reports [errors.ErrUnsupported]. There is no global state.
package localpty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// DefaultGrace is how long a program may take to end after it was hung up, before it is killed.
const DefaultGrace = 2 * time.Second

// Config says how programs are started. The zero Config is a plain local shell.
type Config struct {
	// Command is the argv of a command that yields a shell. It is started on the terminal, and then a program's line is
	// typed at it, such that it stays out of the shell's history where that can be. Nil means that sh runs the line itself.
	// The terminal that such a command makes inside, as docker does, is not raw.
	Command []string

	Env   []string      // "KEY=value"; nil means the environment of this process. TERM is always the program's
	Dir   string        // "" means the directory of this process
	Grace time.Duration // 0 means DefaultGrace; negative kills at once
}

// Transport starts programs on this machine. It is "connected" until Close.
type Transport struct {
	cfg  Config
	peer session.Peer

	mu      sync.Mutex // guards what follows
	closed  bool
	streams map[*stream]struct{}

	done chan struct{} // closed once Close has finished
}

// New checks cfg and returns a Transport. It starts nothing.
func New(cfg Config) (*Transport, error) {
	if cfg.Command != nil && (len(cfg.Command) == 0 || cfg.Command[0] == "") {
		return nil, errors.New("localpty: the command that yields a shell is empty; give at least the program's name")
	}
	cfg.Command, cfg.Env = slices.Clone(cfg.Command), slices.Clone(cfg.Env)
	switch {
	case cfg.Grace == 0:
		cfg.Grace = DefaultGrace
	case cfg.Grace < 0:
		cfg.Grace = 0
	}
	t := &Transport{cfg: cfg, streams: map[*stream]struct{}{}, done: make(chan struct{})}
	if u, err := user.Current(); err == nil {
		t.peer.User = u.Username
	}
	return t, nil
}

// Dial returns a Transport for h, which must be of the kind [hosts.Local] or [hosts.Command]. Shells of a local host start in the
// account's home directory, as over SSH, wherever this process runs.
func Dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("localpty: %s: %w", h.Name, ctxerr.Of(ctx))
	}
	var cfg Config
	switch h.Transport {
	case hosts.Local:
		cfg.Dir = home()
	case hosts.Command:
		if cfg.Command = h.Command; len(cfg.Command) == 0 {
			return nil, fmt.Errorf("localpty: %s has the transport \"command\" but no command", h.Name)
		}
	default:
		return nil, fmt.Errorf("localpty: %s is not reached on this machine: its transport is %q", h.Name, h.Transport)
	}
	t, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// home is the home directory of this process's account, by $HOME as in shells; "/" where there is none, as for sshd.
func home() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	if i, err := os.Stat(dir); err != nil || !i.IsDir() || !filepath.IsAbs(dir) {
		return "/"
	}
	return dir
}

// Open starts p. Starting takes no time that ctx could bound; one that has ended starts nothing.
func (t *Transport) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("localpty: not started: %w", ctxerr.Of(ctx))
	}
	if p.Line == "" {
		return nil, errors.New("localpty: a program needs a command line")
	}
	s, err := t.start(p)
	if err != nil {
		return nil, err
	}
	if t.cfg.Command == nil {
		return s, nil
	}
	// A program that reads nothing would block that, so the end of ctx, or Close, takes the terminal away.
	stop := context.AfterFunc(ctx, func() { s.Close() })
	err = typeLine(s, p.Line)
	if !stop() {
		s.Close()
		return nil, fmt.Errorf("localpty: %s took no input: %w", t.cfg.Command[0], ctxerr.Of(ctx))
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("localpty: %s ended before it took any input: %w", t.cfg.Command[0], err)
	}
	return s, nil
}

func (t *Transport) start(p session.Program) (*stream, error) {
	t.mu.Lock()
	defer t.mu.Unlock() // held while starting, so that Close cannot miss a stream
	if t.closed {
		return nil, fmt.Errorf("localpty: the transport is %w", session.ErrClosed)
	}
	s, err := start(t, p)
	if err != nil {
		return nil, err
	}
	t.streams[s] = struct{}{}
	return s, nil
}

// Wait blocks until Close, and returns nil: this machine does not go away.
func (t *Transport) Wait() error {
	<-t.done
	return nil
}

// Close hangs up every program, and returns once they are gone.
func (t *Transport) Close() error {
	t.mu.Lock()
	first := !t.closed
	t.closed = true
	open := make([]*stream, 0, len(t.streams))
	for s := range t.streams {
		open = append(open, s)
	}
	t.mu.Unlock()

	var wg sync.WaitGroup
	for _, s := range open {
		wg.Go(func() { s.Close() })
	}
	wg.Wait()
	if first {
		close(t.done)
	}
	<-t.done
	return nil
}

// Peer names the account of this process.
func (t *Transport) Peer() session.Peer { return t.peer }

func (t *Transport) forget(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.streams, s)
}

// environ returns the program's environment.
func (t *Transport) environ(term string, more []string) []string {
	env := t.cfg.Env
	if env == nil {
		env = os.Environ()
	}
	if term == "" {
		term = "dumb"
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "TERM=") })
	return append(append(env, more...), "TERM="+term)
}
