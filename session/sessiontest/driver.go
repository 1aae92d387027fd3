package sessiontest

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session"
)

// patience bounds everything that a broken transport could keep waiting. It decides nothing when the transport works.
const patience = 90 * time.Second

// within fails the test, with all stacks, when f takes for ever.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s: still waiting after %v\n%s", what, patience, stacks[:runtime.Stack(stacks, true)])
	}
}

// sh returns a program that runs text with sh, whatever the account's login shell is.
func sh(text string) session.Program {
	quoted, err := framing.Quote(text)
	if err != nil {
		panic("sessiontest: internal error: a script holds a NUL byte")
	}
	return session.Program{Line: "exec sh -c " + quoted}
}

// start opens p on tr and closes it when the test ends.
func start(t *testing.T, tr session.Transport, p session.Program) session.Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := tr.Open(ctx, p)
	require.NoError(t, err, "open")
	t.Cleanup(func() { s.Close() })
	return s
}

// readAll returns everything that s prints.
func readAll(t *testing.T, s session.Stream) string {
	t.Helper()
	var b []byte
	var err error
	within(t, "read to the end", func() { b, err = io.ReadAll(s) })
	require.NoError(t, err, "read to the end")
	return string(b)
}

// readUntil reads s until mark has appeared, and returns what came before it.
func readUntil(t *testing.T, s session.Stream, mark string) string {
	t.Helper()
	var b strings.Builder
	var err error
	within(t, "read until "+mark, func() {
		one := make([]byte, 1)
		for err == nil && !strings.HasSuffix(b.String(), mark) {
			var n int
			n, err = s.Read(one)
			b.Write(one[:n])
		}
	})
	require.True(t, strings.HasSuffix(b.String(), mark), "%q never came, but %q and %v", mark, b.String(), err)
	return strings.TrimSuffix(b.String(), mark)
}

func write(t *testing.T, s session.Stream, text string) {
	t.Helper()
	var n int
	var err error
	within(t, "write", func() { n, err = io.WriteString(s, text) })
	require.NoError(t, err, "write")
	require.Equal(t, len(text), n, "bytes written")
}

func wait(t *testing.T, s session.Stream) session.Exit {
	t.Helper()
	var exit session.Exit
	var err error
	within(t, "wait for the program", func() { exit, err = s.Wait() })
	require.NoError(t, err, "wait for the program")
	return exit
}

func closeIt(t *testing.T, c io.Closer) {
	t.Helper()
	within(t, "close", func() { require.NoError(t, c.Close(), "close") })
}

// run is the whole life of a program.
func run(t *testing.T, tr session.Transport, p session.Program) (out string, exit session.Exit) {
	t.Helper()
	s := start(t, tr, p)
	out, exit = readAll(t, s), wait(t, s)
	closeIt(t, s)
	return out, exit
}
