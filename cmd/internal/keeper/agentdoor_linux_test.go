package keeper_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// nobody is an account that is not ours.
const nobody = 65534

// startAgents runs a keeper with a socket for agent/claude, in a directory that passes its group on.
func startAgents(t *testing.T) (w *keepertest.World, socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(dir, 0, nobody))
	}
	require.NoError(t, os.Chmod(dir, 0o755|os.ModeSetgid))
	socket = filepath.Join(dir, "s")
	return keepertest.Start(t, func(c *keeper.Config) { c.AgentDoor = listen.AgentDoor{Socket: socket, Name: "claude"} }), socket
}

// dialAs connects as another account: with a thread that gives up its own, and ends.
func dialAs(uid int, socket string) (net.Conn, error) {
	type result struct {
		c   net.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread goes with the goroutine
		done <- func() (r result) {
			for _, call := range []uintptr{syscall.SYS_SETGROUPS, syscall.SYS_SETRESGID, syscall.SYS_SETRESUID} {
				a, b, c := uintptr(uid), uintptr(uid), uintptr(uid)
				if call == syscall.SYS_SETGROUPS {
					a, b, c = 0, 0, 0
				}
				if _, _, errno := syscall.RawSyscall(call, a, b, c); errno != 0 {
					return result{nil, errno}
				}
			}
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				return result{nil, err}
			}
			f := os.NewFile(uintptr(fd), "socket")
			defer f.Close()
			if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket}); err != nil {
				return result{nil, err}
			}
			r.c, r.err = net.FileConn(f)
			return r
		}()
	}()
	r := <-done
	return r.c, r.err
}

// asNobody calls the keeper from another account.
func asNobody(t *testing.T, socket string) *http.Client {
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("only root can be two accounts")
		}
		t.Skip("only root can be two accounts")
	}
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dialAs(nobody, socket) }}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// sendTo sends one request, and decodes what comes into out.
func sendTo(t *testing.T, c *http.Client, method, path, body string, out any, headers ...string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	if out != nil {
		require.NoError(t, json.Unmarshal(text, out), "%s", text)
	}
	return resp.StatusCode
}

func TestAnotherAccountIsTheAgentAndTheKeeperIsApartFromIt(t *testing.T) {
	w, socket := startAgents(t)
	c := asNobody(t, socket)
	var h wire.Health
	require.Equal(t, http.StatusOK, sendTo(t, c, "GET", "/healthz", "", &h))
	assert.Equal(t, "split-uid", h.Separation)
	_, err := dialAs(nobody, w.Places.Socket)
	require.ErrorIs(t, err, syscall.EACCES, "the keeper's own socket is not for it")

	var s wire.Session
	require.Equal(t, http.StatusCreated, sendTo(t, c, "POST", "/v1/sessions", `{"host":"there"}`, &s, wire.Principal, "agent/other", wire.Inventory, "/nonexistent"))
	assert.Equal(t, "agent/claude", s.Owner, "whatever it says")
	var r wire.Result
	require.Equal(t, http.StatusOK, sendTo(t, c, "POST", "/v1/sessions/"+s.ID+"/execs", `{"command":"pwd"}`, &r))
	assert.Equal(t, "ok", r.Status)
	sendTo(t, c, "POST", "/v1/sessions/"+s.ID+"/execs", `{"command":"touch x","wait_s":0}`, &r)
	for _, path := range []string{"/v1/approvals", "/v1/audit", "/v1/tokens"} {
		assert.Equal(t, http.StatusForbidden, sendTo(t, c, "GET", path, "", nil), path)
	}
	for _, path := range []string{"/v1/approvals/x/approve", "/v1/tokens", "/agent/terminal/sandboxes", "/v1/keeper/stop", "/v1/keeper/leave"} {
		assert.Equal(t, http.StatusForbidden, sendTo(t, c, "POST", path, "{}", nil), path)
	}

	for e, err := range audit.All(w.Cfg.AuditDir) {
		require.NoError(t, err)
		if e.Principal != "agent/claude" {
			continue
		}
		require.NotNil(t, e.UID, "%s", e.Kind)
		assert.Equal(t, nobody, *e.UID, "%s", e.Kind)
		assert.Equal(t, "split-uid", e.Separation, "%s", e.Kind)
	}
	h, err = w.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "shared-uid", h.Separation, "the account itself is not apart from itself")
}

func TestOneAccountIsNotApartFromItself(t *testing.T) {
	_, socket := startAgents(t)
	c := client.New(client.Config{Socket: socket})
	defer c.Close()
	h, err := c.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "shared-uid", h.Separation)
	s, err := c.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	assert.Equal(t, "agent/claude", s.Owner)
	_, err = c.Approvals(t.Context())
	assert.Equal(t, "forbidden", keepertest.CodeOf(t, err))
}

func TestPlacesWhereOthersCouldPutTheirOwnSocketAreRefused(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, w.StopServing())
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for what, tt := range map[string]struct {
		door listen.AgentDoor
		mode os.FileMode
		want string
	}{
		"a relative path":     {listen.AgentDoor{Socket: "s", Name: "a"}, 0o755, "must be an absolute path"},
		"no name":             {listen.AgentDoor{Socket: dir + "/s"}, 0o755, "takes a path and the agent's name"},
		"a name with a blank": {listen.AgentDoor{Socket: dir + "/s", Name: "a b"}, 0o755, "is not a name of an agent"},
		"a file":              {listen.AgentDoor{Socket: dir + "/file", Name: "a"}, 0o755, "and no socket"},
		"an open directory":   {listen.AgentDoor{Socket: dir + "/s", Name: "a"}, 0o777, "could put their own socket there"},
		"no directory":        {listen.AgentDoor{Socket: dir + "/none/s", Name: "a"}, 0o755, "no such file"},
		"too long":            {listen.AgentDoor{Socket: dir + strings.Repeat("/x", 60), Name: "a"}, 0o755, "is longer than"},
	} {
		require.NoError(t, os.Chmod(dir, tt.mode))
		cfg := w.Cfg
		cfg.AgentDoor = tt.door
		err := keeper.Serve(t.Context(), cfg, w.Places, nil)
		assert.ErrorContains(t, err, tt.want, what)
	}
	assert.NoFileExists(t, filepath.Join(dir, "s"), fmt.Sprint(dir))
}
