package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
)

// What holds where Programs says nothing.
const (
	DefaultFresh   = 5 * time.Minute
	DefaultTimeout = 30 * time.Second
)

// Programs runs programs that print hosts. Its method Run is a [Runner]. It is safe for concurrent use as long as nobody
// changes it.
type Programs struct {
	Dir     string        // where they run, and where a relative argv[0] begins
	Fresh   time.Duration // how long an answer is used before the program is asked again; 0 asks each time
	Timeout time.Duration // 0 means DefaultTimeout
	Cache   string        // the directory that keeps the last good answer of each; "" keeps none
	Kept    bool          // nothing is run: the last good answers count, however old they are
}

// errKept says why a program was not run, where there is no answer.
var errKept = errors.New("programs do not run for an AI agent that names the inventory itself, and no answer is kept: run fairlead hosts list with it in a terminal of your own")

// Run returns what a program printed no longer than Fresh ago, or runs it. Where it fails, the last good answer is returned
// with a note that says so; after that it is not tried again for a while. A program that other accounts can change is not
// run. ctx ends it with its process group.
func (p Programs) Run(ctx context.Context, argv []string, valid func([]byte) error) ([]byte, *Note, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, nil, wrong(hosts.Pos{}, "no program is named")
	}
	at := Origin(argv)
	file, err := p.find(argv[0])
	if err != nil {
		return nil, nil, &hosts.ParseError{Pos: at, Msg: "the program is not run", Err: err}
	}
	kept := p.answer(file, argv)
	last, had := kept.load()
	had = had && valid(last.data) == nil
	now := time.Now()
	switch {
	case p.Kept && had && now.Sub(last.Made) > max(p.Fresh, time.Hour):
		return last.data, last.old(at), nil
	case p.Kept && had:
		return last.data, nil, nil
	case p.Kept:
		return nil, nil, &hosts.ParseError{Pos: at, Msg: "the program is not run", Err: errKept}
	case had && !last.Failed.IsZero() && now.Sub(last.Failed) < max(p.Fresh, time.Minute) && now.After(last.Failed):
		return last.data, last.stale(at), nil
	case had && now.Sub(last.Made) < p.Fresh && now.After(last.Made):
		return last.data, nil, nil
	}
	data, why := p.run(ctx, file, argv)
	if why == nil {
		data, why = p.eachHost(ctx, file, argv, data)
	}
	if why == nil {
		if why = valid(data); why == nil {
			data, why = reduce(data)
		}
	}
	switch {
	case why == nil:
		if err := kept.save(answer{Made: now, data: data}); err != nil {
			return data, &Note{Pos: at, Msg: message("its answer cannot be kept: %v", err), Stale: true}, nil
		}
		return data, nil, nil
	case ctx.Err() != nil || !had:
		return nil, nil, &hosts.ParseError{Pos: at, Msg: "the program printed no list of hosts", Err: why}
	}
	last.Failed, last.Why = now, message("%s", reason(why))
	_ = kept.save(last) // then it is tried again sooner
	return last.data, last.stale(at), nil
}

// reason is an error without the place that the note about it has anyway.
func reason(err error) string {
	var pe *hosts.ParseError
	if errors.As(err, &pe) && pe.Err == nil {
		return pe.Msg
	}
	return err.Error()
}

// find returns the whole path of a program, if only root and this account can change it.
func (p Programs) find(name string) (string, error) {
	file := name
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		var err error
		if file, err = Expand(name, p.Dir); err != nil {
			return "", err
		}
	} else {
		var err error
		if file, err = exec.LookPath(name); err != nil {
			return "", errors.New("there is no such program in PATH; write its path to name one beside this file")
		}
	}
	f, err := trustedfile.Open(file, "a list of hosts")
	if err != nil {
		return "", pathless(err)
	}
	return file, f.Close()
}

func pathless(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// run runs a program and returns what it printed.
func (p Programs) run(ctx context.Context, file string, argv []string) ([]byte, error) {
	timeout := p.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &limited{most: maxFile, full: cancel}
	complaints := &limited{most: 64 << 10}
	cmd := exec.CommandContext(ctx, file, argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.Dir, out, complaints, 2*time.Second
	alone(cmd)
	err := cmd.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("it printed more than %d MiB", maxFile>>20)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it did not end within %s", timeout)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("it ended, and a program that it started keeps its output open: send that one's output elsewhere")
	case errors.Is(err, fs.ErrNotExist): // it is there itself, and this is no inventory that is missing
		return nil, errors.New("its first line names a program after #! that is not there")
	case errors.Is(err, syscall.ENOEXEC):
		return nil, errors.New("it is no program of this system, nor a script, which begins with #! and a path")
	case err != nil:
		if said := lastLine(complaints.kept); said != "" {
			return nil, fmt.Errorf("%w: %s", err, said)
		}
		return nil, err
	}
	return out.kept, checkText(Origin(argv).File, out.kept)
}

// lastLine is where programs say what went wrong.
func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return message("%s", clip(string(text)))
}

// limited keeps the first bytes that are written to it.
type limited struct {
	kept []byte
	most int
	over bool
	full func() // called once there are more; may be nil
}

func (l *limited) Write(p []byte) (int, error) {
	room := l.most - len(l.kept)
	l.kept = append(l.kept, p[:min(room, len(p))]...)
	if room < len(p) && !l.over {
		if l.over = true; l.full != nil {
			l.full()
		}
	}
	return len(p), nil
}
