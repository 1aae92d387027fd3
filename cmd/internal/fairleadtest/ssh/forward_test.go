package ssh_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// greeter is a service that says hello and gives back in capitals what it gets, until its client has no more.
func greeter(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Write([]byte("hello "))
				text, _ := io.ReadAll(c)
				_, _ = c.Write([]byte(strings.ToUpper(string(text))))
			}()
		}
	}()
	return l.Addr().String()
}

// through is what a service says to "x", through a forward; first is what is sent before that.
func through(addr, first string) string {
	c, err := net.DialTimeout("tcp", addr, time.Minute)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = c.Write([]byte(first + "x"))
	_ = c.(*net.TCPConn).CloseWrite()
	text, _ := io.ReadAll(c)
	return string(text)
}

// forwarding is a call of fairlead forward, which goes on by itself without a keeper.
type forwarding struct {
	a    *asSSH
	cmd  *exec.Cmd // nil where it has ended
	open []wire.Forward
	said *said
}

// said is what a program has said so far.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (a *asSSH) fairlead() string { return filepath.Join(a.dir, "bin", "fairlead") }

func (a *asSSH) forward(n int, args ...string) *forwarding {
	a.t.Helper()
	f := &forwarding{a: a, said: &said{}}
	f.cmd = exec.Command(a.fairlead(), append([]string{"forward", "--json", "sshd"}, args...)...)
	f.cmd.Env, f.cmd.Dir, f.cmd.Stderr = a.env, a.dir, f.said
	out, err := f.cmd.StdoutPipe()
	require.NoError(a.t, err)
	require.NoError(a.t, f.cmd.Start())
	a.t.Cleanup(func() {
		if f.cmd.ProcessState == nil {
			_ = f.cmd.Process.Kill()
			_ = f.cmd.Wait()
		}
	})
	lines := bufio.NewScanner(out)
	for range n {
		if !lines.Scan() {
			_ = f.cmd.Wait()
			require.FailNow(a.t, "it does not begin", "%s", f.said.String())
		}
		var one wire.Forward
		require.NoError(a.t, json.Unmarshal(lines.Bytes(), &one))
		f.open = append(f.open, one)
	}
	return f
}

// end closes all that is forwarded.
func (f *forwarding) end() {
	f.a.t.Helper()
	if f.a.keeps() {
		require.NoError(f.a.t, f.cmd.Wait())
		for _, one := range f.open {
			f.a.ok(f.a.fairlead(), "forward", "close", one.ID)
		}
		return
	}
	require.NoError(f.a.t, f.cmd.Process.Signal(os.Interrupt))
	_ = f.cmd.Wait()
	assert.Equal(f.a.t, 130, f.cmd.ProcessState.ExitCode(), f.said.String())
}

func (a *asSSH) keeps() bool {
	for _, kv := range a.env {
		if kv == "FAIRLEAD_KEEPER=require" {
			return true
		}
	}
	return false
}

