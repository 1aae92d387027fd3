package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listener counts who connects.
type listener struct {
	net.Listener
	n atomic.Int64
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.n.Add(1)
	}
	return c, err
}

// answering is a server at a socket, and a client of it.
func answering(t *testing.T, h http.HandlerFunc) (*Client, *listener, *http.Server) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := New(Config{Socket: filepath.Join(dir, "s")})
	t.Cleanup(c.Close)
	l, srv := serving(t, c.cfg.Socket, h)
	return c, l, srv
}

func serving(t *testing.T, path string, h http.Handler) (*listener, *http.Server) {
	t.Helper()
	inner, err := net.Listen("unix", path)
	require.NoError(t, err)
	l, srv := &listener{Listener: inner}, &http.Server{Handler: h}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(l) })
	t.Cleanup(func() {
		srv.Close()
		wg.Wait()
	})
	return l, srv
}

type echo struct {
	Text string `json:"text"`
}

func (c *Client) echo(ctx context.Context, text string) (string, error) {
	var out echo
	err := c.call(ctx, "POST", "/echo", echo{text}, &out)
	return out.Text, err
}

func echoes(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err == nil {
		_, _ = w.Write(text)
	}
}

func TestRequestsShareAConnectionAndNeverAnAnswer(t *testing.T) {
	c, l, _ := answering(t, echoes)
	for i := range 50 {
		text := fmt.Sprint(i, strings.Repeat("x", i*1000)) // both ways, and answers of several chunks
		got, err := c.echo(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, text, got)
	}
	assert.LessOrEqual(t, l.n.Load(), int64(2), "one each way")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for j := range 50 {
				text := fmt.Sprint(i, "-", j)
				got, err := c.echo(t.Context(), text)
				assert.NoError(t, err)
				assert.Equal(t, text, got)
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, len(c.short.idle), 20)
}

func TestAStreamGoesOverTheConnectionThatWaits(t *testing.T) {
	c, l, _ := answering(t, echoes)
	_, err := c.echo(t.Context(), "x")
	require.NoError(t, err)
	for range 2 {
		resp, err := c.http.Post("http://keeper/", "text/plain", strings.NewReader("long"))
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, "long", string(text))
	}
	assert.Equal(t, int64(1), l.n.Load())
}

func TestAnotherServerAtTheSameSocketIsFound(t *testing.T) {
	c, _, srv := answering(t, echoes)
	_, err := c.echo(t.Context(), "one")
	require.NoError(t, err)
	require.NoError(t, srv.Close())
	_, err = c.echo(t.Context(), "nobody")
	require.ErrorIs(t, err, ErrUnreachable)
	serving(t, c.cfg.Socket, http.HandlerFunc(echoes))
	got, err := c.echo(t.Context(), "two")
	require.NoError(t, err)
	assert.Equal(t, "two", got)
}

// A request that may have been heard is not made again.
func TestARequestIsHeardOnce(t *testing.T) {
	var heard atomic.Int64
	c, _, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			return
		}
		heard.Add(1)
		conn, _, err := http.NewResponseController(w).Hijack()
		assert.NoError(t, err)
		conn.Close()
	})
	require.NoError(t, c.call(t.Context(), "GET", "/", nil, nil)) // from which a connection waits
	_, err := c.echo(t.Context(), "x")
	require.ErrorIs(t, err, ErrUnreachable)
	assert.ErrorContains(t, err, "it has closed the connection")
	assert.Equal(t, int64(1), heard.Load())
}

func TestWhoCancelsDoesNotWait(t *testing.T) {
	asked, end := make(chan struct{}), make(chan struct{})
	c, _, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/echo" {
			echoes(w, r)
			return
		}
		close(asked)
		<-end
	})
	defer close(end)
	why := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		cancel(why)
	}()
	assert.ErrorIs(t, c.call(ctx, "GET", "/slow", nil, nil), why)
	assert.ErrorIs(t, c.call(ctx, "GET", "/slow", nil, nil), why, "nor is it asked")
	got, err := c.echo(t.Context(), "next")
	require.NoError(t, err, "the connection of before is not used again")
	assert.Equal(t, "next", got)
}

func TestAnAnswerBeforeTheRequestIsReadIsAnAnswer(t *testing.T) {
	c, _, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, `{"detail": "too much", "code": "too_large"}`)
	})
	for _, size := range []int{1, maxShort / 2, maxShort * 2, 4 << 20} {
		_, err := c.echo(t.Context(), strings.Repeat("x", size))
		assert.EqualError(t, err, "too much", "%d bytes", size)
	}
	assert.Empty(t, c.short.idle)
}

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for name, says := range map[string]string{
		"nothing":      "",
		"another":      "220 mail.example.com ESMTP\r\n",
		"half":         "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}",
		"half a chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "fl")
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			l, err := net.Listen("unix", filepath.Join(dir, "s"))
			require.NoError(t, err)
			var wg sync.WaitGroup
			defer wg.Wait()
			defer l.Close()
			wg.Go(func() {
				conn, err := l.Accept()
				if assert.NoError(t, err) {
					_, err = http.ReadRequest(bufio.NewReader(conn))
					assert.NoError(t, err)
					_, _ = io.WriteString(conn, says)
					conn.Close()
				}
			})
			c := New(Config{Socket: filepath.Join(dir, "s")})
			defer c.Close()
			_, err = c.echo(t.Context(), "x")
			require.ErrorIs(t, err, ErrUnreachable)
			assert.NotRegexp(t, "EOF$", err.Error())
			assert.Empty(t, c.short.idle)
		})
	}
}

func TestAWordBeforeTheAnswerIsPassedOver(t *testing.T) {
	c, l, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		echoes(w, r)
	})
	for range 2 {
		got, err := c.echo(t.Context(), "x")
		require.NoError(t, err)
		assert.Equal(t, "x", got)
	}
	assert.Equal(t, int64(1), l.n.Load())
}

func TestConnectionsThatWaitTooLongAreClosed(t *testing.T) {
	c, l, _ := answering(t, echoes)
	_, err := c.echo(t.Context(), "x")
	require.NoError(t, err)
	require.Len(t, c.short.idle, 1)
	old := c.short.idle[0]
	old.since = time.Now().Add(-idleTime - time.Second)
	_, err = c.echo(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, int64(2), l.n.Load())
	_, err = old.Write([]byte("x"))
	assert.ErrorIs(t, err, net.ErrClosed)
	c.Close()
	assert.Empty(t, c.short.idle)
}
