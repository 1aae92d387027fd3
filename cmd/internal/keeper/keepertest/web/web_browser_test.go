package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// modules puts what tests the page into a directory, with the page beside it. Where what it needs is not here the test is
// skipped, or fails if the environment says CI=true.
func modules(t *testing.T, programs ...string) (dir string, cannot func(string, ...any)) {
	t.Helper()
	cannot = t.Skipf
	if os.Getenv("CI") == "true" {
		cannot = t.Fatalf
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			cannot("tests of the page need %s, which is not here", program)
		}
	}
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "browser"))))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "site"), os.DirFS(filepath.Join("..", "..", "page", "site"))))
	return dir, cannot
}

// browserTime is when a browser is given up.
const browserTime = 5 * time.Minute

// person is somebody at a browser.
type person struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// browse starts a browser, at the version of what drives it that is pinned in testdata/browser.
func browse(t *testing.T) *person {
	t.Helper()
	if testing.Short() {
		t.Skip("it installs packages")
	}
	if needs.Detector {
		t.Skip("what runs in a browser is no code of Go, and starts slowly beside the detector")
	}
	dir, cannot := modules(t, "node", "npm", "chromium")
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		cannot("npm cannot install what drives a browser: %v: %s", err, bytes.TrimSpace(out))
	}
	program, err := exec.LookPath("chromium")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), browserTime)
	cmd := exec.CommandContext(ctx, "node", "steps.mjs")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		defer cancel()
		in.Close() // which ends it
		assert.NoError(t, cmd.Wait())
	})
	v := &person{t: t, in: in, out: bufio.NewReader(out)}
	v.does("start", map[string]string{"program": program})
	return v
}

// does has a step done, and returns what it says.
func (v *person) does(step string, argument any) string {
	v.t.Helper()
	line, err := json.Marshal([]any{step, argument})
	require.NoError(v.t, err)
	_, err = v.in.Write(append(line, '\n'))
	require.NoError(v.t, err)
	line, err = v.out.ReadBytes('\n')
	require.NoError(v.t, err, "%s", line)
	var said struct {
		OK    any
		Error string
		Wrong []string
	}
	require.NoError(v.t, json.Unmarshal(line, &said), "%s", line)
	require.Empty(v.t, said.Error, "%q", said.Wrong)
	text, _ := said.OK.(string)
	return text
}

// link asks for a link to the page.
func link(w *keepertest.World) string {
	w.T.Helper()
	l, err := w.Web(w.T.Context())
	require.NoError(w.T, err)
	return l.URL
}