// entries are those of the audit log about an id.
func (a *asSSH) entries(id string) (all []audit.Event) {
	a.t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(a.ok(a.fairlead(), "audit", "show", "--json", id)), "\n") {
		var e audit.Event
		require.NoError(a.t, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

func TestPortsAreForwardedJudgedAndRecorded(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		service := greeter(t)
		host, port, _ := net.SplitHostPort(service)
		f := a.forward(4, "--reason", "to see", "-L", "0:"+service, "-R", "127.0.0.1:0:"+service, "-D", "0", "-R", "127.0.0.1:0")
		local, remote, dynamic, there := f.open[0], f.open[1], f.open[2], f.open[3]
		assert.Equal(t, "hello X", through(local.Listen, ""))
		assert.Equal(t, "hello X", through(local.Listen, ""))
		assert.Equal(t, "hello X", through(remote.Listen, ""))
		n, _ := strconv.Atoi(port)
		socks := "\x05\x01\x00\x05\x01\x00\x03" + string(rune(len(host))) + host + string([]byte{byte(n >> 8), byte(n)})
		for _, one := range []wire.Forward{dynamic, there} {
			text := through(one.Listen, socks)
			require.Greater(t, len(text), 12, "%q", text)
			assert.Equal(t, "hello X", text[12:])
		}
		for _, one := range f.open {
			assert.Regexp(t, `^(localhost|127\.0\.0\.1):[1-9]\d*$`, one.Listen, "only the machine itself can connect")
		}
		if a.keeps() {
			var listed []string
			for _, line := range strings.Split(strings.TrimSpace(a.ok(a.fairlead(), "forward", "list")), "\n") {
				cells := strings.Split(line, "\t")
				listed = append(listed, strings.Join(append(cells[1:3], cells[5:8]...), " "))
			}
			assert.Equal(t, []string{
				"sshd -L " + local.Listen + ":" + service + " 2 2 14", "sshd -R " + remote.Listen + ":" + service + " 1 1 7",
				"sshd -D " + dynamic.Listen + " 1 1 7", "sshd -R " + there.Listen + " 1 1 7",
			}, listed)
			assert.Contains(t, a.ok(a.fairlead(), "forward", "list", "--json"), `"received":14`)
		}
		f.end()
		for _, one := range f.open {
			assert.Contains(t, through(one.Listen, ""), "refused", one.Listen)
		}
		for i, want := range []struct {
			command    string
			sent, came int64
			change     string
		}{
			{"-L localhost:0:" + service, 2, 14, "listened on " + local.Listen + ", 2 connections"},
			{"-R 127.0.0.1:0:" + service, 1, 7, "listened on " + remote.Listen + ", 1 connection"},
			{"-D localhost:0", 1, 7, "listened on " + dynamic.Listen + ", 1 connection"},
			{"-R 127.0.0.1:0", 1, 7, "listened on " + there.Listen + ", 1 connection"},
		} {
			events := a.entries(f.open[i].ID)
			require.Len(t, events, 2, want.command)
			request, result := events[0], events[1]
			assert.Equal(t, audit.ForwardRequest, request.Kind)
			assert.Equal(t, want.command, request.Command)
			assert.Equal(t, "to see", request.Reason)
			assert.Equal(t, "allow", request.Verdict)
			assert.NotEmpty(t, request.HostKey)
			assert.Equal(t, audit.ForwardResult, result.Kind)
			assert.Equal(t, "ok", result.Status)
			assert.Equal(t, want.change, result.Change)
			assert.Equal(t, want.sent, result.StdinBytes, want.command)
			assert.Equal(t, want.came, result.StdoutBytes, want.command)
		}
		assert.Contains(t, a.ok(a.fairlead(), "audit", "search", "--since", "1h", "--json"), fmt.Sprintf("nc '%s' %s", host, port), "each connection of -D is judged and recorded")
	})
}

// As with ssh, localhost is 127.0.0.1 and ::1.
func TestForwardsListenOnBothLoopbackAddresses(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		needs.Part(t, "the machine has no ::1")
	}
	l.Close()
	inPlaceOfSSH(t, func(a *asSSH) {
		service := greeter(t)
		both := func(port string) {
			for _, address := range []string{"127.0.0.1", "::1"} {
				assert.Equal(t, "hello X", through(net.JoinHostPort(address, port), ""), address)
			}
		}
		f := a.forward(1, "-L", "0:"+service)
		_, port, _ := net.SplitHostPort(f.open[0].Listen)
		both(port)
		f.end()

		cmd := exec.Command(a.ssh, "-N", "-L", "localhost:0:"+service, "sshd")
		cmd.Env, cmd.Dir = a.env, a.dir
		errOut, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
		lines := bufio.NewScanner(errOut)
		require.True(t, lines.Scan())
		_, rest, ok := strings.Cut(lines.Text(), ": port ")
		require.True(t, ok, lines.Text())
		port, _, _ = strings.Cut(rest, " ")
		both(port)
	})
}

