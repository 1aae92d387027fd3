//go:build linux && amd64

package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lastOfOthers is the highest process number in a cage that is there before any command: init, the runner, and a
// process that stands for those of others.
const lastOfOthers = 90

// job is one run, as the runner is asked for it.
type job struct {
	Argv    []string
	Stdin   string // "null" or "pipe": an empty pipe whose other end is closed
	Timeout time.Duration
	Fresh   bool // the directory is to be made anew
	Canary  bool // programs of the parser's test come first in PATH
}

type done struct {
	Status  int
	Endless bool
	Flood   bool
	Left    string
	Output  string
	Failed  string
}

// Cage is one sandbox with a runner in it, which runs one command after the other.
type Cage struct {
	bwrap  *exec.Cmd
	conn   *net.UnixConn
	in     *json.Encoder
	out    *json.Decoder
	listen *listener
	extra  string
	dirty  bool
}

// NewCage starts a sandbox. Extra is a directory whose usr/bin (and so on) holds further programs, "" for none.
func NewCage(extra string) (*Cage, error) {
	c := &Cage{extra: extra, dirty: true}
	err := c.start()
	for try := 0; err != nil && errors.Is(err, os.ErrDeadlineExceeded) && try < 3; try++ { // a busy machine
		err = c.start()
	}
	return c, err
}

func (c *Cage) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "cage"), os.NewFile(uintptr(pair[1]), "runner")
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	args := []string{"--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
	if os.Getuid() == 0 {
		args = append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_KILL", "--cap-add", "CAP_CHOWN",
			"--cap-add", "CAP_DAC_OVERRIDE")
	} else {
		args = append(args, "--unshare-user")
	}
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", "/root", "/home", "/work", "/dev/shm"} {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", dir)
		}
	}
	if c.extra != "" {
		args = append(args, "--ro-bind", c.extra, "/tmp/extra")
	}
	args = append(args, "--ro-bind", self, "/run/oracle", "--chdir", "/tmp", "--setenv", runnerMark, "1", "/run/oracle")
	c.bwrap = exec.Command("bwrap", args...)
	c.bwrap.ExtraFiles = []*os.File{theirs}
	c.bwrap.Stderr = os.Stderr
	c.bwrap.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	if err := c.bwrap.Start(); err != nil {
		return err
	}
	generic, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	c.conn = generic.(*net.UnixConn)
	fd, err := receiveDescriptor(c.conn)
	if err != nil {
		_ = c.bwrap.Process.Kill()
		_ = c.bwrap.Wait()
		return fmt.Errorf("the sandbox did not start: %w", err)
	}
	c.listen = &listener{fd: fd}
	go c.listen.serve()
	c.in, c.out = json.NewEncoder(c.conn), json.NewDecoder(c.conn)
	var ready done
	if err := c.out.Decode(&ready); err != nil {
		return fmt.Errorf("the sandbox did not start: %w", err)
	}
	if ready.Failed != "" {
		return errors.New("the sandbox did not start: " + ready.Failed)
	}
	return nil
}

func receiveDescriptor(conn *net.UnixConn) (int, error) {
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	buf, oob := make([]byte, 1), make([]byte, 64)
	_, n, _, _, err := conn.ReadMsgUnix(buf, oob)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return -1, errors.New("no listener came")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.New("no listener came")
	}
	return fds[0], nil
}

// Close ends the sandbox and all that is in it.
func (c *Cage) Close() {
	_ = c.conn.Close()
	_ = c.bwrap.Process.Kill()
	_ = c.bwrap.Wait()
}

// Run runs one command and reports what it did.
func (c *Cage) Run(argv []string, stdin string, timeout time.Duration, canary bool) Outcome {
	out := c.run(argv, stdin, timeout, canary)
	if out.Failed != "" && out.Failed != tooLong { // one sandbox that broke says nothing about the command
		c.Close()
		c.dirty = true
		if err := c.start(); err != nil {
			return Outcome{Failed: err.Error()}
		}
		return c.run(argv, stdin, timeout, canary)
	}
	return out
}

const tooLong = "the command is longer than the system takes"

func (c *Cage) run(argv []string, stdin string, timeout time.Duration, canary bool) Outcome {
	c.listen.take()
	_ = c.conn.SetDeadline(time.Now().Add(timeout + 20*time.Second))
	if err := c.in.Encode(job{Argv: argv, Stdin: stdin, Timeout: timeout, Fresh: c.dirty, Canary: canary}); err != nil {
		return Outcome{Failed: err.Error()}
	}
	var d done
	if err := c.out.Decode(&d); err != nil {
		return Outcome{Failed: err.Error()}
	}
	events := c.listen.take()
	c.dirty = d.Left != ""
	for _, e := range events {
		c.dirty = c.dirty || e.Kind == Write && !strings.HasPrefix(e.What, "/dev/") || e.Kind == Other
	}
	return Outcome{Events: events, Status: d.Status, Endless: d.Endless, Flood: d.Flood, Left: d.Left, Output: d.Output, Failed: d.Failed}
}