func TestSomebodyAtTheWebPageSeesAnswersAndTypes(t *testing.T) {
	v := browse(t)
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	require.NoError(t, os.WriteFile(w.Inventory, []byte(keepertest.Here+"  - {name: other, transport: local, tier: dev, login: true, env: [PATH=/odd]}\n"), 0o600))
	b, dir := w.Box("there")
	v.does("enter", link(w))

	// Hidden and hostile characters are seen; what is approved runs.
	const hostile = "<img src=x onerror=alert(1)>"
	_, yes := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch 'made\u200b' # " + hostile + "\n:\t'rаm' ", Reason: "because " + hostile})
	require.Equal(t, "pending", yes.Status, yes.Reason)
	v.does("asked", map[string]any{
		"first": "touch 'made", "exact": `touch 'made\u200b' # ` + hostile + "\n" + `:\t'rаU+0430m'\x20`,
		"marks": []string{`\u200b`, `\t`, `\x20`}, "alike": []string{"а"},
	})
	assert.Contains(t, v.does("text", ".facts"), "because "+hostile)
	v.does("shoot", "ask")
	v.does("approve", nil)
	require.Eventually(t, func() bool {
		w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+yes.ID, nil, &yes)
		return yes.Status == "executed"
	}, keepertest.TerminalTime, 10*time.Millisecond)
	assert.FileExists(t, filepath.Join(dir, "made\u200b"))

	// Who has not seen all of it does not approve it.
	_, long := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch long" + strings.Repeat("\n: and so on", 200)})
	require.Equal(t, "pending", long.Status, long.Reason)
	v.does("key", "j")
	v.does("asked", map[string]any{"first": "touch long", "exact": long.Command, "marks": []string{}, "alike": []string{}})
	v.does("shoot", "long")
	v.does("unarmed", nil)
	v.does("approve", nil)

	_, no := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch never"})
	require.Equal(t, "pending", no.Status, no.Reason)
	v.does("reject", map[string]string{"first": "touch never", "why": "not today"})
	require.Eventually(t, func() bool {
		w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+no.ID, nil, &no)
		return no.Status == "rejected"
	}, keepertest.TerminalTime, 10*time.Millisecond)
	assert.Contains(t, no.Reason, "not today")
	assert.NoFileExists(t, filepath.Join(dir, "never"))

	// What is typed at a program is approved with it, or by itself.
	agent := w.As("agent/claude")
	ask := func(command string) string {
		s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
		require.NoError(t, err)
		r, err := agent.Start(t.Context(), s.ID, wire.Run{Command: command, Interactive: true}, "")
		require.NoError(t, err)
		return r.Exec
	}
	sat := ask(greets)
	v.does("typing", map[string]any{"row": "echo ready", "title": "Command", "begins": "echo ready", "input": true})
	require.Eventually(t, func() bool { // approving is answered before the command has begun
		now, err := agent.Look(t.Context(), sat)
		require.NoError(t, err)
		return strings.Contains(now.Stdout, "ready")
	}, keepertest.TerminalTime, 10*time.Millisecond)
	r := types(w, sat, wire.Input{Text: "ada\n", WaitFor: "hello ada"})
	assert.Contains(t, r.Stdout, "hello ada")
	assert.True(t, r.Decision.WithInput)
	r = types(w, sat, wire.Input{Text: "end\n"})
	assert.Equal(t, "ok", r.Status)
	sat = ask("echo ready; cat")
	require.Eventually(t, func() bool {
		r, err := agent.Look(t.Context(), sat)
		return err == nil && strings.Contains(r.Stdout, "ready")
	}, keepertest.TerminalTime, 10*time.Millisecond)
	typed := make(chan wire.Result, 1)
	go func() { typed <- types(w, sat, wire.Input{Text: "by itself\n", WaitFor: "by itself\r\nby itself"}) }()
	v.does("typing", map[string]any{"row": "typed at", "title": "To be typed", "begins": "by itself", "input": false})
	assert.Contains(t, (<-typed).Stdout, "by itself\r\nby itself")

	// What shapes a command on its hosts is seen before it is approved, and only what is shown is.
	ctx, cancel := context.WithTimeout(t.Context(), keepertest.TerminalTime)
	defer cancel()
	ran := make(chan error, 1)
	go func() {
		_, err := w.As("agent/fleet").RunFleet(ctx, wire.NewRun{Selector: "other,there", Command: "touch strayed"}, (&keepertest.Told{}).Fleet())
		ran <- err
	}()
	v.does("strayed", "touch strayed")
	v.does("must", []string{"On 2 hosts", "PATH=/odd", "the account's profile is read first"})
	cancel() // whoever asked is gone
	<-ran
	v.does("taken", nil)

	// A session is seen as it goes on.
	s := w.OpenSession("here", "demo")
	w.RunIn(w.Client, s.ID, "echo before")
	v.does("open", map[string]string{"view": "2", "item": "demo"})
	v.does("printed", "$ echo before")
	w.RunIn(w.Client, s.ID, "echo to-$((40+2)); echo wrong >&2; exit 3 # \t ")
	v.does("printed", "to-42")
	v.does("printed", "wrong")
	v.does("printed", `#\x20\t\x20`)
	v.does("printed", "exit 3")
	w.RunIn(w.Client, s.ID, "echo fir''st; seq 1 200; echo la''st")
	v.does("scroll", map[string]string{"first": "first", "last": "last"})
	v.does("shoot", "session")
	require.NoError(t, w.CloseSession(t.Context(), s.ID))
	v.does("note", "closed")
	v.does("back", nil)

	// A terminal takes what is typed, and can be looked at later.
	v.does("terminal", map[string]string{
		"host": "here", "line": `echo "=$((40+2))="`, "sees": "=42=", "again": "1234jk?; stty size", "seesAgain": "not found",
	})
	v.does("replay", map[string]string{"item": "here", "sees": "=42="})
	require.Eventually(t, func() bool { // the end comes on record after it is told
		_, _, found := w.Send("GET", "/v1/audit/search?text=touch+never", "")
		return strings.Contains(found, `"rejected"`)
	}, keepertest.TerminalTime, 10*time.Millisecond)
	v.does("search", map[string]string{"text": "touch never", "item": "touch never", "sees": "rejected"})
	v.does("help", nil)

	_, waits := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch waits " + strings.Repeat("x", 200) + strings.Repeat("\n", 50_000)})
	require.Equal(t, "pending", waits.Status, waits.Reason)
	w.OpenSession("here", "a-session-with-a-rather-long-name")
	v.does("phone", nil)
	v.does("schemes", nil)
	v.does("flood", "here")
	v.does("clean", nil)

	require.NoError(t, os.RemoveAll(w.Cfg.Recordings))
	require.NoError(t, os.WriteFile(w.Cfg.Recordings, nil, 0o600)) // what cannot be recorded is not begun
	assert.Contains(t, v.does("refused", "here"), "cannot be recorded, so nothing was sent")
	v.does("over", strings.SplitAfter(link(w), "#")[0]+"no-code")
}

