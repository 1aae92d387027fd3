package mcpserver

import (
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
	return http.NewCrossOriginProtection().Handler(h)
}
