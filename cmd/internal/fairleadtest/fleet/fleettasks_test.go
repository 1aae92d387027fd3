package fleet_test

import (
	"bufio"
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
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// What operators do with a hundred machines of which some are in trouble: one real server at 127.0.1.1 to 127.0.1.100, one
// keeper, and the tasks one after the other. They are done over the socket and by agents too, where those can do them. Much of it
// is waiting for limits: two such fleets have half of the tasks each.
func TestFleetTasks(t *testing.T) {
	fairleadtest.TooLongForTheDetector(t)
	t.Parallel()
	needs.Files(t, "testdata/fleet", 22)
	files, err := filepath.Glob("testdata/fleet/*.txtar")
	require.NoError(t, err)
	if needs.Sample { // one fleet with every fourth task
		every := files
		files = nil
		for i := 0; i < len(every); i += 4 {
			files = append(files, every[i])
		}
		fleetTasks(t, files)
		return
	}
	half := len(files) / 2
	for name, files := range map[string][]string{"first": files[:half], "second": files[half:]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleetTasks(t, files)
		})
	}
}

func fleetTasks(t *testing.T, files []string) {
	f := newTroubledFleet(t)
	for _, file := range files {
		params := fairleadtest.ScriptParams(t, "")
		setup := params.Setup
		params.Files = []string{file}
		params.Setup = func(e *testscript.Env) error {
			if err := setup(e); err != nil {
				return err
			}
			for name, value := range f.env {
				e.Setenv(name, value)
			}
			return nil
		}
		params.Cmds["api"], params.Cmds["mcp"] = f.api, f.mcp
		t.Run("one", func(t *testing.T) { testscript.Run(t, params) }) // ends before the next begins: they share what was last run
	}
}

// troubledFleet is a hundred hosts with one keeper.
type troubledFleet struct {
	home string
	env  map[string]string
}

// kinds are what is wrong with which hosts; those behind them are the ones without trouble.
var kinds = []struct {
	name  string
	hosts int
}{{"exit", 5}, {"hang", 5}, {"refused", 5}, {"changed", 5}, {"slow", 3}, {"full", 3}, {"nosudo", 2}, {"password", 2}}

func newTroubledFleet(t *testing.T) *troubledFleet {
	const fleet = 100
	home, err := os.MkdirTemp("", "fl") // not t.TempDir: a socket's name has 103 bytes at most
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
		return path
	}
	sudo := filepath.Dir(write("sudo/sudo", "#!/bin/sh\nwhile test \"$1\" != --; do shift; done\nshift\nexec env ROOT=yes \"$@\"\n"))
	password := filepath.Dir(write("password/sudo", "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n"))
	path := os.Getenv("PATH")
	serve := func(path string) (sshd *sessiontest.SSHD, port string) { // one for each place where programs are looked for
		sshd = sessiontest.OpenSSHD(t, "ListenAddress 0.0.0.0", "MaxStartups 500", "SetEnv HOME="+home+" PATH="+path)
		_, port, err := net.SplitHostPort(sshd.Addr)
		require.NoError(t, err)
		return sshd, port
	}
	sshd, port := serve(sudo + ":" + path)
	bare, barePort := serve(without(t, path, "sudo"))
	asking, askingPort := serve(password + ":" + path)
	other, err := sshserver.NewKey()
	require.NoError(t, err)
	var keys strings.Builder
	for _, server := range []*sessiontest.SSHD{sshd, bare, asking} {
		_, port, err := net.SplitHostPort(server.Addr)
		require.NoError(t, err)
		fmt.Fprintf(&keys, "[127.0.1.*]:%s %s", port, ssh.MarshalAuthorizedKey(server.HostKey))
	}
	known := write("known_hosts", keys.String())
	changed := write("changed_hosts", fmt.Sprintf("[127.0.1.*]:%s %s", port, ssh.MarshalAuthorizedKey(other.PublicKey())))

	full := "/dev/full"
	if fairleadtest.CanMount() {
		disk := filepath.Join(home, "disk")
		require.NoError(t, os.Mkdir(disk, 0o700))
		require.NoError(t, exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk).Run())
		t.Cleanup(func() { _ = exec.Command("umount", disk).Run() })
		full = filepath.Join(disk, "file")
	}
	env := map[string]string{}
	var config, inventory strings.Builder
	inventory.WriteString("version: 1\nhosts:\n")
	n := 0
	add := func(kind string, count int, ssh string) {
		from := n + 1
		for range count {
			n++
			fmt.Fprintf(&config, "Host node%03d\n\tHostName 127.0.1.%d\n%s", n, n, ssh)
		}
		fmt.Fprintf(&inventory, "  - {name: \"node[%03d-%03d]\", ssh_config: %s, tier: dev, labels: [\"kind=%s\"], env: [\"KIND=%s\", \"FULL=%s\"]}\n",
			from, n, filepath.Join(home, "ssh_config"), kind, kind, full)
	}
	for _, k := range kinds {
		lines := ""
		switch k.name {
		case "refused":
			lines = "\tPort 1\n"
		case "changed":
			lines = "\tUserKnownHostsFile " + changed + "\n"
		case "nosudo":
			lines = "\tPort " + barePort + "\n\tIdentityFile " + bare.KeyFile + "\n"
		case "password":
			lines = "\tPort " + askingPort + "\n\tIdentityFile " + asking.KeyFile + "\n"
		}
		add(k.name, k.hosts, lines)
	}
	add("ok", fleet-n, "")
	fmt.Fprintf(&config, "Host prod\n\tHostName 127.0.1.200\nHost *\n\tPort %s\n\tUser %s\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n",
		port, sshd.User, sshd.KeyFile, known)
	write("ssh_config", config.String())
	fmt.Fprintf(&inventory, "  - {name: prod, ssh_config: %s, tier: prod, labels: [\"kind=prod\"]}\n", filepath.Join(home, "ssh_config"))
	write("config/fairlead/inventory.yaml", inventory.String())
	write("config/fairlead/policy.yaml", `version: 1
rules:
  - {name: agents, hosts: "tier=dev", principals: ["agent/mcp"], classes: [read-only, write, unknown], verdict: allow, reason: machines for tests}
principals:
  - {name: agent/mcp, max_hosts: 100}
`)
	for _, private := range []string{"ssh_config", "config/fairlead/inventory.yaml", "config/fairlead/policy.yaml"} {
		require.NoError(t, os.Chmod(filepath.Join(home, private), 0o600))
	}

	for name, value := range map[string]string{
		"HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"FAIRLEAD_KEEPER": "require",
	} {
		env[name] = value
	}
	f := &troubledFleet{home: home, env: env}
	f.serve(t)
	return f
}

