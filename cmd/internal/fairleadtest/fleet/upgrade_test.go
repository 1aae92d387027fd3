package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

// builds are programs of two versions, and an account where their keepers run.
type builds struct {
	t        *testing.T
	old, new string
	dir      string
	env      []string
}

func build(t *testing.T) *builds {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the program twice")
	}
	fairleadtest.NotWithTheDetector(t)
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	b := &builds{t: t, dir: dir, old: filepath.Join(dir, "old"), new: filepath.Join(dir, "new"), env: []string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "FAIRLEAD_KEEPER=require", "SHELL=/bin/sh"}}
	for file, version := range map[string]string{b.old: "v1.0.0", b.new: "v1.1.0"} {
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", file, "-ldflags", "-X github.com/fairlead-ssh/fairlead/cmd/internal/version.release="+version, fairleadtest.Source).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	inventory := filepath.Join(dir, ".config", "fairlead", "inventory.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(inventory), 0o700))
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts:\n  - {name: here, transport: local, tier: dev}\n"), 0o600))
	t.Cleanup(func() {
		b.run(b.new, "serve", "--stop")
		os.RemoveAll(dir)
	})
	return b
}

// run runs one of them to its end.
func (b *builds) run(program string, args ...string) (code int, stdout, stderr string) {
	b.t.Helper()
	return b.runWith(nil, program, args...)
}

func (b *builds) runWith(env []string, program string, args ...string) (code int, stdout, stderr string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(env, b.env...), &out, &errOut
	if err := cmd.Run(); err != nil {
		require.IsType(b.t, &exec.ExitError{}, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// ok runs one of them that must succeed, and returns what it prints.
func (b *builds) ok(program string, args ...string) (stdout, stderr string) {
	b.t.Helper()
	code, stdout, stderr := b.run(program, args...)
	require.Zero(b.t, code, stderr)
	return stdout, stderr
}

// api calls the keeper that runs.
func (b *builds) api(as, method, path, in string, out any) {
	b.t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(b.dir, "fairlead", "keeper.sock"))
	}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(b.t.Context(), method, "http://localhost"+path, strings.NewReader(in))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/json")
	if as != "" {
		req.Header.Set("Fairlead-Principal", as)
	}
	res, err := (&http.Client{Transport: tr}).Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	require.Less(b.t, res.StatusCode, 300, "%s", text)
	require.NoError(b.t, json.Unmarshal(text, out), "%s", text)
}

type health struct {
	Version  string
	PID      int
	Sessions int
}

func (b *builds) health() (h health) {
	b.t.Helper()
	b.api("", "GET", "/healthz", "", &h)
	return h
}

func TestANewerProgramGetsAKeeperOfItsVersionWhereNothingIsLost(t *testing.T) {
	t.Parallel()
	b := build(t)
	b.ok(b.old, "exec", "here", "--", "true")
	was := b.health()
	require.Equal(t, "v1.0.0", was.Version)
	require.Zero(t, was.Sessions)

	// What waits in the store waits on.
	var box struct {
		ID string `json:"sandbox_id"`
	}
	b.api("", "POST", "/agent/terminal/sandboxes", `{"owner_principal_id": "agent/x", "host": "here", "label": "l", "path": "`+b.dir+`"}`, &box)
	type command struct {
		ID     string `json:"command_id"`
		Status string
	}
	var c command
	b.api("agent/x", "POST", "/agent/terminal/commands", `{"sandbox_id": "`+box.ID+`", "command": "touch made"}`, &c)
	require.Equal(t, "pending", c.Status)

	// An agent ends nobody's keeper.
	code, _, stderr := b.runWith([]string{"AI_AGENT=1"}, b.new, "exec", "here", "--", "true")
	assert.Zero(t, code, stderr)
	assert.Equal(t, was.PID, b.health().PID)

	out, stderr := b.ok(b.new, "exec", "here", "--", "echo", "hello")
	assert.Equal(t, "hello\n", out)
	assert.Empty(t, stderr)
	now := b.health()
	assert.Equal(t, "v1.1.0", now.Version)
	assert.NotEqual(t, was.PID, now.PID)
	b.api("", "POST", "/agent/terminal/commands/"+c.ID+"/approve", "{}", &c)
	assert.Equal(t, "executed", c.Status)
	assert.FileExists(t, filepath.Join(b.dir, "made"))

	// The older one goes on with the newer keeper.
	out, stderr = b.ok(b.old, "exec", "here", "--", "echo", "hello")
	assert.Equal(t, "hello\n", out)
	assert.Empty(t, stderr)
	assert.Equal(t, now.PID, b.health().PID)
}

func TestANewerProgramEndsNoSessionsAndSaysWhichKeeperIsOlder(t *testing.T) {
	b := build(t)
	b.ok(b.old, "exec", "-s", "work", "here", "--", "cd /")
	was := b.health()
	require.Equal(t, 1, was.Sessions)
	out, stderr := b.ok(b.new, "exec", "work", "--", "pwd")
	assert.Equal(t, "/\n", out)
	assert.Contains(t, stderr, "the keeper that runs is v1.0.0, older than this program, v1.1.0: it has a session open; fairlead serve --stop ends it")
	assert.Equal(t, was.PID, b.health().PID)

	b.ok(b.new, "serve", "--stop")
	_, stderr = b.ok(b.new, "exec", "here", "--", "true")
	assert.NotContains(t, stderr, "older")
	assert.Equal(t, "v1.1.0", b.health().Version)
	b.ok(b.new, "serve", "--stop")

	// What was started by hand is ended by hand.
	cmd := exec.Command(b.old, "serve")
	cmd.Env = b.env
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("unix", filepath.Join(b.dir, "fairlead", "keeper.sock"))
		if err == nil {
			c.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	_, stderr = b.ok(b.new, "exec", "here", "--", "true")
	assert.Contains(t, stderr, "older than this program, v1.1.0: it was started by hand")
	assert.Equal(t, cmd.Process.Pid, b.health().PID)
}
