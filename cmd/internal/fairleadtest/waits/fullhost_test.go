package waits_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// endsWithin is how long one call may take on a host whose every slot is in use, on a slow machine.
const endsWithin = 2 * time.Minute

// fullHost is an inventory with one host, sshd, that gives so many sessions a connection, and a home with a keeper.
func fullHost(t *testing.T, sessions int) (home string, env []string) {
	t.Helper()
	sshd := sessiontest.OpenSSHD(t, fmt.Sprint("MaxSessions ", sessions))
	home, _ = fairleadtest.KeeperHome(t)
	text := fmt.Sprintf("version: 1\nhosts:\n  - {name: sshd, ssh_config: %q, tier: dev, connect_timeout: 6s}\n", sshd.Config)
	inventory := filepath.Join(home, ".config/fairlead/inventory.yaml") // the keeper's own
	require.NoError(t, os.MkdirAll(filepath.Dir(inventory), 0o700))
	require.NoError(t, os.WriteFile(inventory, []byte(text), 0o600))
	return home, []string{
		fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=dumb", "SHELL=/bin/sh",
		"FAIRLEAD_KEEPER=require",
	}
}

// ends runs fairlead, which must end within its time.
func ends(t *testing.T, env []string, args ...string) fairleadtest.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endsWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "fairlead", args...)
	cmd.Env = env
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run()
	require.NoError(t, ctx.Err(), "%q never ends", args)
	return fairleadtest.Outcome{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errOut.String()}
}

// fill opens sessions until there is no room for one more.
func fill(t *testing.T, env []string) {
	t.Helper()
	for i := range 64 {
		r := ends(t, env, "exec", "-s", fmt.Sprint("n", i), "sshd", "--", "true")
		if r.Code != 0 {
			require.Equal(t, 6, r.Code, r.Err)
			require.Contains(t, r.Err, "open sessions")
			require.Contains(t, r.Err, "fairlead sessions close")
			require.Positive(t, i)
			return
		}
	}
	t.Fatal("the host never becomes full")
}

// untouched are commands that do not connect to a host of the inventory, or only talk about what is kept here.
var untouched = []string{
	"approvals", "approvals approve", "approvals enroll", "approvals list", "approvals reject", "approvals revoke", "approvals show",
	"approvals watch", "audit", "completion", "completion bash", "completion fish", "completion powershell", "completion zsh", "help",
	"history", "hosts", "hosts forget", "hosts import", "jobs", "man", "mcp", "policy", "runs", "runs list", "runs show", "runs follow", "runs stop",
	"sandbox", "sandbox-exec", "serve", "sessions close", "setup", "setup claude", "setup codex", "setup cursor",
	"setup gemini", "setup vscode", "version", "web", "",
}

// A command on all hosts, one in a session, a copy each way and one that reads, at once, where a connection has room for one.
func TestAServerOfOneSessionAConnectionServesAllAtOnce(t *testing.T) {
	t.Parallel()
	home, env := fullHost(t, 1)
	file, fifo := filepath.Join(home, "file"), filepath.Join(home, "fifo")
	text := strings.Repeat("0123456789abcdef", 1<<14)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	w, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that it waits for no reader
	require.NoError(t, err)
	held := make(chan fairleadtest.Outcome, 1)
	go func() { held <- ends(t, env, "exec", "-s", "n0", "sshd", "--", "head -n 1 "+fifo) }()
	rows := [][]string{
		{"run", "all", "--", "echo out"},
		{"cp", file, "sshd:" + filepath.Join(home, "sent")},
		{"fetch", "sshd:" + file, filepath.Join(home, "got")},
		{"run", "sshd", "--stdin", "--", "wc -c"},
	}
	var wg sync.WaitGroup
	for _, row := range rows {
		wg.Go(func() {
			r := ends(t, env, row...)
			assert.Zero(t, r.Code, "%q: %s%s", row, r.Out, r.Err)
		})
	}
	wg.Wait()
	_, err = w.WriteString("held\n")
	require.NoError(t, err)
	assert.Equal(t, fairleadtest.Outcome{Code: 0, Out: "held\n", Err: ""}, <-held)
	require.NoError(t, w.Close())
	data, err := os.ReadFile(filepath.Join(home, "sent"))
	require.NoError(t, err)
	assert.Equal(t, len(text), len(data))
}

