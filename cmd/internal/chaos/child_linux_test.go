package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
	"github.com/fairlead-ssh/fairlead/session/store/storetest"
)

// The test binary is its own keepers.
const (
	childEnv = "FAIRLEAD_CHAOS_KEEPER" // where its files are
	idEnv    = "FAIRLEAD_CHAOS_ID"
	storeEnv = "FAIRLEAD_CHAOS_STORE"
	skewEnv  = "FAIRLEAD_CHAOS_SKEW" // how far the clock of its audit log is ahead
)

var postgres storetest.Postgres

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := childMain(dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "sandbox-exec" {
		fmt.Fprintln(os.Stderr, sandbox.Confine(os.Args[2], os.Args[3:], os.Environ()))
		os.Exit(126)
	}
	code := m.Run()
	postgres.Stop()
	os.Exit(code)
}

// childMain is a keeper of its own process. It ends on SIGTERM, and when its parent does.
func childMain(dir string) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ahead, err := time.ParseDuration(os.Getenv(skewEnv))
	if err != nil {
		return err
	}
	logs := filepath.Join(dir, "audit")
	sink, err := audit.Open(logs, audit.Config{Now: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		return err
	}
	defer sink.Close()
	st, err := store.Open(ctx, store.Config{URL: os.Getenv(storeEnv), KeyFile: filepath.Join(filepath.Dir(dir), "key")})
	if err != nil {
		return err
	}
	defer st.Close()
	policy := filepath.Join(dir, "policy.yaml")
	return keeper.Serve(ctx, keeper.Config{
		Principal: "operator/ada", Inventory: filepath.Join(dir, "inventory.yaml"), Audit: sink, AuditDir: logs, Store: st, ID: os.Getenv(idEnv),
		Idle: -1, Version: "chaos", Log: os.Stderr, PolicyFiles: []string{policy},
		Policy: func() (*rules.Engine, error) {
			f, err := rules.ReadFile(policy)
			return rules.New(rules.Config{User: f}), err
		},
	}, placesIn(dir), func() { fmt.Println("ready") })
}

func placesIn(dir string) listen.Places {
	return listen.Places{Socket: filepath.Join(dir, "r", "k.sock"), Log: filepath.Join(dir, "k.log")}
}

// member is a keeper that is started again whenever it has ended.
type member struct {
	dir string
	env []string
	log io.Writer

	mu    sync.Mutex // guards what follows
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
	peak  int // KiB, of all that it was
}

// start starts it with a clock that is so far ahead, and waits until it serves.
func (k *member) start(ahead time.Duration) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cmd = exec.Command(self)
	k.cmd.Env = append(append(os.Environ(), childEnv+"="+k.dir, skewEnv+"="+ahead.String()), k.env...)
	k.cmd.Stderr = k.log
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if k.stdin, err = k.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := k.cmd.Start(); err != nil {
		return err
	}
	k.out = bufio.NewReader(out)
	switch line, err := k.out.ReadString('\n'); {
	case err != nil:
		return err
	case line != "ready\n":
		return errors.New(strings.TrimSpace(line))
	}
	return nil
}

// end ends it with a signal: SIGKILL as a power cut does.
func (k *member) end(s syscall.Signal) error {
	k.measure()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cmd == nil || k.cmd.Process == nil || k.out == nil {
		return nil
	}
	if err := k.cmd.Process.Signal(s); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, k.out)
	err := k.cmd.Wait()
	k.cmd = nil
	if s == syscall.SIGKILL {
		return nil
	}
	return err
}

func (k *member) signal(s syscall.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.cmd.Process.Signal(s)
}

// measure returns the most memory that it has had, as the system counts (VmHWM in proc(5)), in KiB.
func (k *member) measure() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cmd == nil || k.cmd.Process == nil {
		return k.peak
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			k.peak = max(k.peak, n)
		}
	}
	return k.peak
}
