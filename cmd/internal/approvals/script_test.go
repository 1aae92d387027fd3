package approvals_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// deskDir has the test's own program be a process that asks, instead of a test.
const deskDir = "APPROVALS_TEST_DESK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(deskDir); dir != "" {
		if err := desk(dir, os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	testscript.Main(m, map[string]func(){"fairlead": func() { os.Exit(cli.Main()) }})
}

// desk asks for a command, after the argv of a program that it runs meanwhile, if any. It prints the id, and then what the
// answer was. It ends with its third descriptor.
func desk(dir string, argv []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	go func() { io.Copy(io.Discard, os.NewFile(3, "life")); cancel() }()
	d := approval.NewDesk(approval.Config{})
	s, err := approval.Listen(d, dir)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	events, stop := d.Subscribe(1)
	defer stop()
	go func() { fmt.Println((<-events).ID) }()
	now := time.Now()
	a, err := d.Approve(ctx, policy.Question{
		Exec: "e_1", Session: "s_1", Principal: "agent/x", Shell: "bash", Command: argv[0], Dir: "/srv",
		Host:     hosts.Host{Name: "web1", Addr: "10.0.0.1", Port: 2222, User: "root", Via: []string{"gate"}, Tier: "prod"},
		Decision: policy.Decision{Verdict: policy.Ask, Class: policy.Write, Rule: "default/agent", Reason: "it writes"},
		Reason:   "it hangs", Asked: now, Expires: now.Add(15 * time.Minute),
	})
	if err == nil {
		fmt.Printf("approved=%v by=%s reason=%s\n", a.Approved, a.By, a.Reason)
	}
	cancel()
	return <-served
}

// running are the desks of a script, by their names.
type (
	running    map[string]*bufio.Scanner
	runningKey struct{}
)

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			dir, err := os.MkdirTemp("", "fl") // the name of a socket must be short
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(dir) })
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_RUNTIME_DIR", dir)
			e.Values[runningKey{}] = running{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"desk": startDesk, "outcome": outcome, "code": code,
		},
		RequireUniqueNames: true,
	})
}

// desk NAME COMMAND starts a process that asks for COMMAND, in a tree of its own, and sets $NAME to the id; "desk -own"
// starts it as a child of who runs the script.
func startDesk(ts *testscript.TestScript, neg bool, args []string) {
	argv := []string{"sh", "-c", `"$0" "$1" & wait`}
	if len(args) > 0 && args[0] == "-own" {
		argv, args = nil, args[1:]
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: desk [-own] NAME COMMAND")
	}
	self, err := os.Executable()
	ts.Check(err)
	argv = append(argv, self, strings.NewReplacer(`\n`, "\n", `\e`, "\x1b", `\b`, "\u202e").Replace(args[1]))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), deskDir+"="+filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "fairlead", "approvals"))
	r, w, err := os.Pipe()
	ts.Check(err)
	cmd.ExtraFiles = []*os.File{r}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	r.Close()
	ts.Defer(func() { w.Close(); io.Copy(io.Discard, out); cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "a_") {
		ts.Fatalf("the desk does not ask: %q", lines.Text())
	}
	ts.Setenv(args[0], lines.Text())
	ts.Value(runningKey{}).(running)[args[0]] = lines
}

// outcome NAME TEXT waits for what the desk was answered, which holds TEXT.
func outcome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: outcome NAME TEXT")
	}
	lines := ts.Value(runningKey{}).(running)[args[0]]
	if !lines.Scan() || !strings.Contains(lines.Text(), args[1]) {
		ts.Fatalf("the answer is %q, and %q was expected", lines.Text(), args[1])
	}
}

// code N COMMAND…: the command exits with exactly N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}
