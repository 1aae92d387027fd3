package mcpserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpIdle is how long a client may be silent before it counts as gone. Its sessions on hosts stay: they are the principal's.
const httpIdle = 30 * time.Minute

// HTTP returns a handler that serves clients over streamable HTTP. Whoever gets through to it acts as the Server's
// principal, so the caller checks before who that is (a bearer token), and over what the request came. Requests that a
// browser makes for another site are refused here, and on loopback those for another host's name (but see Config.HostChecked).
// A client that ends its session cancels the calls that it waits for.
func (s *Server) HTTP() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Logger: s.cfg.Logger, SessionTimeout: httpIdle, DisableLocalhostProtection: s.cfg.HostChecked,
	})
	return http.NewCrossOriginProtection().Handler(s.calls.leaving(s.mcp, readable(h)))
}

// readable refuses what is not read as it is on standard input either: the SDK reads the first message of a body that goes on, and
// drops the rest without a word.
func readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Body == nil {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			http.Error(w, fmt.Sprintf("a message has at most %d bytes", maxMessage), http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "the body was truncated", http.StatusBadRequest)
			return
		}
		if f := flawIn(body); f != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(f.answer())
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// flawIn says why nothing can be made of a body, which is one message, or an array of them; nil if something can.
func flawIn(body []byte) *flaw {
	if text := bytes.TrimSpace(body); len(text) == 0 || text[0] != '[' {
		return flawOf(body)
	}
	all, f := apart(body)
	for _, one := range all {
		if f == nil {
			f = flawOf(one)
		}
	}
	return f
}
