package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	command "github.com/fairlead-ssh/fairlead/cmd/internal/mcp"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

// asProgram makes the test's own binary be the program.
const asProgram = "FAIRLEAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(program())
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { os.Exit(code) }))
}

// program is the command with the surroundings that the real program gives it.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ios := iostreams.System(os.Getenv)
	f := &cmdutil.Factory{IO: ios, Getenv: os.Getenv}
	f.Listed = sync.OnceValues(func() (*hosts.Inventory, error) {
		inv, _, err := inventory.Load(f.InventoryFile, inventory.Options{})
		return inv, err
	})
	var sink audit.Sink
	f.Audit = func() (audit.Sink, error) {
		dir, err := f.AuditDir()
		if err != nil {
			return nil, err
		}
		s, err := audit.Open(dir, audit.Config{})
		if err == nil {
			sink = s
		}
		return s, err
	}
	root := &cobra.Command{Use: "fairlead", SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().StringVarP(&f.InventoryFile, "inventory", "i", "", "")
	root.AddCommand(command.NewCmd(f, nil))
	err := root.ExecuteContext(ctx)
	if c, ok := sink.(interface{ Close() error }); ok {
		c.Close()
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

// place is a child process's surroundings.
type place struct {
	home, inventory string
	host            string   // the name of its host
	env             []string // more variables
}

// newPlace writes an inventory, and a policy file if there is a text for one.
func newPlace(t testing.TB, inv, policy string) place {
	t.Helper()
	p := place{home: t.TempDir(), host: "here"}
	p.inventory = filepath.Join(p.home, "inventory.yaml")
	require.NoError(t, os.WriteFile(p.inventory, []byte(inv), 0o600))
	if policy != "" {
		require.NoError(t, os.MkdirAll(filepath.Join(p.home, ".config", "fairlead"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(p.home, ".config", "fairlead", "policy.yaml"), []byte(policy), 0o600))
	}
	return p
}

// command is the program as a child.
func (p place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"-i", p.inventory, "mcp"}, args...)...)
	cmd.Env = append([]string{asProgram + "=1", "FAIRLEAD_KEEPER=off", "HOME=" + p.home, "PATH=" + os.Getenv("PATH")}, p.env...)
	cmd.Stderr = os.Stderr
	return cmd
}

const here = "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev}\n"

// client is an agent's side.
type client struct {
	t testing.TB
	*mcp.ClientSession
}

// start starts the program and connects; both end with the test.
func (p place) start(t testing.TB, opts *mcp.ClientOptions, args ...string) *client {
	t.Helper()
	return connect(t, &mcp.CommandTransport{Command: p.command(args...)}, opts)
}

func connect(t testing.TB, tr mcp.Transport, opts *mcp.ClientOptions) *client {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	s, err := c.Connect(context.Background(), tr, nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return &client{t, s}
}

type args = map[string]any

// answer is what all tools may give.
type answer struct {
	Host, Session, Exec, Command, State, Status, Signal string
	SessionID                                           string `json:"session_id"`
	ExitCode                                            *int   `json:"exit_code"`
	Stdout, Stderr, Stray, CWD, Shell, Name             string
	StdoutBytes                                         int64 `json:"stdout_bytes"`
	Omitted, Matched                                    map[string]int64
	CutAt                                               map[string]int64 `json:"cut_at"`
	Redacted, Cleaned                                   map[string]int
	Binary                                              []string
	Next                                                string
	StoppedBy                                           string `json:"stopped_by"`
	Closed, Reset                                       bool
	Woke, Note                                          string
	WaitingFor                                          *struct{ Kind, Prompt string } `json:"waiting_for"`
	Screen                                              *struct {
		Lines     []string
		Alternate bool
	}
	Page *struct {
		Stream, Text, Base64 string
		Offset               int64
		Next                 int64 `json:"next_offset"`
		End                  bool
	}
	Content, Base64 string // of file_read
	SHA256          string
	Offset          int64
	NextOffset      int64 `json:"next_offset"`
	NextLine        int   `json:"next_line"`
	Run             string
	Hosts           json.RawMessage
	Statuses        map[string]string
	Groups          []struct {
		Hosts, State, Status, Stdout, Stderr, Exec string
		Count                                      int
		ExitCode                                   *int `json:"exit_code"`
		Execs                                      map[string]string
		Error                                      *struct{ Code, Message, Exec string }
	}
	Error *struct {
		Code, Message, Exec, Next string
		Retriable                 bool
	}
	Decision *struct{ Verdict, Class, Reason, Hint, Approval string }

	IsError bool   `json:"-"`
	Text    string `json:"-"`
	Raw     string `json:"-"`
}

// usual fills in what results leave out.
func (a *answer) usual() {
	zero := 0
	fill := func(state, status string, code **int) string {
		if status == "ok" && *code == nil {
			*code = &zero
		}
		if status != "" && state == "" {
			return "done"
		}
		return state
	}
	a.State = fill(a.State, a.Status, &a.ExitCode)
	for i := range a.Groups {
		g := &a.Groups[i]
		g.Count = max(g.Count, 1)
		g.State = fill(g.State, g.Status, &g.ExitCode)
	}
	if a.State == "" && len(a.Groups) > 0 {
		a.State = "done"
	}
	if len(a.Groups) == 1 && a.Statuses == nil && a.State == "done" {
		a.Statuses = map[string]string{a.Groups[0].Status: a.Groups[0].Hosts}
	}
}

// call calls a tool. Protocol errors fail the test.
func (c *client) call(tool string, a args) answer {
	c.t.Helper()
	return c.callWith(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: a})
}

func (c *client) callWith(ctx context.Context, p *mcp.CallToolParams) answer {
	c.t.Helper()
	res, err := c.CallTool(ctx, p)
	require.NoError(c.t, err)
	var out answer
	raw, err := json.Marshal(res.StructuredContent)
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(raw, &out), "%s", raw)
	require.Len(c.t, res.Content, 1)
	out.Text, out.IsError, out.Raw = res.Content[0].(*mcp.TextContent).Text, res.IsError, string(raw)
	sameFacts(c.t, out.Raw, out.Text)
	out.usual()
	return out
}

// open opens a session.
func (c *client) open(host string) string {
	c.t.Helper()
	r := c.call("session_open", args{"host": host})
	require.Nil(c.t, r.Error, "%+v", r.Error)
	return r.SessionID
}

// exec runs a command in a session.
func (c *client) exec(session, command string, more ...args) answer {
	c.t.Helper()
	a := args{"session_id": session, "command": command}
	for _, m := range more {
		for k, v := range m {
			a[k] = v
		}
	}
	return c.call("session_exec", a)
}
