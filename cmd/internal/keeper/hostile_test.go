package keeper_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// leavesNothing checks that what f does leaves no goroutine and no descriptor behind, after as long as the last ones take
// to go.
func leavesNothing(w *keepertest.World, f func()) {
	w.T.Helper()
	t := w.T.(*testing.T)
	f() // once before, for what is made on first use
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	f()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only ever reached by a failure
	defer cancel()
	for runtime.NumGoroutine() > goroutines || openFiles(t) > files {
		if ctx.Err() != nil {
			require.LessOrEqual(t, runtime.NumGoroutine(), goroutines, "goroutines")
			require.LessOrEqual(t, openFiles(t), files, "descriptors")
			return
		}
		runtime.Gosched()
	}
}

// raw opens a connection and sends text.
func raw(w *keepertest.World, text string) net.Conn {
	w.T.Helper()
	c, err := net.Dial("unix", w.Places.Socket)
	require.NoError(w.T, err)
	_, _ = io.WriteString(c, text) // it may hang up meanwhile
	return c
}

func TestClientsThatVanishLeaveNothing(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "")
	require.NoError(t, err)
	leavesNothing(w, func() {
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				path := []string{"/v1/events", "/v1/execs/" + r.Exec + "/stream", "/v1/execs/" + r.Exec + "?wait_s=50"}[i%3]
				c := raw(w, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
				if i%3 < 2 {
					line, err := bufio.NewReader(c).ReadString('\n')
					assert.NoError(t, err)
					assert.Contains(t, line, " 200 ")
				}
				c.Close()
			})
		}
		for range 20 { // in the middle of a body
			wg.Go(func() {
				raw(w, "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"host\"").Close()
			})
		}
		wg.Wait()
	})
	got, err := w.Look(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, "running", got.State, "what they looked at goes on")
}

func TestFiveHundredCallersRunCommandsAtOnce(t *testing.T) {
	w := keepertest.Start(t)
	const sessions, n = 4, 500
	var ids [sessions]string
	for i := range ids {
		ids[i] = w.OpenSession("here", "").ID
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	codes := map[string]int{}
	for i := range n {
		wg.Go(func() {
			r, err := w.Run(t.Context(), ids[i%sessions], wire.Run{Command: fmt.Sprintf("echo %d", i)}, "")
			code := ""
			if err != nil {
				code = keepertest.CodeOf(t, err)
			} else {
				assert.Equal(t, fmt.Sprintf("%d\n", i), r.Stdout)
			}
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	wg.Wait()
	assert.GreaterOrEqual(t, codes[""], sessions)
	assert.Equal(t, n, codes[""]+codes["busy"], "each has run, or was told that another one does: %v", codes)
	for _, id := range ids {
		assert.Equal(t, "ok", w.RunIn(w.Client, id, "true").Status)
	}
}

func TestWhoSendsSlowlyIsHungUpOn(t *testing.T) {
	const length = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
	for name, tt := range map[string]struct {
		headers, body time.Duration
		text, want    string
	}{
		"no end of the headers":           {headers: 50 * time.Millisecond, text: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: "},
		"a body that does not come":       {body: 50 * time.Millisecond, text: "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\n" + length, want: " 408 "},
		"nor of one that is refused then": {body: 50 * time.Millisecond, text: "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n" + length, want: " 403 "},
	} {
		t.Run(name, func(t *testing.T) {
			w := keepertest.Start(t, func(c *keeper.Config) { c.Hurry(tt.headers, tt.body) })
			leavesNothing(w, func() {
				var wg sync.WaitGroup
				for range 20 {
					c := raw(w, tt.text)
					wg.Go(func() {
						defer c.Close()
						said, err := io.ReadAll(c)
						assert.NoError(t, err, "it hangs up")
						assert.Contains(t, string(said), tt.want)
					})
				}
				wg.Wait()
			})
			_, err := w.Health(t.Context())
			require.NoError(t, err, "others are served")
		})
	}
}

func TestWhoAsksTooOftenIsToldToWait(t *testing.T) {
	r := keepertest.StartTCP(t, func(c *keeper.Config) { c.Patience(1.0/3600, 5) })
	agent, other := r.Token("agent/a", "agent"), r.Token("agent/b", "agent")
	for range 5 {
		status, _ := r.Over("GET", "/v1/hosts", agent, "")
		require.Equal(t, http.StatusOK, status)
	}
	status, p := r.Over("GET", "/v1/hosts", agent, "")
	assert.Equal(t, http.StatusTooManyRequests, status)
	assert.Equal(t, "rate", p.Code)
	assert.True(t, p.Retriable)
	assert.Equal(t, "about:blank", p.Type)
	status, _ = r.Over("GET", "/v1/hosts", other, "")
	assert.Equal(t, http.StatusOK, status, "another's requests are others")
	_, err := r.Health(t.Context())
	require.NoError(t, err, "and the account's are not bounded so")
	_, _, text := r.Send("GET", "/metrics", "")
	assert.Contains(t, text, "fairlead_refused_requests_total{reason=\"rate\"} 1\n")
}

func TestWhatIsNoRequestOfOursIsRefused(t *testing.T) {
	w := keepertest.Start(t)
	leavesNothing(w, func() {
		var wg sync.WaitGroup
		defer wg.Wait()
		for name, tt := range map[string]struct{ text, want string }{
			"no HTTP":               {"\x16\x03\x01\x02\x00\x01\x00", ""},
			"no version":            {"GET /healthz\r\n\r\n", " 400 "},
			"no host":               {"GET /healthz HTTP/1.1\r\n\r\n", " 400 "},
			"an absolute target":    {"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", " 403 "},
			"two lengths":           {"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", " 400 "},
			"a length and chunks":   {"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
			"a length of minus one": {"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", " 400 "},
			"more than is taken":    {"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n{", " 413 "},
			"chunks without end":    {"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n200001\r\n" + strings.Repeat("x", 2<<20+1), " 413 "},
			"headers without end":   {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20), " 431 "},
			"another method":        {"BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", " 40"},
			"a proxy's":             {"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", " 403 "},
			"a page's form":         {"POST /v1/keeper/stop HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n", " 403 "},
		} {
			c := raw(w, tt.text)
			_ = c.(*net.UnixConn).CloseWrite()
			wg.Go(func() {
				defer c.Close()
				said, _ := io.ReadAll(c) // it may hang up before it has read everything
				line, _, _ := strings.Cut(string(said), "\r\n")
				assert.NotContains(t, line, " 200 ", name)
				if tt.want != "" && line != "" {
					assert.Contains(t, line, tt.want, name)
				}
			})
		}
	})
	_, err := w.Health(t.Context())
	require.NoError(t, err)
}