// Every command that could wait for a slot ends: with its answer, or says that the host is full.
func TestNoCommandWaitsForAFullHost(t *testing.T) {
	t.Parallel()
	home, env := fullHost(t, 2)
	fill(t, env)
	rows := []struct {
		args []string
		code int
	}{
		{[]string{"run", "sshd", "--", "true"}, 0},
		{[]string{"run", "all", "--timeout", "5s", "--", "true"}, 0},
		{[]string{"run", "sshd", "--program", "--", "true"}, 0},
		{[]string{"exec", "sshd", "--", "true"}, 0},
		{[]string{"exec", "n0", "--", "true"}, 0},
		{[]string{"exec", "-s", "more", "sshd", "--", "true"}, 6},
		{[]string{"exec", "-s", "more", "--timeout", "1s", "sshd", "--", "true"}, 6},
		{[]string{"ssh", "sshd", "true"}, 0},
		{[]string{"shell", "sshd"}, 2}, // it wants a terminal
		{[]string{"cp", "/etc/passwd", "sshd:" + home + "/copied"}, 0},
		{[]string{"fetch", "sshd:/etc/passwd", home + "/fetched"}, 0},
		{[]string{"edit", "sshd"}, 2}, // it wants a path
		{[]string{"hosts", "ping", "sshd"}, 0},
		{[]string{"hosts", "list", "sshd"}, 0},
		{[]string{"hosts", "show", "sshd"}, 0},
		{[]string{"hosts", "trust", "sshd"}, 0}, // its key is known
		{[]string{"doctor", "sshd"}, 0},
		{[]string{"runs", "rerun", "--on", "all"}, 0},
		{[]string{"history", "again", "99999999"}, 2},
		{[]string{"jobs", "list", "sshd"}, 0},
		{[]string{"jobs", "start", "sshd", "--", "true"}, 0},
		{[]string{"jobs", "output", "sshd/j_aaaaaaaaaaaaa"}, 2},
		{[]string{"jobs", "follow", "sshd/j_aaaaaaaaaaaaa"}, 2},
		{[]string{"jobs", "stop", "sshd/j_aaaaaaaaaaaaa"}, 2},
		{[]string{"jobs", "collect", "sshd/j_aaaaaaaaaaaaa"}, 2},
		{[]string{"jobs", "wait", "sshd/j_aaaaaaaaaaaaa"}, 2},
		{[]string{"jobs", "clean", "sshd"}, 0},
		{[]string{"sandbox", "create", "sshd", home, "--for", "agent/a"}, 0},
		{[]string{"sandbox", "list"}, 0},
		{[]string{"sandbox", "check", "sshd"}, 0},
		{[]string{"sandbox", "edit", "b_nosuch", "--label", "x"}, 2},
		{[]string{"sandbox", "show", "b_nosuch"}, 2},
		{[]string{"sandbox", "delete", "b_nosuch"}, 2},
		{[]string{"policy", "check", "--host", "sshd", "--", "ls"}, 0},
		{[]string{"policy", "explain", "--host", "sshd", "--", "ls"}, 0},
		{[]string{"policy", "test"}, 0},
		{[]string{"sessions"}, 0},
		{[]string{"sessions", "list"}, 0},
		{[]string{"sessions", "reset", "n0"}, 0},
		{[]string{"audit", "tail"}, 0},
		{[]string{"audit", "search"}, 0},
		{[]string{"audit", "show", "1"}, 0},
		{[]string{"audit", "verify"}, 0},
		{[]string{"audit", "export"}, 0},
		{[]string{"audit", "purge", "--before", "1h"}, 0},
		{[]string{"audit", "replay", "none"}, 2},
		{[]string{"doctor"}, 0},
		{[]string{"forward", "sshd", "-D", "0"}, 0},
		{[]string{"forward", "list"}, 0},
		{[]string{"forward", "close", "e_nosuch"}, 2},
	}
	tried := map[string]bool{}
	for _, name := range untouched {
		tried[name] = true
	}
	ios, _, _, _ := iostreams.Test()
	root := cli.NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	for _, row := range rows {
		cmd, _, err := root.Find(row.args)
		require.NoError(t, err)
		tried[strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "fairlead"))] = true
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			r := ends(t, env, row.args...)
			switch {
			case row.code == 6:
				assert.Equal(t, 6, r.Code, r.Err)
				assert.Contains(t, r.Err, "open sessions")
			case strings.Contains(r.Err, "open sessions"):
				assert.Fail(t, "it has slots of its own", r.Err)
			case row.code == 0 && row.args[0] != "audit" && row.args[0] != "doctor" && row.args[0] != "policy" && row.args[0] != "sandbox":
				assert.Zero(t, r.Code, r.Err)
			}
		})
	}
	fairleadtest.EveryCommand(root, func(cmd *cobra.Command) {
		path := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "fairlead"))
		assert.True(t, tried[path], "fairlead %s has no row here: does it end on a full host?", path)
	})
	r := ends(t, env, "sessions", "close", "n0")
	require.Zero(t, r.Code, r.Err)
	r = ends(t, env, "exec", "-s", "more", "sshd", "--", "true")
	assert.Zero(t, r.Code, r.Err)
}