func TestForwardsThatAreConfigured(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		service := greeter(t)
		r := a.run("", a.fairlead(), "forward", "sshd")
		assert.Equal(t, 2, r.Code)
		assert.Contains(t, r.Err, "nothing is forwarded: give -L, -R or -D, or set forwards of sshd in the inventory")
		inventory := filepath.Join(a.dir, ".config/fairlead/inventory.yaml")
		text, err := os.ReadFile(inventory)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(inventory, []byte(strings.Replace(string(text), "tier: dev", `tier: dev, forwards: ["-L 0:`+service+`"]`, 1)), 0o600))
		conf, err := os.ReadFile(a.sshd.Config)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(a.sshd.Config, append([]byte("LocalForward 127.0.0.1:0 "+service+"\nRemoteForward 127.0.0.1:0 "+service+"\nDynamicForward 0\n"), conf...), 0o600))
		f := a.forward(4) // remoteforward, too
		assert.Equal(t, "hello X", through(f.open[0].Listen, ""))
		assert.Equal(t, "hello X", through(f.open[1].Listen, ""))
		assert.Equal(t, "hello X", through(f.open[2].Listen, ""))
		assert.Equal(t, "dynamic", f.open[3].Kind)
		f.end()
	})
}

// As ssh -N does, for programs that keep a tunnel open by the name of a host.
func TestSSHOpensTheForwardsThatAreConfigured(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		for _, args := range [][]string{{"-N"}, {"-f", "-N"}, {"-o", "SessionType=none"}, {"-o", "ClearAllForwardings=yes", "-N", "-L", "0:127.0.0.1:1"}} {
			r := a.run("", a.ssh, append(args, "sshd")...)
			assert.Equal(t, 255, r.Code, "%q", args)
			assert.Contains(t, r.Err, "-N: nothing is run, and nothing is forwarded", "%q", args)
		}
		service := greeter(t)
		conf, err := os.ReadFile(a.sshd.Config)
		require.NoError(t, err)
		configured := append([]byte("LocalForward 127.0.0.1:0 "+service+"\nRemoteForward 127.0.0.1:0 "+service+"\n"), conf...)
		require.NoError(t, os.WriteFile(a.sshd.Config, configured, 0o600))
		cmd := exec.Command(a.ssh, "-N", "-L", "127.0.0.1:0:"+service, "-L", "localhost:0:"+service, "sshd")
		cmd.Env, cmd.Dir = a.env, a.dir
		errOut, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
		lines := bufio.NewScanner(errOut)
		var said []string
		for range 3 { // that of the configuration which is on the command line too is not opened twice
			require.True(t, lines.Scan(), said)
			option, rest, ok := strings.Cut(lines.Text(), ": port ")
			require.True(t, ok, lines.Text())
			port, _, _ := strings.Cut(rest, " ")
			assert.Equal(t, "hello X", through("127.0.0.1:"+port, ""), option)
			said = append(said, strings.TrimPrefix(option, "fairlead: ssh: "))
		}
		assert.Equal(t, []string{"-L 127.0.0.1:0:" + service, "-L localhost:0:" + service, "-R 127.0.0.1:0:" + service}, said)
		require.NoError(t, os.WriteFile(a.sshd.Config, append([]byte("ClearAllForwardings yes\n"), configured...), 0o600))
		r := a.run("", a.ssh, "-N", "sshd")
		assert.Contains(t, r.Err, "-N: nothing is run, and nothing is forwarded")
		require.NoError(t, os.WriteFile(a.sshd.Config, append([]byte("SessionType none\n"), configured...), 0o600))
		r = a.run("", a.ssh, "sshd", "true")
		assert.Contains(t, r.Err, a.sshd.Config+":1: SessionType none and a command exclude each other")
		assert.Empty(t, a.ok(a.ssh, "-o", "SessionType=default", "sshd", "true"))
		tunnel := exec.Command(a.ssh, "sshd")
		tunnel.Env, tunnel.Dir = a.env, a.dir
		errOut, err = tunnel.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, tunnel.Start())
		defer func() { _ = tunnel.Process.Signal(os.Interrupt); _ = tunnel.Wait() }()
		lines = bufio.NewScanner(errOut)
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), "-L 127.0.0.1:0:"+service+": port ")
	})
}

