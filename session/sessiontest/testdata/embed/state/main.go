// State keeps a session on a host: a directory and variables that stay, standard input, a prompt that is answered, and a
// command that is stopped without losing the session.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/dialer"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func main() {
	// The demo host is reached over real SSH on a server that is built in.
	if err := run(context.Background(), os.Stdout, hosts.Host{Name: "demo1", Transport: hosts.Demo, Shell: "sh"}); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, h hosts.Host) error {
	d, err := dialer.New(dialer.Config{})
	if err != nil {
		return err
	}
	defer d.Close()
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    d.Dial,
		Session: session.Config{Principal: "program/state", Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		return err
	}
	defer pool.Close()
	s, err := pool.Open(h)
	if err != nil {
		return err
	}
	defer s.Close()

	// State stays from command to command.
	if _, err := s.Run(ctx, session.Command{Script: "cd /tmp; greeting=hello"}); err != nil {
		return err
	}
	r, err := s.Run(ctx, session.Command{Script: `echo "$greeting from $PWD"`})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "state: %s", r.Stdout)

	// A directory and variables for one command alone.
	if r, err = s.Run(ctx, session.Command{Script: `echo "$greeting from $PWD"`, Dir: "/", Env: []string{"greeting=good bye"}}); err != nil {
		return err
	}
	fmt.Fprintf(out, "dir and env: %s", r.Stdout)

	// Standard input is exact bytes of any reader, and ends.
	if r, err = s.Run(ctx, session.Command{Script: "wc -l | tr -d ' '", Stdin: strings.NewReader("one\ntwo\nthree\n")}); err != nil {
		return err
	}
	fmt.Fprintf(out, "stdin: %s", r.Stdout)

	// A program that asks at its terminal.
	asked := make(chan struct{})
	x, err := s.Start(ctx, session.Command{
		Script: `printf 'Continue? '; read -r answer; echo "it was $answer"`, Interactive: true, Timeout: time.Minute,
		Stdout: &waiter{text: "Continue? ", seen: asked},
	})
	if err != nil {
		return err
	}
	select {
	case <-asked:
	case <-x.Done():
	}
	if err := x.Input(ctx, []byte("yes\n")); err != nil {
		return err
	}
	if r, err = x.Wait(ctx); err != nil {
		return err
	}
	if r.Err != nil {
		return r.Err
	}
	fmt.Fprintf(out, "prompt: %t\n", strings.Contains(string(r.Stdout), "it was yes"))

	// A command that takes too long is stopped, and the session goes on where it was.
	_, err = s.Run(ctx, session.Command{Script: "sleep 1000", Timeout: 100 * time.Millisecond})
	fmt.Fprintf(out, "timeout: %t\n", errors.Is(err, session.ErrTimeout))
	if r, err = s.Run(ctx, session.Command{Script: `echo "$greeting again from $PWD"`}); err != nil {
		return err
	}
	fmt.Fprintf(out, "after it: %s", r.Stdout)
	return nil
}

// waiter closes seen once text has been written to it.
type waiter struct {
	text string
	seen chan struct{}
	got  string
	done bool
}

func (w *waiter) Write(p []byte) (int, error) {
	if w.got += string(p); !w.done && strings.Contains(w.got, w.text) {
		w.done = true
		close(w.seen)
	}
	return len(p), nil
}
