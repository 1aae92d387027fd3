package fairleadtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Gorace is for the program that a test starts with an environment of its own: under the race detector a program sleeps for
// a second before it ends unless this says otherwise.
var Gorace = "GORACE=" + os.Getenv("GORACE")

// ScriptParams says how the scripts in dir are run: the program as a process of its own, with nothing of this machine's configuration.
func ScriptParams(t *testing.T, dir string) testscript.Params {
	example := filepath.Join(Root(t), "inventory.example.yaml")
	return testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("AUDIT", filepath.Join(e.WorkDir, "state", "fairlead", "audit"))
			e.Setenv("EXAMPLE", example)
			e.Values[fifoKey{}] = fifos{}
			return keeperSurroundings(e)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": code, "fifo": fifo, "await": await, "tmpfs": tmpfs, "sshd": sshd,
		},
		Condition: func(cond string) (bool, error) {
			if cond == "mounts" {
				if !CanMount() && os.Getenv("CI") == "true" {
					return false, errors.New("no tmpfs can be mounted, and with CI=true it must be had")
				}
				return CanMount(), nil
			}
			if cond == "held" {
				if !canHold() && os.Getenv("CI") == "true" {
					return false, errors.New("no shell can be held to reading, and with CI=true that must be had")
				}
				return canHold(), nil
			}
			return false, errors.New("unknown condition")
		},
		RequireUniqueNames: true,
	}
}

// canHold reports whether this machine's kernel can hold a shell to reading.
var canHold = sync.OnceValue(func() bool {
	tr, err := localpty.New(localpty.Config{})
	if err != nil {
		return false
	}
	defer tr.Close()
	s, err := session.Open(tr, hosts.Host{Name: "here", Transport: hosts.Local}, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
	if err != nil {
		return false
	}
	defer s.Close()
	_, err = s.HeldBy(context.Background())
	return err == nil
})

// code N COMMAND…: the command exits with exactly N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// fifo NAME makes a FIFO, for a program to say through it how far it is.
func fifo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fifo NAME")
	}
	name := ts.MkAbs(args[0])
	ts.Check(syscall.Mkfifo(name, 0o600))
	// Open both ways, so that no side waits for the other, and pollable, so that await can give up.
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	ts.Check(err)
	ts.Defer(func() { f.Close() })
	ts.Value(fifoKey{}).(fifos)[name] = f
}

// fifos are a script's open FIFOs; fifoKey finds them.
type (
	fifos   map[string]*os.File
	fifoKey struct{}
)

// AwaitAtMost is when a test that hangs is given up.
const AwaitAtMost = 5 * time.Minute

// await NAME TEXT waits until the text has come through the FIFO.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await NAME TEXT")
	}
	f := ts.Value(fifoKey{}).(fifos)[ts.MkAbs(args[0])]
	ts.Check(f.SetReadDeadline(time.Now().Add(AwaitAtMost)))
	var seen []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(seen, []byte(args[1])) {
		n, err := f.Read(buf)
		seen = append(seen, buf[:n]...)
		if err != nil {
			tellWhereTheyHang(ts)
			ts.Fatalf("%s: %v, and no %q in %q", args[0], err, args[1], seen)
		}
	}
}

// tellWhereTheyHang has the programs of a script that is given up write where their goroutines are: into the output of those that run in the
// background, and into the keeper's log, which it prints with the list of processes.
func tellWhereTheyHang(ts *testscript.TestScript) {
	home := []byte("\x00HOME=" + ts.Getenv("HOME") + "\x00")
	for _, file := range globbed("/proc/[0-9]*/environ") {
		dir := filepath.Dir(file)
		pid, _ := strconv.Atoi(filepath.Base(dir))
		environment, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environment...), home) {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
		where, _ := os.ReadFile(filepath.Join(dir, "wchan"))
		ts.Logf("%s in %s", bytes.TrimSpace(stat), where)
		if program, _ := os.Readlink(filepath.Join(dir, "exe")); filepath.Base(program) == filepath.Base(os.Args[0]) || filepath.Base(program) == "fairlead" {
			syscall.Kill(pid, syscall.SIGQUIT)
			for range 500 { // it writes, and is gone
				if syscall.Kill(pid, 0) != nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	for _, file := range globbed(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "fairlead", "*.log")) {
		text, _ := os.ReadFile(file)
		ts.Logf("%s:\n%s", file, text)
	}
}

func globbed(pattern string) []string {
	files, _ := filepath.Glob(pattern)
	return files
}

// tmpfs DIR SIZE mounts a file system that is soon full.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tmpfs DIR SIZE")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(exec.Command("mount", "-t", "tmpfs", "-o", "mode=0700,size="+args[1], "tmpfs", dir).Run())
	ts.Defer(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			ts.Logf("umount %s: %v: %s", dir, err, out)
		}
	})
}

// CanMount reports whether the test may mount a file system.
func CanMount() bool {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		return false
	}
	dir, err := os.MkdirTemp("", "fairlead-mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if exec.Command("mount", "-t", "tmpfs", "tmpfs", dir).Run() != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
}

// fields splits "a=b" arguments.
func fields(ts *testscript.TestScript, args []string, known ...string) map[string]string {
	m := map[string]string{}
	for _, a := range args {
		k, v, ok := strings.Cut(a, "=")
		if !ok || !slices.Contains(known, k) {
			ts.Fatalf("unknown argument %q", a)
		}
		m[k] = v
	}
	return m
}

// TooLongForTheDetector leaves a test out that starts hundreds of programs: the race detector makes each start several times
// slower, and other tests run the same code under it.
func TooLongForTheDetector(t *testing.T) {
	t.Helper()
	if needs.Detector {
		t.Skip("it starts too many programs for the race detector")
	}
}

// NotWithTheDetector leaves a test out whose programs are built without the race detector, whatever the test was built with.
func NotWithTheDetector(t *testing.T) {
	t.Helper()
	if needs.Detector {
		t.Skip("what it builds has no race detector")
	}
}
