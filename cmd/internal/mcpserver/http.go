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
func (s *Server) HTTP() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Logger: s.cfg.Logger, SessionTimeout: httpIdle, DisableLocalhostProtection: s.cfg.HostChecked,
	})
	return http.NewCrossOriginProtection().Handler(unhurt(h))
}

// unhurt passes on what a decoder would not change on the way, and refuses the rest; see garbled.
func unhurt(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			h.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mcp.DefaultMaxRequestBodyBytes))
		var long *http.MaxBytesError
		switch {
		case errors.As(err, &long):
			http.Error(w, fmt.Sprintf("a message has at most %d bytes", long.Limit), http.StatusRequestEntityTooLarge)
			return
		case err != nil:
			return // nobody waits for an answer
		}
		if f := garbled(body); f != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(f.answer())
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}
