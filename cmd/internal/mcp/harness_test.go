package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// asProgram makes the test's own binary be the program.
const asProgram = "FAIRLEAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	// A keeper is started with little of its caller's environment, and must not be taken for a test that starts more.
	if os.Getenv(asProgram) != "" || len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(cli.Main())
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for what must come.
const patience = time.Minute

const here = "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev}\n"

// place is an account's surroundings, where a keeper runs on its own.
type place struct {
	t      testing.TB
	dir    string
	self   string // the program: the binary of a test starts no keeper
	places listen.Places
	env    []string
}

// newPlace writes an inventory. A keeper that was started ends with the test.
func newPlace(t testing.TB, inventory string) *place {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	p := &place{t: t, dir: dir, self: filepath.Join(dir, "fairlead-program"), env: []string{
		asProgram + "=1", "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "FAIRLEAD_KEEPER=require", "SHELL=/bin/sh"}}
	p.places, err = listen.FindPlaces(func(k string) string { return map[string]string{"HOME": dir, "XDG_RUNTIME_DIR": dir}[k] })
	require.NoError(t, err)
	p.write(".config/fairlead/inventory.yaml", inventory)
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.self, program, 0o700))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := reach.Stop(ctx, p.places); !errors.Is(err, reach.ErrNone) {
			assert.NoError(t, err)
		}
		if t.Failed() {
			log, _ := os.ReadFile(p.places.Log)
			t.Logf("%s", log)
		}
		os.RemoveAll(dir)
	})
	return p
}

// write writes a file of the account, for it alone.
func (p *place) write(name, text string) string {
	p.t.Helper()
	name = filepath.Join(p.dir, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(p.t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// command is the program as a child.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.self, args...)
	cmd.Env = p.env
	cmd.Stderr = os.Stderr
	return cmd
}

// run runs the program without a terminal, in a process that no agent has started.
func (p *place) run(args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	var out, errOut bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		require.IsType(p.t, &exec.ExitError{}, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// keeper returns a client of the keeper, starting it where none runs.
func (p *place) keeper() *client.Client {
	p.t.Helper()
	c, err := reach.Dial(p.t.Context(), reach.Config{Places: p.places, Command: []string{p.self, "serve", "--auto"}, Env: p.env})
	require.NoError(p.t, err)
	p.t.Cleanup(c.Close)
	return c
}

// ask waits for a question.
func (p *place) ask(c *client.Client) wire.Approval {
	p.t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		list, err := c.Approvals(p.t.Context())
		require.NoError(p.t, err)
		if len(list) > 0 {
			return list[0]
		}
	}
	require.Fail(p.t, "nobody asks")
	return wire.Approval{}
}

// agent is an agent's side, in a process of its own as agents are.
type agent struct {
	t testing.TB
	*sdk.ClientSession
}

// stdio starts "fairlead mcp", as a child of a shell: so that the shell is what hosts the agent, and not this test.
func (p *place) stdio(args ...string) *agent {
	p.t.Helper()
	cmd := p.command()
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `"$@"; exit`, "sh", p.self, "mcp"}, args...)
	return connectCommand(p.t, cmd)
}

func connectCommand(t testing.TB, cmd *exec.Cmd) *agent {
	t.Helper()
	return connect(t, &sdk.CommandTransport{Command: cmd})
}

func connect(t testing.TB, tr sdk.Transport) *agent {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).Connect(context.Background(), tr, nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return &agent{t, s}
}

type args = map[string]any

// answer is what of the tools' results is looked at here.
type answer struct {
	State, Status, Stdout, Exec, Run string
	Statuses                         map[string]string
	SessionID                        string `json:"session_id"`
	Error                            *struct{ Code, Message string }
}

func (a *agent) call(tool string, in args) (out answer) {
	a.t.Helper()
	res, err := a.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: in})
	require.NoError(a.t, err)
	raw, err := json.Marshal(res.StructuredContent)
	require.NoError(a.t, err)
	require.NoError(a.t, json.Unmarshal(raw, &out), "%s", raw)
	return out
}

// open opens a session; "" is one without a name.
func (a *agent) open(name string) string {
	a.t.Helper()
	in := args{"host": "here"}
	if name != "" {
		in["name"] = name
	}
	r := a.call("session_open", in)
	require.Nil(a.t, r.Error, "%+v", r.Error)
	return r.SessionID
}

// wait polls until what is asked for holds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	require.Fail(t, "it does not come", what)
}
