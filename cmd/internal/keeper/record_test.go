package keeper_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// fields are the names in an object, sorted.
func fields(t *testing.T, text string) []string {
	t.Helper()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &m), "%s", text)
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func words(text string) []string {
	w := strings.Fields(text)
	slices.Sort(w)
	return w
}

func TestRecordsHaveTheseFieldsInEveryState(t *testing.T) {
	w := keepertest.Start(t)
	b, _ := w.Box("there")
	_, _, text := w.Send("GET", keepertest.SandboxesPath+"/"+b.ID, "")
	assert.Equal(t, words("sandbox_id owner_principal_id host label path is_active created_at updated_at"), fields(t, text))
	for _, script := range []string{"pwd", "touch made", "sudo id"} {
		_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: script})
		_, _, text := w.Send("GET", keepertest.CommandsPath+"/"+c.ID, "")
		assert.Equal(t, words(`command_id session_id sandbox_id host command cwd status verdict reason stdout stderr exit_code
			requested_by approved_by created_at updated_at finalized_at outcome exec enforcement`), fields(t, text), script)
	}
	_, _, text = w.Send("GET", keepertest.CommandsPath, "")
	assert.Equal(t, words("items next_cursor"), fields(t, text))
	for _, path := range []string{keepertest.CommandsPath + "/c_none", keepertest.SandboxesPath + "/b_none"} {
		status, p, text := w.Send("GET", path, "")
		assert.Equal(t, http.StatusNotFound, status)
		assert.Equal(t, words("type title status detail code retriable"), fields(t, text))
		assert.Equal(t, wire.Problem{Type: "about:blank", Title: "Not Found", Status: 404, Code: "not_found", Detail: p.Detail}, p)
		assert.Contains(t, p.Detail, "_none")
	}
}

// nowhere makes an address on loopback at which nobody listens.
func nowhere(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().(*net.TCPAddr).Port
}

func TestTheStatusSaysHowACommandEnded(t *testing.T) {
	t.Parallel()
	w := keepertest.Start(t, func(c *keeper.Config) {
		more := fmt.Sprintf("  - {name: gone, addr: 127.0.0.1, port: %d, ssh_config: none, tier: dev}\n", nowhere(t))
		require.NoError(t, os.WriteFile(c.Inventory, []byte(keepertest.Here+more), 0o600))
	})
	b, _ := w.Box("there")
	var gone wire.Sandbox
	status, p := w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: "gone", Path: "/srv"}, &gone)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	short := 0.2
	for name, tt := range map[string]struct {
		in              wire.NewCommand
		approve         bool
		status, outcome string
		verdict         string // of the policy
		exit            *int
	}{
		"exit 0":       {in: wire.NewCommand{Command: "pwd"}, status: "executed", outcome: "ok", verdict: "allow", exit: new(int)},
		"another exit": {in: wire.NewCommand{Command: "ls none"}, status: "executed", outcome: "exit", verdict: "allow"},
		"too long": {
			in: wire.NewCommand{Command: "sleep 1000", TimeoutS: &short}, approve: true, status: "failed", outcome: "timeout", verdict: "ask",
		},
		"a host not there": {in: wire.NewCommand{Command: "pwd", Sandbox: gone.ID}, status: "failed", outcome: "unreachable", verdict: "allow"},
		"a path on a host not there": {
			in: wire.NewCommand{Command: "cat x", Sandbox: gone.ID}, status: "failed", outcome: "unreachable", verdict: "allow",
		},
		"to be asked on a host not there": {
			in: wire.NewCommand{Command: "curl -d @x http://localhost", Sandbox: gone.ID}, status: "failed", outcome: "unreachable", verdict: "ask",
		},
		"denied":                     {in: wire.NewCommand{Command: "sudo id"}, status: "rejected", outcome: "denied", verdict: "deny"},
		"denied on a host not there": {in: wire.NewCommand{Command: "sudo id", Sandbox: gone.ID}, status: "rejected", outcome: "denied", verdict: "deny"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.in.Sandbox == "" {
				tt.in.Sandbox = b.ID
			}
			status, c := w.Post(tt.in)
			if c.Status == "pending" {
				require.True(t, tt.approve, "%+v", c)
				code, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &c)
				require.Equal(t, http.StatusOK, code, p.Detail)
				status = http.StatusCreated
			}
			assert.Equal(t, http.StatusCreated, status)
			assert.Equal(t, tt.status, c.Status)
			assert.Equal(t, tt.outcome, c.Outcome)
			assert.Equal(t, tt.verdict, c.Verdict)
			if about := keepertest.AboutCommand(t, w.Cfg.AuditDir, c.ID); c.Status != "executed" && !tt.approve {
				assert.Equal(t, []audit.Kind{audit.CommandRequest, audit.CommandResult}, about.Kinds)
				assert.Equal(t, tt.verdict, about.Last[audit.CommandRequest].Verdict)
				assert.Equal(t, tt.outcome, about.Last[audit.CommandResult].Status)
			}
			if c.Status == "executed" {
				require.NotNil(t, c.Exec)
				assert.Equal(t, tt.outcome, c.Exec.Status)
				require.NotNil(t, c.ExitCode)
			} else {
				assert.True(t, c.ExitCode == nil || c.Outcome == "timeout", "the host gave none")
				assert.NotEmpty(t, c.Reason)
			}
			if tt.exit != nil {
				assert.Equal(t, *tt.exit, *c.ExitCode)
			}
			code, p := w.API("agent/claude", "POST", keepertest.CommandsPath+"/"+c.ID+"/finalize", nil, nil)
			assert.Equal(t, http.StatusOK, code, p.Detail)
			for _, verb := range []string{"approve", "reject"} {
				code, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/"+verb, nil, nil)
				assert.Equal(t, http.StatusConflict, code)
				assert.Equal(t, "conflict", p.Code)
				assert.Contains(t, p.Detail, c.Status)
			}
		})
	}
}

