// Fleet runs a command on every host of an inventory and says of each how it went: for a person, and in its exit code.
//
//	fleet INVENTORY SELECTOR COMMAND
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/dialer"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: fleet INVENTORY SELECTOR COMMAND")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, os.Stdout, os.Args[1], os.Args[2], os.Args[3])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(2)
	case failed > 0:
		os.Exit(1)
	}
}

// run returns how many hosts failed.
func run(ctx context.Context, out io.Writer, file, selector, command string) (failed int, err error) {
	inv, _, err := inventory.Load(file, inventory.Options{})
	if err != nil {
		return 0, err // every mistake, with file and line
	}
	sel, err := hosts.ParseSelector(selector)
	if err != nil {
		return 0, err
	}
	picked, err := inv.Select(sel)
	if err != nil {
		return 0, err
	}
	d, err := dialer.Of(inv)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    d.Dial,
		Session: session.Config{Principal: "program/fleet", Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		return 0, err
	}
	defer pool.Close()

	var printing sync.Mutex
	cmd := session.Command{
		Script: command, Timeout: time.Minute, Keep: -1,
		Streams: func(h hosts.Host) (stdout, stderr io.Writer) {
			w := &lines{name: h.Name, out: out, mu: &printing}
			return w, w
		},
	}
	for h, r := range pool.Each(ctx, picked, cmd) {
		if what := outcome(r.ExitErr()); what != "" {
			failed++
			printing.Lock()
			fmt.Fprintf(out, "%s: %s\n", h.Name, what)
			printing.Unlock()
		}
	}
	return failed, nil
}

// outcome says what became of a command, in words for a person; "" is success.
func outcome(err error) string {
	var exit *session.ExitError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &exit) && exit.Signal != "":
		return "FAILED, killed by SIG" + exit.Signal
	case errors.As(err, &exit):
		return fmt.Sprintf("FAILED, exit code %d", exit.Code)
	case errors.Is(err, session.ErrUnknownOutcome):
		return "UNKNOWN, do not simply run it again: " + err.Error()
	case errors.Is(err, session.ErrHostKey):
		return "NOT TRUSTED: " + err.Error()
	case errors.Is(err, session.ErrAuth):
		return "NOT LOGGED IN: " + err.Error()
	case errors.Is(err, session.ErrUnreachable):
		return "UNREACHABLE: " + err.Error()
	case errors.Is(err, session.ErrTimeout):
		return "TIMEOUT: " + err.Error()
	case errors.Is(err, session.ErrCanceled):
		return "CANCELED: " + err.Error()
	case errors.Is(err, session.ErrDenied):
		return "DENIED: " + err.Error()
	}
	return "ERROR: " + err.Error()
}

// lines prints what a host says line by line, each with the host's name in front. Close prints a last one without an end.
type lines struct {
	name string
	out  io.Writer
	mu   *sync.Mutex // held while printing
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte{'\n'})
		if !found {
			return len(p), nil
		}
		if err := l.print(line); err != nil {
			return 0, err
		}
		l.rest = rest
	}
}

// Close is called once the host has ended.
func (l *lines) Close() error {
	if len(l.rest) == 0 {
		return nil
	}
	return l.print(l.rest)
}

func (l *lines) print(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := fmt.Fprintf(l.out, "%s | %s\n", l.name, line)
	return err
}