func TestForwardsThatCannotBe(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer taken.Close()
		for want, row := range map[string]struct {
			code int
			args []string
		}{
			"-L " + taken.Addr().String() + ":a:1: listen tcp " + taken.Addr().String() + ": bind: address already in use": {6, []string{"-D", "127.0.0.1:0", "-L", taken.Addr().String() + ":a:1"}},
			"refuses to listen on port": {6, []string{"-R", taken.Addr().String() + ":a:1"}},
			"not [address:]port":        {2, []string{"-D", "1:2:3"}},
			"must be absolute":          {2, []string{"-L", "1:run/x"}},
			"--unlink is for a socket":  {2, []string{"--unlink", "-L", "1:/run/x"}},
			"refuses to listen on /no":  {6, []string{"-R", "/none/x:a:1"}},
		} {
			r := a.run("", a.fairlead(), append([]string{"forward", "sshd"}, row.args...)...)
			assert.Equal(t, row.code, r.Code, "%q: %s", row.args, r.Err)
			assert.Contains(t, r.Err, want)
			assert.Empty(t, r.Out)
		}
		assert.Empty(t, a.ok(a.fairlead(), "forward", "list"), "what was opened with one that failed is closed")
		// A target that refuses ends the connection, and the forward goes on.
		f := a.forward(1, "-L", "0:127.0.0.1:1")
		assert.Empty(t, through(f.open[0].Listen, ""))
		if a.keeps() {
			assert.Contains(t, a.ok(a.fairlead(), "forward", "list"), "127.0.0.1:1: sshd cannot connect to it")
		}
		f.end()
		if !a.keeps() {
			assert.Contains(t, f.said.String(), "127.0.0.1:1: sshd cannot connect to it")
		}
		r := a.run("", a.fairlead(), "forward", "close", "e_nosuch")
		assert.Equal(t, 2, r.Code)
		assert.Contains(t, r.Err, "there is no forward")
		// Agents get only what a rule allows.
		a.env = append(a.env, "CLAUDECODE=1")
		for _, args := range [][]string{{"-L", "0:127.0.0.1:1"}, {"-R", "0:127.0.0.1:1"}, {"-D", "0"}} {
			r := a.run("", a.fairlead(), append([]string{"forward", "sshd"}, args...)...)
			assert.Equal(t, 5, r.Code, "%q: %s", args, r.Err)
			assert.Empty(t, r.Out)
		}
	})
}

func TestAServerThatForwardsNothingSaysSo(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		r := a.run("", a.fairlead(), "forward", "sshd", "-R", "127.0.0.1:0:127.0.0.1:1")
		assert.Equal(t, 6, r.Code, r.Err)
		assert.Contains(t, r.Err, "AllowTcpForwarding or PermitListen may not allow it")
		r = a.run("", a.ssh, "-N", "-R", "127.0.0.1:0:127.0.0.1:1", "sshd")
		assert.Equal(t, 255, r.Code)
		assert.Contains(t, r.Err, "AllowTcpForwarding or PermitListen may not allow it")
		r = a.run("", a.ssh, "-R", "127.0.0.1:0:127.0.0.1:1", "sshd", "echo not run")
		assert.Equal(t, fairleadtest.Outcome{Code: 255, Out: "", Err: r.Err}, r, "as with ExitOnForwardFailure")
	}, "AllowTcpForwarding no")
}

