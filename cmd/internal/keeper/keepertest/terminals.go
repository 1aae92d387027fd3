package keepertest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Terminal is one that a test sits at.
type Terminal struct {
	T    *testing.T
	Ws   *websocket.Conn
	Seen strings.Builder
	End  *wire.TerminalEnd
}

// TerminalTime is how long each thing is waited for, at most.
const TerminalTime = time.Minute

// Terminal opens one with a shell that prints nothing by itself.
func (w *World) Terminal(query string) *Terminal {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), TerminalTime)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://localhost/v1/terminals?"+query, &websocket.DialOptions{HTTPClient: w.HTTP()})
	require.NoError(w.T, err)
	w.T.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	return &Terminal{T: w.T.(*testing.T), Ws: ws}
}

// Send sends a message.
func (c *Terminal) Send(kind websocket.MessageType, text string) {
	c.T.Helper()
	require.NoError(c.T, c.Ws.Write(c.T.Context(), kind, []byte(text)))
}

// Line types a line.
func (c *Terminal) Line(text string) { c.T.Helper(); c.Send(websocket.MessageBinary, text+"\n") }

// See reads until text was printed, or all that comes if text is "", and returns why the connection has ended.
func (c *Terminal) See(text string) websocket.StatusCode {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(c.T.Context(), TerminalTime)
	defer cancel()
	for text == "" || !strings.Contains(c.Seen.String(), text) {
		kind, p, err := c.Ws.Read(ctx)
		if err != nil {
			require.NoError(c.T, ctx.Err(), "%q is not in %q", text, c.Seen.String())
			require.Empty(c.T, text, "%v; %q", err, c.Seen.String())
			return websocket.CloseStatus(err)
		}
		if kind == websocket.MessageText {
			var says wire.TerminalSays
			require.NoError(c.T, json.Unmarshal(p, &says), "%s", p)
			c.End = says.End
			continue
		}
		c.Seen.Write(p)
	}
	return 0
}

// WithRecordings lets a keeper have terminals, whose shell is a plain one.
func WithRecordings(t *testing.T) func(*keeper.Config) {
	t.Setenv("SHELL", "/bin/sh")
	t.Setenv("PS1", "$ ")
	return func(c *keeper.Config) { c.Recordings = filepath.Join(filepath.Dir(c.AuditDir), "recordings") }
}