// serve runs the keeper for the time of the test. It is ended by a signal: the test speaks for an agent too, and may not stop it.
func (f *troubledFleet) serve(t *testing.T) {
	cmd := exec.Command("fairlead", "serve")
	cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
	for name, value := range f.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		assert.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, cmd.Wait(), said.String())
	})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		res, err := f.socket().Get("http://keeper/healthz")
		if assert.NoError(c, err) {
			res.Body.Close()
		}
	}, time.Minute, 20*time.Millisecond)
}

// without is a directory with what stands in the directories of path, but for one program.
func without(t *testing.T, path, program string) string {
	dir := t.TempDir()
	for _, from := range filepath.SplitList(path) {
		entries, _ := os.ReadDir(from)
		for _, e := range entries {
			if e.Name() != program {
				_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())) // the first one counts
			}
		}
	}
	return dir
}

// socket speaks HTTP with the keeper.
func (f *troubledFleet) socket() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(f.home, "fairlead", "keeper.sock"))
	}}}
}

// api METHOD PATH [FILE] sends a request with the file as its body, and prints the answer.
func (f *troubledFleet) api(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: api METHOD PATH [FILE]")
	}
	var body io.Reader = http.NoBody
	if len(args) > 2 {
		body = strings.NewReader(ts.ReadFile(args[2]))
	}
	ctx, cancel := context.WithTimeout(context.Background(), fairleadtest.AwaitAtMost)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, args[0], "http://keeper"+args[1], body)
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	res, err := f.socket().Do(req)
	ts.Check(err)
	defer res.Body.Close()
	ts.Check(brief(ts.Stdout(), res.Body))
	if failed := res.StatusCode >= 300; failed != neg {
		ts.Fatalf("the keeper answers with status %d", res.StatusCode)
	}
}

// brief copies an answer. Of a stream of events it shows a line for each result, and others but for beginnings and output as they are.
func brief(to io.Writer, from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	event := ""
	for lines.Scan() {
		name, data, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "event":
			event = data
		case name == "id", name == "":
		case name != "data":
			fmt.Fprintln(to, strings.TrimSpace(lines.Text()))
		case event == "result", event == "verified":
			var r struct {
				Result struct {
					Host, Status string
					ExitCode     *int `json:"exit_code"`
				}
			}
			if err := json.Unmarshal([]byte(data), &r); err != nil {
				return err
			}
			fmt.Fprintf(to, "%s %s %s", event, r.Result.Host, r.Result.Status)
			if r.Result.ExitCode != nil {
				fmt.Fprintf(to, " %d", *r.Result.ExitCode)
			}
			fmt.Fprintln(to)
		case event == "begin", event == "hosts", event == "output":
		default:
			fmt.Fprintf(to, "%s %s\n", event, data)
		}
	}
	return lines.Err()
}

// mcp TOOL FILE has an agent call a tool with the arguments in the file, and prints what it gets.
func (f *troubledFleet) mcp(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mcp TOOL FILE")
	}
	ctx, cancel := context.WithTimeout(context.Background(), fairleadtest.AwaitAtMost)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "fleet", Version: "1"}, nil)
	s, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://keeper/mcp", HTTPClient: f.socket(), DisableStandaloneSSE: true}, nil)
	ts.Check(err)
	defer s.Close()
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: args[0], Arguments: json.RawMessage(ts.ReadFile(args[1]))})
	ts.Check(err)
	text, err := json.Marshal(res.StructuredContent)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n", text)
	if res.IsError != neg {
		ts.Fatalf("the call says that it failed: %v", res.IsError)
	}
}
