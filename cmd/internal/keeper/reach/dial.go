// Package reach owns how programs find the keeper of their account: they start one where none runs, have one that is older
// than themselves make place for another, and can have it end. It knows of a keeper what its socket and its answers say.
package reach

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/owned"
)

// Config says how to reach a keeper.
type Config struct {
	Places listen.Places
	Client client.Config // Socket is that of Places

	// Command starts a keeper where none runs: its argv, and the environment it gets besides what any keeper needs. An
	// empty argv starts none.
	Command []string
	Env     []string

	// Version is the caller's. A keeper that is older, and would lose nothing, makes place for one that Command starts; of one
	// that would, or is only looked for, Tell, if not nil, hears in one line. Neither happens for agents. "" is not compared.
	Version string
	Tell    func(line string)

	// Patience is how long a keeper that runs may take to answer; 0 means 10 s. One that does not is stuck, or stopped.
	Patience time.Duration
}

// ErrNone is returned by Dial where no keeper runs and none is to be started.
var ErrNone = errors.New("keeper: none is running")

// readyFD is the file descriptor on which a keeper that was started says that it is ready.
const readyFD = 3

// defaultPatience is a long time for a keeper: it answers within a millisecond, or a second on a machine that is very busy.
const defaultPatience = 10 * time.Second

// ErrStuck is returned by Dial where a keeper holds the socket and does not answer.
var ErrStuck = errors.New("keeper: the one that runs does not answer")

// dialTime bounds a start, that of a keeper which waits for another one's end included.
const dialTime = listen.StartTime + 15*time.Second

// Dial returns a client of the keeper that runs, starting one where none does. Two callers that start one at the same time
// get the same. ctx bounds the call only.
func Dial(ctx context.Context, cfg Config) (*client.Client, error) {
	cfg.Client.Socket = cfg.Places.Socket
	if err := owned.Check(filepath.Dir(cfg.Places.Socket)); err != nil {
		return nil, err // another account's keeper would answer
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	c := client.New(cfg.Client)
	for range 3 { // one that is just leaving may answer a last time, or not any more
		h, err := cfg.health(ctx, c)
		gone := false
		if err == nil {
			gone, err = cfg.meet(ctx, c, h)
		}
		if err == nil && !gone {
			return c, nil
		}
		var p *wire.Problem
		if errors.As(err, &p) && isEnding(p) {
			err = cfg.Places.AwaitEnd(ctx)
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, client.ErrUnreachable) || ctx.Err() != nil {
			c.Close()
			return nil, err
		}
		if len(cfg.Command) == 0 {
			if cfg.Places.AwaitSocket(ctx) {
				continue
			}
			c.Close()
			return nil, fmt.Errorf("%w at %s: start one with fairlead serve", ErrNone, cfg.Places.Socket)
		}
		if err := start(ctx, cfg); err != nil {
			c.Close()
			return nil, err
		}
	}
	c.Close()
	return nil, fmt.Errorf("keeper: it was started, and does not answer on %s: see %s", cfg.Places.Socket, cfg.Places.Log)
}

// health asks whether there is a keeper that answers.
func (cfg Config) health(ctx context.Context, c *client.Client) (wire.Health, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(cfg.Patience, defaultPatience), ErrStuck)
	defer cancel()
	h, err := c.Health(ctx)
	if errors.Is(err, ErrStuck) {
		err = fmt.Errorf("%w within %v%s", ErrStuck, cmp.Or(cfg.Patience, defaultPatience), cfg.Places.HowToEnd())
	}
	return h, err
}

// start starts a keeper that outlives this process, and waits until it says that it is ready.
func start(ctx context.Context, cfg Config) error {
	told, tell, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	defer told.Close()
	logFile, err := openLog(cfg.Places.Log)
	if err != nil {
		tell.Close()
		return err
	}
	cmd := exec.Command(cfg.Command[0], cfg.Command[1:]...)
	cmd.Env = slices.Concat(inherited(os.Environ()), cfg.Env)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.ExtraFiles = []*os.File{tell} // becomes readyFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	tell.Close()
	logFile.Close()
	if err != nil {
		return fmt.Errorf("keeper: cannot be started: %w", err)
	}
	// It is nobody's child as soon as we end; until then we must not leave a zombie.
	go func() { _ = cmd.Wait() }()
	defer context.AfterFunc(ctx, func() { told.SetReadDeadline(time.Unix(1, 0)) })()
	said, err := bufio.NewReader(io.LimitReader(told, 4<<10)).ReadString('\n')
	said = strings.TrimSpace(said)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("keeper: it was started, and is not ready yet: %w", context.Cause(ctx))
	case said == readyWord:
		return nil
	case said != "":
		return fmt.Errorf("keeper: cannot be started: %s", said)
	case err != nil:
		return fmt.Errorf("keeper: it ended before it was ready: see %s", cfg.Places.Log)
	}
	return nil
}

const readyWord = "ready"

// inherited is what a keeper gets of the environment of whoever happens to start it: what is the account's, and not what
// belongs to one terminal, one agent or one login.
func inherited(env []string) []string {
	var kept []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "HOME", name == "PATH", name == "USER", name == "LOGNAME", name == "SHELL", name == "TMPDIR", name == "TZ",
			name == "LANG", strings.HasPrefix(name, "LC_"), strings.HasPrefix(name, "XDG_"):
			kept = append(kept, kv)
		}
	}
	return kept
}

// maxLog is the size at which a log is begun anew.
const maxLog = 1 << 20

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keeper: cannot make a directory for its log: %w", err)
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	switch st, err := os.Stat(path); {
	case err != nil:
	case !st.Mode().IsRegular(): // a pipe would be waited for
		return nil, fmt.Errorf("keeper: cannot open its log: %s is not a regular file; move it away", path)
	case st.Size() > maxLog:
		how |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, how|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot open its log: %w", err)
	}
	return f, nil
}

// Ready tells who has started this process how that went, once, where somebody waits to hear it. The descriptor is taken
// before anything else is opened.
func Ready() func(err error) {
	var st syscall.Stat_t
	if syscall.Fstat(readyFD, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return func(error) {} // it is something else, or nothing
	}
	f := os.NewFile(readyFD, "ready")
	syscall.CloseOnExec(readyFD)
	return func(err error) {
		if f == nil {
			return
		}
		said := readyWord
		if err != nil {
			said = strings.Join(strings.Fields(err.Error()), " ")
		}
		fmt.Fprintln(f, said) // nobody may wait any more
		f.Close()
		f = nil
	}
}

// Stop asks the keeper at p to end, and waits until nothing is left of it. It returns ErrNone where none runs.
func Stop(ctx context.Context, p listen.Places) error {
	c := client.New(client.Config{Socket: p.Socket})
	defer c.Close()
	if _, err := (Config{Places: p}).health(ctx, c); errors.Is(err, ErrStuck) {
		return err
	}
	err := c.Stop(ctx)
	if errors.Is(err, client.ErrUnreachable) && p.AwaitSocket(ctx) {
		err = c.Stop(ctx)
	}
	if errors.Is(err, client.ErrUnreachable) {
		return fmt.Errorf("%w at %s", ErrNone, p.Socket)
	}
	if err != nil {
		return err
	}
	return p.AwaitEnd(ctx)
}
