package keepertest

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Send sends one request with headers, and returns its status, its problem and its body. A last header that has no value is
// not sent.
func (w *World) Send(method, path, body string, headers ...string) (int, wire.Problem, string) {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, "http://localhost"+path, strings.NewReader(body))
	require.NoError(w.T, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if n := len(headers); n%2 == 1 {
		req.Header.Del(headers[n-1])
		headers = headers[:n-1]
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		if slices.Contains(headers[:i], headers[i]) {
			req.Header.Add(headers[i], headers[i+1])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.HTTP().Do(req)
	require.NoError(w.T, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(w.T, err)
	var p wire.Problem
	if resp.StatusCode >= 400 {
		assert.Equal(w.T, "application/problem+json", resp.Header.Get("Content-Type"), "%s %s", method, path)
		require.NoError(w.T, json.Unmarshal(text, &p), "%s", text)
		assert.Equal(w.T, resp.StatusCode, p.Status)
		assert.NotEmpty(w.T, p.Code)
		assert.NotEmpty(w.T, p.Title)
	}
	return resp.StatusCode, p, string(text)
}

// SandboxesPath and CommandsPath are the routes of agents in terminals.
const SandboxesPath, CommandsPath = "/agent/terminal/sandboxes", "/agent/terminal/commands"

// API calls one of the paths of agents' tools, as an agent if as names one.
func (w *World) API(as, method, path string, in, out any, headers ...string) (int, wire.Problem) {
	w.T.Helper()
	body := ""
	if in != nil {
		b, err := json.Marshal(in)
		require.NoError(w.T, err)
		body = string(b)
	}
	if as != "" {
		headers = append(headers, wire.Principal, as)
	}
	status, p, text := w.Send(method, path, body, headers...)
	if status < 400 && out != nil && text != "" {
		require.NoError(w.T, json.Unmarshal([]byte(text), out), "%s", text)
	}
	return status, p
}

// Box makes a sandbox for agent/claude in a directory of its own.
func (w *World) Box(host string) (wire.Sandbox, string) {
	w.T.Helper()
	dir, err := filepath.EvalSymlinks(w.Dir)
	require.NoError(w.T, err)
	dir = filepath.Join(dir, "box")
	require.NoError(w.T, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	var b wire.Sandbox
	status, p := w.API("", "POST", SandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: host, Label: "box", Path: dir}, &b)
	require.Equal(w.T, http.StatusCreated, status, p.Detail)
	return b, dir
}

// Post asks for a command in a sandbox as its agent.
func (w *World) Post(in wire.NewCommand, headers ...string) (int, wire.Command) {
	w.T.Helper()
	var c wire.Command
	status, p := w.API("agent/claude", "POST", CommandsPath, in, &c, headers...)
	require.Less(w.T, status, 400, "%+v", p)
	return status, c
}

// Rest is what comes of an answer until it ends.
func Rest(t *testing.T, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// Folder is a directory of the test's own, without links on the way.
func (w *World) Folder() string {
	w.T.Helper()
	dir, err := filepath.EvalSymlinks(w.Dir)
	require.NoError(w.T, err)
	dir = filepath.Join(dir, "files")
	require.NoError(w.T, os.Mkdir(dir, 0o700))
	return dir
}