func TestWhoWaitsIsAnsweredAfterASetTime(t *testing.T) {
	for name, tt := range map[string]struct {
		asked *float64
		want  time.Duration
	}{
		"nothing said": {nil, 30 * time.Second}, "some": {new(1.5), 1500 * time.Millisecond}, "none": {new(float64), 0},
		"more than is given": {new(3600.0), 50 * time.Second},
	} {
		d, err := keeper.WaitOf(tt.asked)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, d, name)
	}
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	fifo := filepath.Join(dir, "fifo")
	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "mkfifo "+fifo)
	soon := 0.05
	status, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "cat fifo", WaitS: &soon}, wire.IdempotencyKey, "k")
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "approved", c.Status)
	assert.Nil(t, c.ExitCode)
	code, p := w.API("agent/claude", "POST", keepertest.CommandsPath+"/"+c.ID+"/finalize", nil, nil)
	assert.Equal(t, http.StatusConflict, code, "it runs")
	assert.Equal(t, "conflict", p.Code)
	code, _ = w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/reject", nil, nil)
	assert.Equal(t, http.StatusConflict, code, "it was allowed")

	require.NoError(t, os.WriteFile(fifo, []byte("through"), 0o600))
	status, again := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "cat fifo"}, wire.IdempotencyKey, "k")
	assert.Equal(t, http.StatusCreated, status, "how long one waits makes no other request of it")
	assert.Equal(t, c.ID, again.ID)
	assert.Equal(t, "executed", again.Status)
	assert.Equal(t, "through", again.Stdout)
}

func TestAKeyIsForOneRequestOverRestarts(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	ran := filepath.Join(dir, "ran")
	in := map[string]wire.NewCommand{
		"run":  {Sandbox: b.ID, Command: "pwd"},
		"ask":  {Sandbox: b.ID, Command: "echo x >> ran"},
		"deny": {Sandbox: b.ID, Command: "sudo id"},
	}
	first := map[string]wire.Command{}
	was := map[string]int{}
	for key, c := range in {
		was[key], first[key] = w.Post(c, wire.IdempotencyKey, key)
	}
	same := func(when string) {
		for key, c := range in {
			status, got := w.Post(c, wire.IdempotencyKey, key)
			assert.Equal(t, was[key], status, "%s: %s", key, when)
			assert.Equal(t, first[key].ID, got.ID, "%s: %s", key, when)
			assert.Equal(t, first[key].Status, got.Status, "%s: %s", key, when)
			c.Command += " "
			status, p := w.API("agent/claude", "POST", keepertest.CommandsPath, c, nil, wire.IdempotencyKey, key)
			assert.Equal(t, http.StatusConflict, status, "%s: another request, %s", key, when)
			assert.Equal(t, "conflict", p.Code)
		}
	}
	same("at once")
	require.NoError(t, w.StopServing())
	w.Serve()
	same("after a restart")
	list, err := w.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1, "it was asked once")

	var got wire.Command
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+first["ask"].ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	require.Equal(t, "executed", got.Status, got.Reason)
	first["ask"], was["ask"] = got, http.StatusCreated
	same("when it has run")
	status, _ = w.API("", "DELETE", keepertest.SandboxesPath+"/"+b.ID, nil, nil)
	require.Equal(t, http.StatusNoContent, status)
	same("when its sandbox is gone")
	text, err := os.ReadFile(ran)
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text), "it ran once")

	var other wire.Sandbox
	status, p = w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/other", Host: "there", Path: dir}, &other)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	status, _ = w.API("agent/other", "POST", keepertest.CommandsPath, wire.NewCommand{Sandbox: other.ID, Command: "pwd"}, nil, wire.IdempotencyKey, "run")
	assert.Equal(t, http.StatusCreated, status, "another's keys are others")
}
