package client

import (
	"io"
	"net/http"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A recording is there also where the keeper goes away, or waits too long for a host, before it can say how its terminal ended.
func TestTheRecordingOfATerminalIsKnownWithoutItsEnd(t *testing.T) {
	c, _, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if assert.NoError(t, err) {
			assert.NoError(t, ws.Write(r.Context(), websocket.MessageText, []byte(`{"recording":"x.cast"}`)))
			assert.NoError(t, ws.Write(r.Context(), websocket.MessageBinary, []byte("hi")))
			ws.CloseNow()
		}
	})
	term, err := c.OpenTerminal(t.Context(), TerminalAsk{Host: "web1"})
	require.NoError(t, err)
	seen, err := io.ReadAll(term)
	require.NoError(t, err)
	assert.Equal(t, "hi", string(seen))
	_, err = term.Wait()
	require.ErrorIs(t, err, errWentAway)
	assert.Equal(t, "x.cast", term.Recording())
}
