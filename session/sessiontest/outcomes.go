package sessiontest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// outcomes are the promises about starting a program and about how it ended.
var outcomes = []promise{
	{"output and exit code of a program arrive", func(t *testing.T, open func() session.Transport) {
		out, exit := run(t, open(), sh(`printf out; printf err >&2; exit 3`))
		assert.Equal(t, "outerr", out)
		assert.Equal(t, session.Exit{Code: 3}, exit)
	}},
	{"a silent program that succeeds says so", func(t *testing.T, open func() session.Transport) {
		out, exit := run(t, open(), sh(`true`))
		assert.Empty(t, out)
		assert.Equal(t, session.Exit{}, exit)
	}},
	{"a program that a signal ended is distinguished from one with an exit code", func(t *testing.T, open func() session.Transport) {
		tr := open()
		_, killed := run(t, tr, sh(`kill -KILL $$`))
		assert.Equal(t, session.Exit{Signal: "KILL"}, killed)
		_, terminated := run(t, tr, sh(`kill -TERM $$`))
		assert.Equal(t, session.Exit{Signal: "TERM"}, terminated)
		_, said := run(t, tr, sh(`exit 137`))
		assert.Equal(t, session.Exit{Code: 137}, said)
	}},
	{"the end can be asked for again, and from many sides", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`exit 7`))
		first := make(chan session.Exit, 2)
		for range cap(first) {
			go func() {
				exit, _ := s.Wait()
				first <- exit
			}()
		}
		within(t, "wait twice at once", func() {
			assert.Equal(t, session.Exit{Code: 7}, <-first)
			assert.Equal(t, session.Exit{Code: 7}, <-first)
		})
		assert.Empty(t, readAll(t, s))
		assert.Equal(t, session.Exit{Code: 7}, wait(t, s))
		closeIt(t, s)
		assert.Equal(t, session.Exit{Code: 7}, wait(t, s), "after Close")
	}},
	{"a context that has ended starts nothing", func(t *testing.T, open func() session.Transport) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tr := open()
		_, err := tr.Open(ctx, sh(`true`))
		require.ErrorIs(t, err, context.Canceled)
		out, _ := run(t, tr, sh(`printf still here`))
		assert.Equal(t, "still", out[:5])
	}},
	{"a context that ends later does not touch the program", func(t *testing.T, open func() session.Transport) {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := open().Open(ctx, sh(`printf READY; read -r line; printf 'got %s' "$line"`))
		require.NoError(t, err)
		defer s.Close()
		readUntil(t, s, "READY")
		cancel()
		write(t, s, "it\n")
		assert.Equal(t, "got it", readAll(t, s))
		assert.Equal(t, session.Exit{}, wait(t, s))
	}},
	{"the terminal's name is dumb unless another is given", func(t *testing.T, open func() session.Transport) {
		tr := open()
		p := sh(`printf %s "$TERM"`)
		out, _ := run(t, tr, p)
		assert.Equal(t, "dumb", out)
		p.Term = "xterm-256color"
		out, _ = run(t, tr, p)
		assert.Equal(t, "xterm-256color", out)
	}},
	{"the command line is read by a shell", func(t *testing.T, open func() session.Transport) {
		out, exit := run(t, open(), session.Program{Line: `printf '%s|' a "b c" && exit 4`})
		assert.Equal(t, "a|b c|", out)
		assert.Equal(t, session.Exit{Code: 4}, exit)
	}},
}