// Every route that could wait for a slot answers.
func TestNoRouteWaitsForAFullHost(t *testing.T) {
	t.Parallel()
	home, env := fullHost(t, 2)
	fill(t, env)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(home, "fairlead", "keeper.sock"))
	}}}
	defer client.CloseIdleConnections()
	// call returns the status and the beginning of the answer; a stream is not read to its end.
	call := func(method, path, body string) (int, string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), endsWithin)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, "http://x"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Fairlead-Inventory", filepath.Join(home, ".config/fairlead/inventory.yaml"))
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		if method == http.MethodPut {
			req.Header.Set("Content-Type", "application/octet-stream")
		}
		resp, err := client.Do(req)
		require.NoError(t, err, "%s %s", method, path)
		defer resp.Body.Close()
		if path == "/v1/events" || strings.HasSuffix(path, "/stream") {
			return resp.StatusCode, ""
		}
		data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		require.NoError(t, err, "%s %s", method, path)
		return resp.StatusCode, string(data)
	}
	_, text := call("GET", "/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
			Body       struct {
				Content map[string]struct{ Schema fairleadtest.Schema }
			} `json:"requestBody"`
		}
		Components struct {
			Schemas map[string]fairleadtest.Schema
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	type request struct{ path, body, want string }
	rows := map[string][]request{
		"POST /v1/sessions": {{"/v1/sessions", `{"host":"sshd","name":"more"}`, `"full"`}},
		"POST /v1/runs": {
			{"/v1/runs", `{"id":"r_one0000","host":"sshd","command":"echo one-off"}`, "one-off"},
			{"/v1/runs", `{"id":"r_all0000","selector":"all","command":"echo one-off"}`, "one-off"},
		},
		"POST /v1/runs/{id}/stdin":                       {{"/v1/runs/r_none/stdin?host=sshd", "x", ""}},
		"GET /v1/runs/{id}/files":                        {{"/v1/runs/r_none/files?host=sshd", "", ""}},
		"POST /v1/sessions/{id}/execs":                   {{"/v1/sessions/n0/execs", `{"command":"echo here"}`, "here"}},
		"POST /v1/sessions/{id}/reset":                   {{"/v1/sessions/n0/reset", `{}`, ""}},
		"GET /v1/files":                                  {{"/v1/files?host=sshd&path=/etc/passwd", "", "root"}},
		"GET /v1/files/list":                             {{"/v1/files/list?host=sshd&path=/etc", "", "passwd"}},
		"PUT /v1/files":                                  {{"/v1/files?host=sshd&path=" + home + "/written", "text", "sha256"}},
		"POST /v1/files/edit":                            {{"/v1/files/edit?host=sshd&path=" + home + "/written", `{"old":"text","new":"other"}`, "sha256"}},
		"GET /v1/jobs":                                   {{"/v1/jobs?selector=sshd", "", "items"}},
		"POST /v1/jobs":                                  {{"/v1/jobs", `{"host":"sshd","command":"true"}`, "j_"}},
		"POST /v1/forwards":                              {{"/v1/forwards", `{"host":"sshd","kind":"dynamic","listen":"localhost:0"}`, "e_"}},
		"GET /v1/hosts":                                  {{"/v1/hosts", "", "sshd"}},
		"GET /v1/audit":                                  {{"/v1/audit", "", ""}},
		"GET /v1/audit/search":                           {{"/v1/audit/search?host=sshd", "", ""}},
		"POST /agent/terminal/sandboxes":                 {{"/agent/terminal/sandboxes", `{"host":"sshd","path":"` + home + `","label":"x","owner_principal_id":"agent/a"}`, "b_"}},
		"GET /agent/terminal/sandboxes":                  {{"/agent/terminal/sandboxes", "", "items"}},
		"GET /v1/terminals":                              {{"/v1/terminals?host=sshd", "", ""}},
		"POST /agent/terminal/commands":                  {{"/agent/terminal/commands", `{"sandbox_id":"SANDBOX","command":"true"}`, "command_id"}},
		"GET /agent/terminal/commands":                   {{"/agent/terminal/commands?session_id=n0", "", ""}},
		"GET /agent/terminal/sandboxes/{id}/enforcement": {{"/agent/terminal/sandboxes/SANDBOX/enforcement", "", ""}},
	}
	for route, item := range doc.Paths {
		for method, op := range item {
			name := strings.ToUpper(method) + " " + route
			hosts := false
			names := func(n string) { hosts = hosts || n == "host" || n == "hosts" || n == "selector" || n == "sandbox_id" }
			for _, p := range op.Parameters {
				names(p.Name)
			}
			for _, c := range op.Body.Content {
				c.Schema.Names(doc.Components.Schemas, "", names)
			}
			if _, ok := rows[name]; !ok && !strings.HasPrefix(route, "/v1/keeper/") {
				assert.False(t, hosts, "%s names a host and has no row here: does it answer for a full one?", name)
				rows[name] = []request{{strings.ReplaceAll(strings.ReplaceAll(route, "{id}", "none"), "{sha256}", "none"), "", ""}}
			}
		}
	}
	_, made := call("POST", "/agent/terminal/sandboxes", `{"host":"sshd","path":"`+home+`","label":"first"}`)
	var box struct {
		ID string `json:"sandbox_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(made), &box), made)
	require.NotEmpty(t, box.ID, made)
	for name, requests := range rows {
		method, _, _ := strings.Cut(name, " ")
		if name == "PUT /v1/files" || name == "POST /v1/files/edit" {
			continue // in their order below
		}
		for _, r := range requests {
			body := strings.ReplaceAll(r.body, "SANDBOX", box.ID)
			if body == "" && method != "GET" && method != "DELETE" {
				body = "{}"
			}
			_, text := call(method, strings.ReplaceAll(r.path, "SANDBOX", box.ID), body)
			assert.True(t, strings.Contains(text, r.want), "%s: %.400s", name, text)
			if r.want != `"full"` && !strings.HasPrefix(r.path, "/v1/audit") {
				assert.False(t, strings.Contains(text, `"full"`), "%s has slots of its own: %.400s", name, text)
			}
		}
	}
	for _, name := range []string{"PUT /v1/files", "POST /v1/files/edit"} {
		method, _, _ := strings.Cut(name, " ")
		_, text := call(method, rows[name][0].path, rows[name][0].body)
		assert.True(t, strings.Contains(text, rows[name][0].want), "%s: %.400s", name, text)
	}
}

// Every tool that could wait for a slot answers.
func TestNoToolWaitsForAFullHost(t *testing.T) {
	t.Parallel()
	home, env := fullHost(t, 2)
	cmd := exec.CommandContext(t.Context(), "fairlead", "mcp", "--as", "a")
	cmd.Env = env
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	connected, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	defer connected.Close()
	call := func(name string, args map[string]any) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), endsWithin)
		defer cancel()
		r, err := connected.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		require.NoError(t, err, name)
		var b strings.Builder
		for _, c := range r.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				b.WriteString(text.Text)
			}
		}
		data, err := json.Marshal(r.StructuredContent)
		require.NoError(t, err)
		return b.String() + string(data)
	}
	session, text := "", ""
	for range 64 {
		text = call("session_open", map[string]any{"host": "sshd"})
		if strings.Contains(text, "full") {
			break
		}
		if at := strings.Index(text, `"session_id":"`); at >= 0 {
			session, _, _ = strings.Cut(text[at+len(`"session_id":"`):], `"`)
		}
	}
	require.Contains(t, text, "full")
	require.NotEmpty(t, session)
	rows := map[string]struct {
		args map[string]any
		want string
	}{
		"hosts_list":     {map[string]any{}, "sshd"},
		"look":           {map[string]any{"targets": "sshd", "command": "echo one-off"}, "one-off"},
		"run":            {map[string]any{"targets": "all", "command": "echo one-off"}, "one-off"},
		"session_open":   {map[string]any{"host": "sshd"}, "full"},
		"session_exec":   {map[string]any{"session_id": session, "command": "echo here"}, "here"},
		"session_input":  {map[string]any{"session_id": session, "text": "x"}, ""},
		"session_output": {map[string]any{"session_id": session, "wait_s": 1}, ""},
		"file_read":      {map[string]any{"host": "sshd", "path": "/etc/passwd"}, "root"},
		"file_write":     {map[string]any{"host": "sshd", "path": home + "/w", "content": "x"}, ""},
		"file_edit":      {map[string]any{"host": "sshd", "path": "/etc/hostname", "old": "nothing-like-it", "new": "x"}, ""},
		"file_transfer":  {map[string]any{"direction": "download", "targets": "sshd", "local": ".", "remote": "/etc/hostname"}, "no exchange directory"},
		"job_start":      {map[string]any{"targets": "sshd", "command": "true"}, ""},
		"job_output":     {map[string]any{"job_id": "sshd/j_aaaaaaaaaaaaa"}, ""},
		"job_stop":       {map[string]any{"job_id": "sshd/j_aaaaaaaaaaaaa"}, ""},
		"session_close":  {map[string]any{"session_id": session}, ""},
	}
	list, err := connected.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		row, ok := rows[tool.Name]
		if !assert.True(t, ok, "%s has no row here: does it answer for a full host?", tool.Name) || tool.Name == "session_close" {
			continue
		}
		assert.Contains(t, call(tool.Name, row.args), row.want, tool.Name)
	}
	call("session_close", rows["session_close"].args)
	assert.NotContains(t, call("session_open", map[string]any{"host": "sshd"}), `"full"`)
}
