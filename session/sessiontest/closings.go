package sessiontest

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// closings are the promises about ending a stream.
var closings = []promise{
	{"a stream can be closed twice, and from two sides at once", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`printf READY; sleep 60`))
		readUntil(t, s, "READY")
		other := make(chan error, 1)
		go func() { other <- s.Close() }()
		closeIt(t, s)
		within(t, "close from the other side", func() { assert.NoError(t, <-other) })
		closeIt(t, s)
	}},
	{"a closed stream reads nothing and takes nothing", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`printf READY; sleep 60`))
		readUntil(t, s, "READY")
		closeIt(t, s)
		within(t, "read after close", func() {
			n, err := s.Read(make([]byte, 16))
			assert.Zero(t, n)
			assert.Error(t, err)
		})
		within(t, "write after close", func() {
			_, err := s.Write([]byte("x"))
			assert.ErrorIs(t, err, session.ErrClosed)
		})
		within(t, "wait after close", func() { _, _ = s.Wait() })
	}},
	{"close unblocks a reader", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`printf READY; sleep 60`))
		readUntil(t, s, "READY")
		ended := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, s)
			ended <- err
		}()
		closeIt(t, s)
		within(t, "the reader", func() { <-ended })
	}},
	{"close unblocks who waits", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`printf READY; sleep 60`))
		readUntil(t, s, "READY")
		ended := make(chan struct{})
		go func() {
			_, _ = s.Wait()
			close(ended)
		}()
		closeIt(t, s)
		within(t, "who waits", func() { <-ended })
	}},
	{"close unblocks a writer without a reader", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`printf READY; sleep 60`))
		readUntil(t, s, "READY")
		ended := make(chan error, 1)
		go func() {
			_, err := s.Write(noise(4 << 20))
			ended <- err
		}()
		closeIt(t, s)
		within(t, "the writer", func() { assert.Error(t, <-ended) })
	}},
	{"close hangs up the program and what runs in its terminal", func(t *testing.T, open func() session.Transport) {
		tr := open()
		s := start(t, tr, sh(`sleep 600 & printf '%s %s.' $$ $!; wait`))
		pids := readUntil(t, s, ".")
		closeIt(t, s)
		assert.Empty(t, survivors(t, tr, pids))
	}},
	{"close does not end its neighbours", func(t *testing.T, open func() session.Transport) {
		tr := open()
		one := start(t, tr, sh(`printf READY; sleep 60`))
		two := start(t, tr, sh(`printf READY; read -r x; printf %s "$x"`))
		readUntil(t, one, "READY")
		readUntil(t, two, "READY")
		closeIt(t, one)
		write(t, two, "alive\n")
		assert.Equal(t, "alive", readAll(t, two))
	}},
	{"output is still there after the program has ended", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`printf 'the last words'`))
		wait(t, s)
		assert.Equal(t, "the last words", readAll(t, s))
	}},
	{"a writer gets an error when the program ends without reading", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`printf READY; head -c 10 >/dev/null; exit 6`))
		readUntil(t, s, "READY")
		within(t, "the writer", func() {
			_, err := s.Write(noise(4 << 20))
			assert.ErrorIs(t, err, session.ErrClosed)
		})
		assert.Equal(t, session.Exit{Code: 6}, wait(t, s))
	}},
	{"writing to a program that has ended fails and does not hang", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`true`))
		readAll(t, s)
		wait(t, s)
		within(t, "write until it fails", func() {
			for range 1 << 16 {
				if _, err := s.Write(make([]byte, 1024)); err != nil {
					assert.ErrorIs(t, err, session.ErrClosed)
					return
				}
			}
			t.Error("64 MiB were written without a reader")
		})
	}},
}

// survivors returns which of pids are still there after a while.
func survivors(t *testing.T, tr session.Transport, pids string) string {
	t.Helper()
	out, _ := run(t, tr, sh(fmt.Sprintf(`for p in %s; do
	i=0
	while kill -0 $p 2>/dev/null && test $i -lt 200; do sleep 0.05; i=$((i+1)); done
	kill -0 $p 2>/dev/null && printf '%%s ' $p
done`, pids)))
	return out
}

// lives are the promises about the transport itself.
var lives = []promise{
	{"a closed transport opens nothing, and says that it was closed", func(t *testing.T, open func() session.Transport) {
		tr := open()
		closeIt(t, tr)
		_, err := tr.Open(t.Context(), sh(`true`))
		require.ErrorIs(t, err, session.ErrClosed)
		within(t, "wait for the transport", func() { assert.NoError(t, tr.Wait()) })
		closeIt(t, tr)
	}},
	{"closing a transport hangs up its programs and unblocks all callers", func(t *testing.T, open func() session.Transport) {
		tr := open()
		s := start(t, tr, sh(`sleep 600 & printf '%s %s.' $$ $!; wait`))
		pids := readUntil(t, s, ".")
		var ended = make(chan struct{}, 3)
		go func() { _, _ = io.Copy(io.Discard, s); ended <- struct{}{} }()
		go func() { _, _ = s.Wait(); ended <- struct{}{} }()
		go func() { _ = tr.Wait(); ended <- struct{}{} }()
		closeIt(t, tr)
		within(t, "all callers", func() {
			for range cap(ended) {
				<-ended
			}
		})
		closeIt(t, s)
		assert.Empty(t, survivors(t, open(), pids))
	}},
	{"a transport can be closed from two sides at once", func(t *testing.T, open func() session.Transport) {
		tr := open()
		start(t, tr, sh(`sleep 60`))
		other := make(chan error, 1)
		go func() { other <- tr.Close() }()
		closeIt(t, tr)
		within(t, "close from the other side", func() { assert.NoError(t, <-other) })
	}},
	{"the peer does not change", func(t *testing.T, open func() session.Transport) {
		tr := open()
		before := tr.Peer()
		assert.NotEmpty(t, before.User)
		closeIt(t, tr)
		assert.Equal(t, before, tr.Peer())
	}},
	{"a ping tells whether the connection lives", func(t *testing.T, open func() session.Transport) {
		tr := open()
		p, ok := tr.(session.Pinger)
		if !ok {
			t.Skip("this transport cannot ping")
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, p.Ping(ctx))
		ended := make(chan error, 8)
		for range cap(ended) {
			go func() { ended <- p.Ping(ctx) }()
		}
		for range cap(ended) {
			assert.NoError(t, <-ended, "several at once")
		}
		gone, stop := context.WithCancel(ctx)
		stop()
		assert.ErrorIs(t, p.Ping(gone), context.Canceled)
		require.NoError(t, p.Ping(ctx))
		closeIt(t, tr)
		assert.ErrorIs(t, p.Ping(ctx), session.ErrClosed)
	}},
}
