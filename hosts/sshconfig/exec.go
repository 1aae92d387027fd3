package sshconfig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit/procgroup"
)

// Bounds of programs that Match exec names.
const (
	execTime = 15 * time.Second // until it is killed with what it has started, and the host refused
	execKept = 5 * time.Second  // how long its answer holds, so that a fleet does not start it for each host and step
)

// ErrNotRun is why a host is refused for which Match exec decides where no program may run. See [Loader.NoExec].
var ErrNotRun = errors.New("programs that this file names are not run here")

// unsafe are characters that mean something to a shell. A name that holds one is not put into a command line, as with OpenSSH
// from 9.6 on.
const unsafe = "'`\"$\\;&<>|(){}*?#!~, \t"

// execOf returns what runs the program of a Match line as ssh does: with the user's shell, without input and without a terminal. A
// broken line is an error whether it runs or not.
func (r *resolver) execOf(l *line, arg, host string) (run func() (bool, error), err error) {
	s := r.s
	s.HostName.V = host
	s.User.V = or(s.User.V, r.cfg.local.User)
	if s.Port.V == 0 {
		s.Port.V = DefaultPort
	}
	t := s.tokens(r.cfg.local)
	t['k'] = or(s.HostKeyAlias.V, host)
	command, err := expand(arg, t, nil)
	if err != nil {
		return nil, &Error{Pos: l.pos, Msg: "Match exec", Err: err}
	}
	return func() (bool, error) {
		switch {
		case r.offline:
			r.asked = true
			r.programLines = append(r.programLines, command)
			return false, nil
		case r.cfg.local.NoExec:
			return false, &Error{Pos: l.pos, Msg: "Match exec decides what counts for " + s.Alias, Err: fmt.Errorf("%w: write the block as Host or Match host", ErrNotRun)}
		}
		for _, token := range "hnrkj" {
			if v := t[byte(token)]; strings.Contains(arg, "%"+string(token)) && strings.ContainsAny(v, unsafe) {
				return false, errorAt(l.pos, "Match exec: %q must not be put into a command line: it holds what a shell would obey", v)
			}
		}
		ok, err := r.cfg.execs.ask(r.cfg.local, command)
		if err != nil {
			return false, &Error{Pos: l.pos, Msg: "Match exec", Err: err}
		}
		return ok, nil
	}, nil
}

// execs keeps answers of programs for a moment. One caller runs a program for all that ask meanwhile.
type execs struct {
	mu   sync.Mutex
	kept map[string]*answer
}

type answer struct {
	done chan struct{} // closed once what follows is set
	at   time.Time
	ok   bool
	err  error
}

// maxAnswers bounds how many are kept.
const maxAnswers = 1000

// ask returns whether a command ends with 0. A nil execs keeps nothing.
func (e *execs) ask(l Loader, command string) (bool, error) {
	if e == nil {
		return l.exec(command)
	}
	shell, _ := l.LookupEnv("SHELL")
	agent, _ := l.LookupEnv("SSH_AUTH_SOCK")
	key := strings.Join([]string{shell, agent, command}, "\x00")
	e.mu.Lock()
	a := e.kept[key]
	if a != nil {
		select {
		case <-a.done:
			if age := time.Since(a.at); age > execKept {
				a = nil
			}
		default:
		}
	}
	if a != nil {
		e.mu.Unlock()
		<-a.done
		return a.ok, a.err
	}
	a = &answer{done: make(chan struct{})}
	if len(e.kept) >= maxAnswers {
		clear(e.kept)
	}
	if e.kept == nil {
		e.kept = map[string]*answer{}
	}
	e.kept[key] = a
	e.mu.Unlock()
	defer close(a.done)
	a.ok, a.err = l.exec(command)
	a.at = time.Now()
	return a.ok, a.err
}

// exec runs a command with the user's shell, and returns whether it ends with 0.
func (l Loader) exec(command string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), execTime)
	defer cancel()
	shell, ok := l.LookupEnv("SHELL")
	if !ok || shell == "" {
		shell = "/bin/sh"
	}
	cmd := exec.CommandContext(ctx, shell, "-c", command)
	cmd.Env, cmd.Dir = l.ProgramEnviron(), l.ProgramDir()
	err := procgroup.Run(cmd)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("the program has not ended after %v, and was killed", execTime)
	case cmd.ProcessState != nil && cmd.ProcessState.Exited():
		return false, nil
	case cmd.ProcessState != nil:
		return false, fmt.Errorf("the program was ended by %s", cmd.ProcessState)
	}
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return false, fmt.Errorf("%s cannot be started: %w", shell, err)
}

// ProgramDir is where such programs run: the directory that PWD of Environ names, or "", that of this process.
func (l Loader) ProgramDir() string {
	for _, kv := range l.Environ {
		if dir, ok := strings.CutPrefix(kv, "PWD="); ok && strings.HasPrefix(dir, "/") {
			return dir
		}
	}
	return ""
}

// ProgramEnviron is the environment of programs that the configuration names: Environ, with the agent that LookupEnv says.
func (l Loader) ProgramEnviron() []string {
	env := l.Environ
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "SSH_AUTH_SOCK=") })
	lookup := l.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	if sock, ok := lookup("SSH_AUTH_SOCK"); ok {
		env = append(env, "SSH_AUTH_SOCK="+sock)
	}
	return env
}
