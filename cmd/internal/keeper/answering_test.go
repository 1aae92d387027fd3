package keeper_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// A person may be asked for minutes while a session opens, and its answer must come all the same.
func TestAnAnswerComesHoweverLongItsRequestTook(t *testing.T) {
	r := keepertest.StartTCP(t, func(c *keeper.Config) { c.Answers(20*time.Millisecond, time.Minute) })
	s := r.OpenSession("here", "")
	got := r.RunIn(r.Client, s.ID, "sleep 0.5; echo late")
	assert.Equal(t, "late\n", got.Stdout)
	status, p := r.Over("GET", "/v1/execs/e_none", r.Token("operator/bob", "viewer"), "")
	assert.Equal(t, http.StatusNotFound, status, p.Detail)
	status, p, _ = r.Send("POST", "/v1/sessions/"+s.ID+"/execs", `{"command": "sleep 0.3; exit 3", "wait_s": 50}`)
	assert.Equal(t, http.StatusOK, status, p.Detail)
	require.NoError(t, r.CloseSession(t.Context(), s.ID), "a status without a body")
}

func TestWhoReadsAnAnswerSlowlyIsHungUpOn(t *testing.T) {
	const size = 4 << 20
	w := keepertest.Start(t, func(c *keeper.Config) { c.Answers(time.Minute, 2*time.Second) })
	s := w.OpenSession("here", "")
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "head -c 4194304 /dev/zero | tr '\\0' x"}, "")
	require.NoError(t, err)
	_, err = w.Wait(t.Context(), r.Exec)
	require.NoError(t, err)
	c := raw(w, "GET /v1/execs/"+r.Exec+"/output?limit=4194304 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	defer c.Close()
	first := make([]byte, 16)
	_, err = io.ReadFull(c, first)
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 200 OK\r", string(first))
	time.Sleep(3 * time.Second) // more than it has
	rest, _ := io.ReadAll(c)
	assert.Less(t, len(rest), size)
}
