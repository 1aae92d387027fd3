package files_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// pending is how many requests wait for an approval.
func pending(w *keepertest.World) int {
	w.T.Helper()
	var list wire.Approvals
	status, p := w.API("", "GET", "/v1/approvals", nil, &list)
	require.Equal(w.T, http.StatusOK, status, p.Detail)
	return len(list.Items)
}

// hangUp makes a request as an agent that waits for an approval, and hangs up then.
func hangUp(w *keepertest.World, method, path, body string) {
	w.T.Helper()
	was := pending(w)
	ctx, cancel := context.WithCancel(w.T.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://x"+path, strings.NewReader(body))
	require.NoError(w.T, err)
	req.Header.Set(wire.Principal, "agent/a")
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		resp, err := w.HTTP().Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusOK && strings.HasPrefix(path, "/v1/runs") { // a stream
			<-ctx.Done()
			return
		}
		text, _ := io.ReadAll(resp.Body)
		assert.Fail(w.T, "it did not wait", "%s %s: %s %s", method, path, resp.Status, text)
	}()
	require.Eventually(w.T, func() bool { return pending(w) == was+1 }, time.Minute, 5*time.Millisecond, "%s %s", method, path)
	cancel()
	<-over
	require.Eventually(w.T, func() bool { return pending(w) == was }, time.Minute, 5*time.Millisecond, "%s %s is withdrawn", method, path)
}

func TestWhatAClientThatHangsUpHasAskedForIsWithdrawn(t *testing.T) {
	w := keepertest.Start(t)
	dir := w.Folder()
	secret, file := filepath.Join(dir, "id_rsa"), filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	c := client.New(client.Config{Socket: w.Places.Socket, Principal: "agent/a"})
	defer c.Close()
	s, err := c.Open(t.Context(), wire.Open{Host: "there", Name: "work"})
	require.NoError(t, err)
	made := filepath.Join(dir, "made")
	for name, r := range map[string][3]string{
		"a file's content":      {"GET", "/v1/files?host=there&wait_s=50&path=" + secret, ""},
		"and in a session":      {"GET", "/v1/files?session_id=work&wait_s=50&path=" + secret, ""},
		"a file to write":       {"PUT", "/v1/files?host=there&wait_s=50&path=" + made, "x"},
		"an edit":               {"POST", "/v1/files/edit?host=there&path=" + file, `{"old":"x","new":"y","wait_s":50}`},
		"a command":             {"POST", "/v1/sessions/work/execs", `{"command":"touch ` + made + `","wait_s":50}`},
		"a command on a host":   {"POST", "/v1/runs", `{"id":"r_hangs_up_1","host":"there","command":"touch ` + made + `"}`},
		"a command on hosts":    {"POST", "/v1/runs", `{"id":"r_hangs_up_2","hosts":["there"],"command":"touch ` + made + `"}`},
		"a job":                 {"POST", "/v1/jobs", `{"host":"there","command":"touch ` + made + `","wait_s":50}`},
		"a job in a session":    {"POST", "/v1/jobs", `{"session_id":"work","command":"touch ` + made + `","wait_s":50}`},
		"a command with a name": {"POST", "/v1/runs", `{"id":"r_hangs_up_3","session":"work","command":"touch ` + made + `"}`},
	} {
		t.Run(name, func(t *testing.T) { hangUp(w, r[0], r[1], r[2]) })
	}
	assert.NoFileExists(t, made)
	r, err := c.Run(t.Context(), s.ID, wire.Run{Command: "echo free"}, "")
	require.NoError(t, err, "the session is free again")
	assert.Equal(t, "free\n", r.Stdout)
}

// As many as an agent may ask at a time, several times over.
func TestAClientThatHangsUpLeavesNoPlaceTaken(t *testing.T) {
	w := keepertest.Start(t)
	secret := filepath.Join(w.Folder(), "id_rsa")
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o600))
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		hc := w.HTTP()
		over := make(chan struct{})
		const n = 16
		for range n {
			req, err := http.NewRequestWithContext(ctx, "GET", "http://x/v1/files?host=there&wait_s=50&path="+secret, nil)
			require.NoError(t, err)
			req.Header.Set(wire.Principal, "agent/a")
			go func() {
				if resp, err := hc.Do(req); err == nil {
					resp.Body.Close()
				}
				over <- struct{}{}
			}()
		}
		require.Eventually(t, func() bool { return pending(w) == n }, time.Minute, 5*time.Millisecond)
		cancel()
		for range n {
			<-over
		}
		require.Eventually(t, func() bool { return pending(w) == 0 }, time.Minute, 5*time.Millisecond)
	}
}
