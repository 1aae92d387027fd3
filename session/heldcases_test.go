package session_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

var heldAll = flag.Bool("held.all", false, "run every case held on every shell and transport, and not a part of them that differs for each")

// writing are the cases that change something on purpose, which a held shell refuses: a directory, and the terminal's queue.
var writing = []string{"a directory with any name", "flushing the terminal"}

// stateful are those whose last step needs what another one has set. A held command gets a shell of its own, which knows the session's
// directory and no more.
var stateful = []string{
	"state is kept", "exit", "exec true", "exec with a code", "the shell kills itself", "a command that takes too long", "a job in the background",
	"umask and options are kept", "a loop that ignores INT and TERM", "a list",
}

// heldCase is a case whose commands are all held; ok is false where it makes no sense.
func heldCase(c sessionCase) (held sessionCase, ok bool) {
	if slices.Contains(writing, c.name) {
		return c, false
	}
	c.steps = slices.Clone(c.steps)
	if n := len(c.steps) - 1; slices.Contains(stateful, c.name) {
		c.steps[n] = sh("echo ok", "ok\n")
	}
	for i := range c.steps {
		c.steps[i].cmd.Held = true
	}
	return c, true
}

// Every case that does not write is the same in a shell that the kernel holds to reading, on every shell over every transport.
//
//	go test ./session -run TestEveryCaseHoldsInHeldShells -held.all
func TestEveryCaseHoldsInHeldShells(t *testing.T) {
	t.Parallel()
	for _, via := range transports {
		t.Run(via.name, func(t *testing.T) {
			t.Parallel()
			connect := dialers[via.name](t)
			for _, shell := range shells {
				if !*heldAll && !slices.Contains(shellsOver(via.name), shell) {
					continue
				}
				t.Run(shell, func(t *testing.T) {
					needShell(t, shell)
					t.Parallel()
					tr := connect(t)
					if _, err := open(t, tr, shell).HeldBy(t.Context()); err != nil {
						require.ErrorIs(t, err, session.ErrNotHeld)
						needs.Part(t, "this machine holds no shell: %v", err)
					}
					for i, c := range append(cases(t.TempDir()), stopping()...) {
						held, ok := heldCase(c)
						if !ok || c.only != "" && !contains(c.only, shell) || !*heldAll && (i+len(shell)+len(via.name))%5 != 0 {
							continue
						}
						t.Run(c.name, func(t *testing.T) {
							s := openWithin(t, tr, shell, graceOf(c))
							defer s.Close()
							runCase(t, s, held)
						})
					}
				})
			}
		})
	}
}
