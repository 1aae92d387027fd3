package files_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestTheCallerIsAskedAboutAnUnknownKey(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	require.NoError(t, os.WriteFile(sshd.KnownHosts, nil, 0o600))
	w := keepertest.OverSSH(t, sshd)

	// Nobody who can be asked, and an agent, which never is.
	status, p := w.API("", "POST", "/v1/sessions", wire.Open{Host: "sshd"}, nil)
	assert.Equal(t, "hostkey", p.Code, "%d %s", status, p.Detail)
	assert.Contains(t, p.Detail, "fairlead hosts trust sshd")
	status, p = w.API("agent/claude", "POST", "/v1/sessions", wire.Open{Host: "sshd"}, nil, wire.Asker, "an-asker-of-an-agent")
	assert.Equal(t, "hostkey", p.Code, "%d %s", status, p.Detail)
	status, p = w.API("agent/claude", "GET", "/v1/questions", nil, nil)
	assert.Equal(t, http.StatusForbidden, status, p.Detail)

	asked := make(chan wire.Question, 8)
	trust := false
	c := client.New(client.Config{Socket: w.Places.Socket, Ask: func(_ context.Context, q wire.Question) (wire.QuestionAnswer, error) {
		asked <- q
		return wire.QuestionAnswer{Trust: trust}, nil
	}})
	defer c.Close()
	_, err := c.Open(t.Context(), wire.Open{Host: "sshd"})
	assert.ErrorContains(t, err, "its key was not trusted")
	q := <-asked
	assert.Equal(t, "host-key", q.Kind)
	assert.Equal(t, "sshd", q.Host)
	assert.Equal(t, sshd.Addr, q.Addr)
	assert.Equal(t, sshd.KnownHosts, q.File)
	status, p = w.API("", "POST", "/v1/questions/"+q.ID, wire.QuestionAnswer{Trust: true}, nil)
	assert.Equal(t, http.StatusNotFound, status, "it has been answered: %s", p.Detail)

	trust = true
	s, err := c.Open(t.Context(), wire.Open{Host: "sshd"})
	require.NoError(t, err)
	<-asked
	r, err := c.Run(t.Context(), s.ID, wire.Run{Command: "echo hello"}, "")
	require.NoError(t, err)
	assert.Equal(t, "ok", r.Status)
	assert.Empty(t, asked)
}

// A client that ends while it asks leaves no question behind, for which others would wait.
func TestAQuestionEndsWithTheClientThatAsks(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	require.NoError(t, os.WriteFile(sshd.KnownHosts, nil, 0o600))
	w := keepertest.OverSSH(t, sshd)
	ctx, hangUp := context.WithCancel(t.Context())
	c := client.New(client.Config{Socket: w.Places.Socket, Ask: func(ctx context.Context, _ wire.Question) (wire.QuestionAnswer, error) {
		hangUp()
		<-ctx.Done()
		return wire.QuestionAnswer{}, context.Cause(ctx)
	}})
	_, err := c.Open(ctx, wire.Open{Host: "sshd"})
	require.ErrorIs(t, err, context.Canceled)
	c.Close()

	_, p := w.API("", "POST", "/v1/sessions", wire.Open{Host: "sshd"}, nil)
	assert.Equal(t, "hostkey", p.Code, p.Detail)
	other := client.New(client.Config{Socket: w.Places.Socket, Ask: func(context.Context, wire.Question) (wire.QuestionAnswer, error) {
		return wire.QuestionAnswer{Trust: true}, nil
	}})
	defer other.Close()
	_, err = other.Open(t.Context(), wire.Open{Host: "sshd"})
	require.NoError(t, err)
}

// Any client can answer, not only this program's.
func TestAQuestionIsAnsweredOverHTTP(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	require.NoError(t, os.WriteFile(sshd.KnownHosts, nil, 0o600))
	w := keepertest.OverSSH(t, sshd)
	ended := make(chan wire.Problem, 1)
	go func() {
		_, p := w.API("", "POST", "/v1/sessions", wire.Open{Host: "sshd"}, nil, wire.Asker, "asker-of-mine")
		ended <- p
	}()
	var all wire.Questions
	status, p := w.API("", "GET", "/v1/questions?wait_s=50&asker=asker-of-mine", nil, &all)
	require.Equal(t, http.StatusOK, status, p.Detail)
	require.Len(t, all.Items, 1)
	path := "/v1/questions/" + all.Items[0].ID
	status, _, _ = w.Send("POST", path, `{"answers": ["x"]}`)
	assert.Equal(t, http.StatusUnprocessableEntity, status, "it takes none")
	status, _, _ = w.Send("POST", path, `{"refuse": true}`)
	assert.Equal(t, http.StatusNoContent, status)
	p = <-ended
	assert.Equal(t, "hostkey", p.Code)
	assert.Contains(t, p.Detail, "no answer was given")
}

func TestTheLongestWaitForAQuestionIsAWait(t *testing.T) {
	w := keepertest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://localhost/v1/questions?wait_s=1e300", nil)
	require.NoError(t, err)
	resp, err := w.HTTP().Do(req)
	if err == nil {
		resp.Body.Close()
	}
	assert.ErrorIs(t, err, context.DeadlineExceeded, "it answers at once")
}