func TestAPageThatIsOverLeavesNothingButTerminals(t *testing.T) {
	v := browse(t)
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	b, _ := w.Box("there")
	_, waits := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch waits"})
	require.Equal(t, "pending", waits.Status, waits.Reason)
	v.does("enter", link(w))
	v.does("stays", "here")

	v.does("wired", link(w))
	v.does("hasty", map[string]int{"silence": 40000, "answer": 2000, "long": 60000, "refused": 30000, "pace": 300})
	v.does("silent", nil)
	s := w.OpenSession("here", "demo")
	w.RunIn(w.Client, s.ID, "echo before")
	v.does("open", map[string]string{"view": "2", "item": "demo"})
	v.does("printed", "before")
	v.does("dropped", nil)
	w.RunIn(w.Client, s.ID, "echo to-$((40+2))")
	v.does("printed", "to-42")
	v.does("back", nil)
	v.does("leave", "here")

	v.does("enter", link(w))
	v.does("hasty", map[string]int{"silence": 40000, "answer": 20000, "long": 60000, "refused": 1000, "pace": 300})
	require.NoError(t, w.StopServing())
	v.does("lost", nil)
}

func TestThePageShowsWhomAHostsCommandsBecome(t *testing.T) {
	v := browse(t)
	w := keepertest.Start(t)
	require.NoError(t, os.WriteFile(w.Inventory, []byte("version: 1\nhosts:\n  - {name: there, transport: local, tier: prod, become: app}\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.As("agent/fleet").RunFleet(ctx, wire.NewRun{Selector: "there", Command: "touch became"}, (&keepertest.Told{}).Fleet())
	}()
	v.does("enter", link(w))
	v.does("asked", map[string]any{"first": "touch became", "exact": "touch became", "marks": []string{}, "alike": []string{}})
	assert.Contains(t, v.does("text", ".facts"), "app by sudo")
	cancel()
	<-ended
}

func TestTheModulesOfTheWebPage(t *testing.T) {
	t.Parallel()
	dir, _ := modules(t, "node")
	p := approval.Pending{ID: "a_x", Question: policy.Question{
		Principal: "agent/a", Command: "echo \u202e\xff\ncommand 3\nabc\n", StdinBytes: 3, StdinSHA256: "00", StdinHead: "\x00\n\x01", Asked: time.Now(),
		Host: hosts.Host{Name: "web-1, web-2", Via: []string{"jump", "júmp 2"}, IdentityOnly: true, Sandboxed: true},
		Hosts: []hosts.Host{
			{Name: "web-1", Port: 22, Env: []string{"A=1", "A=2"}, Become: hosts.Become{User: "root"}},
			{Name: "web-2", Become: hosts.Become{User: "app", Method: "doas", ByCall: true}}, {Name: "web-3"},
		},
	}}
	want, err := json.Marshal(map[string]any{
		"id": p.ID, "digest": p.Digest(), "command": []byte(p.Question.Command), "stdin_head": []byte(p.Question.StdinHead),
		"members": [][]byte{[]byte("web-1"), []byte("web-2"), []byte("web-3")}, "becomes": []string{"root by sudo", "app by doas", ""}, "via": [][]byte{[]byte("jump"), []byte("júmp 2")},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ask.bin"), p.Document(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ask.json"), want, 0o600))
	p = approval.Pending{ID: "a_y", Question: policy.Question{Command: "python3", Interactive: true, Asked: time.Now()}}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sat.bin"), p.Document(), 0o600))
	p.WithInput = true
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sat.txt"), []byte(p.Digest()), 0o600))
	p = approval.Pending{ID: "a_z", Question: policy.Question{Command: "python3", Interactive: true, Typed: "print(1)\x04", Asked: time.Now()}}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "typed.bin"), p.Document(), 0o600))
	cmd := exec.CommandContext(t.Context(), "node", "--test")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
