package approvals_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig/sshsigtest"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// deskDir has the test's own program be a process that asks, instead of a test.
const (
	deskDir       = "APPROVALS_TEST_DESK"
	deskApprovers = "APPROVALS_TEST_APPROVERS"
	asProgram     = "APPROVALS_TEST_AS_PROGRAM" // has the test's own program be fairlead
	deskLeast     = "APPROVALS_TEST_LEAST"      // the least proof that the policy asks for
)

// What a desk asks for is interactive after the one, and what is typed at it comes after the other.
const (
	deskInteractive = "interactive: "
	deskTyped       = " <- "
)

// input is what an outcome says where what is typed was approved, too.
var input = map[bool]string{true: " with input"}

func TestMain(m *testing.M) {
	if dir := os.Getenv(deskDir); dir != "" {
		if err := desk(dir, os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main())
	}
	testscript.Main(m, map[string]func(){"fairlead": func() { os.Exit(cli.Main()) }, "answers": answers})
}

// desk asks for a command, after the argv of a program that it runs meanwhile, if any. It prints the id, and then what the
// answer was. It ends with its third descriptor.
func desk(dir string, argv []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	go func() { io.Copy(io.Discard, os.NewFile(3, "life")); cancel() }()
	d := approval.NewDesk(approval.Config{Begins: rules.Begins, Approvers: func() ([]approval.Approver, error) {
		return approval.ReadApprovers(os.Getenv(deskApprovers))
	}})
	defer d.Close()
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
	command, typed, isTyped := strings.Cut(argv[0], deskTyped)
	command, interactive := strings.CutPrefix(command, deskInteractive)
	if isTyped {
		interactive = true
	}
	a, err := d.Approve(ctx, policy.Question{
		Interactive: interactive, Typed: typed,
		Exec: "e_1", Session: "s_1", Principal: "agent/x", Shell: "bash", Command: command, Dir: "/srv",
		Host: hosts.Host{Name: "web1", Addr: "10.0.0.1", Port: 2222, User: "root", Via: []string{"gate"}, Tier: "prod"},
		Decision: policy.Decision{Verdict: policy.Ask, Class: policy.Write, Rule: "default/agent", Reason: "it writes",
			LeastProof: approval.Proof(os.Getenv(deskLeast))},
		Reason: "it hangs", Asked: now, Expires: now.Add(15 * time.Minute),
	})
	if err == nil {
		fmt.Printf("approved=%v by=%s proof=%s approver=%s reason=%s\n", a.Approved, a.By, a.Proof, a.Approver, a.Reason+input[a.WithInput]+a.ForSession)
	}
	if a.ForSession != "" { // it holds as long as the process lives
		<-ctx.Done()
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
	needs.Files(t, "testdata/script", 8)
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
			"desk": startDesk, "outcome": outcome, "code": code, "genkey": genkey, "sshagent": sshagent, "mode": mode,
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
	cmd.Env = append(os.Environ(), deskDir+"="+filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "fairlead", "approvals"),
		deskApprovers+"="+filepath.Join(ts.Getenv("HOME"), ".config", "fairlead", "approvers"), deskLeast+"="+ts.Getenv("LEAST"))
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

// genkey FILE [PASSPHRASE] makes a key as ssh-keygen does.
func genkey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: genkey FILE [PASSPHRASE]")
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	ts.Check(err)
	block, err := ssh.MarshalPrivateKey(key, "test")
	if len(args) == 2 {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "test", []byte(args[1]))
	}
	ts.Check(err)
	public, err := ssh.NewPublicKey(key.Public())
	ts.Check(err)
	file := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	ts.Check(os.WriteFile(file+".pub", ssh.MarshalAuthorizedKey(public), 0o600))
}

// sshagent FILE… runs an agent that holds the keys in files without a passphrase, and a security key, of which it writes the
// public half to sk.pub; it sets SSH_AUTH_SOCK. "sshagent -untouched" has the security key sign without a touch.
func sshagent(ts *testscript.TestScript, neg bool, args []string) {
	sk, err := sshsigtest.Make(ssh.KeyAlgoSKED25519)
	ts.Check(err)
	held := &keys{Agent: agent.NewKeyring(), sk: sk}
	if len(args) > 0 && args[0] == "-untouched" {
		held.sk.Flags, args = 0, args[1:]
	}
	for _, file := range args {
		key, err := ssh.ParseRawPrivateKey([]byte(ts.ReadFile(file)))
		ts.Check(err)
		ts.Check(held.Add(agent.AddedKey{PrivateKey: key}))
	}
	ts.Check(os.WriteFile(ts.MkAbs("sk.pub"), ssh.MarshalAuthorizedKey(held.sk.PublicKey()), 0o600))
	dir, err := os.MkdirTemp(ts.Getenv("XDG_RUNTIME_DIR"), "agent")
	ts.Check(err)
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	ts.Check(err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { agent.ServeAgent(held, c); c.Close() })
		}
	})
	ts.Defer(func() { l.Close(); wg.Wait() })
	ts.Setenv("SSH_AUTH_SOCK", socket)
}

// keys is an agent with a security key among its keys.
type keys struct {
	agent.Agent
	mu sync.Mutex
	sk *sshsigtest.SecurityKey
}

func (k *keys) List() ([]*agent.Key, error) {
	list, err := k.Agent.List()
	public := k.sk.PublicKey()
	return append(list, &agent.Key{Format: public.Type(), Blob: public.Marshal(), Comment: "sk"}), err
}

func (k *keys) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if bytes.Equal(key.Marshal(), k.sk.PublicKey().Marshal()) {
		return k.sk.Sign(nil, data)
	}
	return k.Agent.Sign(key, data)
}

// mode MODE FILE: the file has exactly these permissions.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode MODE FILE")
	}
	st, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", st.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s", args[1], got)
	}
}