func TestSSHForwardsPortsOfTheHost(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		service := greeter(t)
		cmd := exec.Command(a.ssh, "-N", "-R", "127.0.0.1:0:"+service, "sshd")
		cmd.Env, cmd.Dir = a.env, a.dir
		errOut, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(errOut)
		require.True(t, lines.Scan())
		_, port, ok := strings.Cut(lines.Text(), "-R 127.0.0.1:0:"+service+": port ")
		require.True(t, ok, lines.Text())
		port, _, _ = strings.Cut(port, " ")
		assert.Equal(t, "hello X", through("127.0.0.1:"+port, ""))
		if a.keeps() {
			assert.Contains(t, a.ok(a.fairlead(), "forward", "list"), "-R 127.0.0.1:"+port)
		}
		// A caller that is killed leaves nothing behind.
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if a.keeps() {
			require.Eventually(t, func() bool { return a.ok(a.fairlead(), "forward", "list") == "" }, time.Minute, 20*time.Millisecond)
		}
		require.Eventually(t, func() bool { return strings.Contains(through("127.0.0.1:"+port, ""), "refused") }, time.Minute, 20*time.Millisecond)
		r := a.run("", a.ssh, "-R", "127.0.0.1:0:"+service, "sshd", "echo run")
		assert.Equal(t, 0, r.Code, r.Err)
		assert.Equal(t, "run\n", r.Out)
	})
}

func TestForwardsTakeTheOptionsOfSSH(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		for want, args := range map[string][]string{
			"connection refused":                {"--port", "1"},
			"/nowhere":                          {"--ssh-file", "/nowhere"},
			"nobody-here may not log in":        {"--user", "nobody-here"},
			"127.0.0.1:2: connection refused":   {"--ssh-option", "Port=2"},
			"through 127.0.0.1":                 {"--jump", "127.0.0.1:1"},
			"the SSH agent cannot be forwarded": {"--forward-agent"},
		} {
			r := a.run("", a.fairlead(), append([]string{"forward", "sshd", "-D", "0"}, args...)...)
			assert.NotZero(t, r.Code, "%q", args)
			assert.Contains(t, r.Err, want, "%q", args)
			assert.Empty(t, r.Out)
		}
		require.NoError(t, os.WriteFile(filepath.Join(a.dir, ".config/fairlead/policy.yaml"), []byte(
			"version: 1\nrules:\n  - {name: sure, hosts: sshd, principals: [\"*\"], programs: [\"nc *\"], verdict: ask}\n"), 0o600))
		r := a.run("", a.fairlead(), "forward", "sshd", "-L", "0:127.0.0.1:1")
		assert.Equal(t, 5, r.Code, r.Err)
		a.forward(1, "--yes", "-L", "0:127.0.0.1:1").end()
	})
}

// listener is the process that listens on a port of this machine.
func listener(t *testing.T, port string) int {
	t.Helper()
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		needs.Part(t, "there is no /proc/net/tcp")
	}
	inode := ""
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 9 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", n)) && f[3] == "0A" {
			inode = f[9]
		}
	}
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	require.NoError(t, err)
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); inode != "" && to == "socket:["+inode+"]" {
			pid, err := strconv.Atoi(strings.Split(fd, "/")[2])
			require.NoError(t, err)
			return pid
		}
	}
	t.Fatalf("port %s: nothing listens", port)
	return 0
}

func TestAPortOfTheHostComesBackAfterALostConnection(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		f := a.forward(1, "-R", "0:"+greeter(t))
		_, port, err := net.SplitHostPort(f.open[0].Listen)
		require.NoError(t, err)
		at := net.JoinHostPort("127.0.0.1", port)
		assert.Equal(t, "hello X", through(at, ""))
		for range 2 {
			before := listener(t, port)
			require.NoError(t, syscall.Kill(before, syscall.SIGKILL)) // the connection's own sshd
			require.Eventually(t, func() bool { return through(at, "") == "hello X" }, time.Minute, 20*time.Millisecond)
			assert.NotEqual(t, before, listener(t, port))
		}
		f.end()
		require.Eventually(t, func() bool { return strings.Contains(through(at, ""), "refused") }, time.Minute, 20*time.Millisecond)
	})
}
