package sshconn_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// proxyVariable makes the binary of these tests what netcat is.
const proxyVariable = "SSHCONN_TEST_PROXY"

func proxyMain(addr string) int {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		_, _ = io.Copy(c, os.Stdin)
		os.Exit(0)
	}()
	_, _ = io.Copy(os.Stdout, c)
	return 0
}

// netcat is a ProxyCommand that connects to address.
func netcat(t *testing.T, address string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return "env " + proxyVariable + "=" + address + " '" + self + "'"
}

// proxied returns an account that reaches web1 with a ProxyCommand alone: the name leads nowhere else.
func proxied(t *testing.T, command func(server *sshserver.Server) string) (*account, *sshserver.Server) {
	t.Helper()
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	h := sessiontest.Host(t, "", server.Addr())
	require.NoError(t, knownhosts.Append(a.path("known_hosts"), knownhosts.Name("web1.invalid", h.Port), server.HostKey(), knownhosts.AppendOptions{}))
	a.write("config", fmt.Sprintf("Host web1\n\tHostName web1.invalid\n\tPort %d\n\tUser ada\n\tProxyCommand %s\n", h.Port, command(server)))
	return a, server
}

func TestAProxyCommandConnects(t *testing.T) {
	dir := t.TempDir()
	a, server := proxied(t, func(s *sshserver.Server) string {
		return "sh -c 'echo %h %p %r %n %% >" + dir + "/tokens; echo $$ >" + dir + "/pid; exec " + strings.ReplaceAll(netcat(t, s.Addr()), "'", "") + "'"
	})
	c, err := a.dialer().Dial(t.Context(), web1)
	require.NoError(t, err)
	s, err := c.Open(t.Context(), session.Program{Line: "echo"})
	require.NoError(t, err)
	_, err = io.WriteString(s, "hello\n")
	require.NoError(t, err)
	b := make([]byte, 6)
	_, err = io.ReadFull(s, b)
	require.NoError(t, err)
	assert.Equal(t, "hello\n", string(b))
	_, port, _ := net.SplitHostPort(server.Addr())
	assert.Equal(t, "web1.invalid:"+port, c.Peer().Addr)
	text, err := os.ReadFile(filepath.Join(dir, "tokens"))
	require.NoError(t, err)
	assert.Equal(t, "web1.invalid "+port+" ada web1 %\n", string(text))

	require.NoError(t, c.Close())
	assert.False(t, alive(t, filepath.Join(dir, "pid")), "its life ends with the connection")
}

// alive reports whether the process that a file names lives.
func alive(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return syscall.Kill(pid, 0) == nil
}

func TestAProxyCommandEndsWithAllThatItStarted(t *testing.T) {
	dir := t.TempDir()
	a, _ := proxied(t, func(s *sshserver.Server) string {
		return "sh -c 'trap \"\" HUP; sleep 1000 2>/dev/null & echo $! >" + dir + "/child; " + strings.ReplaceAll(netcat(t, s.Addr()), "'", "") + "; sleep 1000'"
	})
	c, err := a.dialer().Dial(t.Context(), web1)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return !running(t, filepath.Join(dir, "child")) }, 30*time.Second, 10*time.Millisecond)
}

// running is alive, but for a process that only waits for its parent to hear of its end.
func running(t *testing.T, file string) bool {
	t.Helper()
	if !alive(t, file) {
		return false
	}
	pid, _ := os.ReadFile(file)
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strings.TrimSpace(string(pid))).Output()
	return !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestAProxyCommandThatFailsSaysWhy(t *testing.T) {
	for command, want := range map[string]string{
		"sh -c 'echo no route >&2; exit 7'": `config:5) ended with exit status 7 before the connection was made; it says "no route"`,
		"/nowhere/at/all":                   "before the connection was made; it says ",
		"true":                              "config:5) ended before the connection was made",
		"sh -c 'yes flood | head -c 3000000 >&2; echo >&2; exit 1'": "ended with exit status 1 before the connection was made; it says \"flood",
		"sh -c 'kill -9 $$'": "ended with signal: killed before the connection was made",
		"nc %x":              `ProxyCommand: the token "%x" is not known here`,
		"nc %":               "ProxyCommand: a lone %",
	} {
		a, _ := proxied(t, func(*sshserver.Server) string { return command })
		_, err := a.dialer().Dial(t.Context(), web1)
		if assert.ErrorContains(t, err, want, command) {
			assert.Less(t, len(err.Error()), 2000)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func TestAProxyCommandThatNeverSpeaksEndsInTime(t *testing.T) {
	a, _ := proxied(t, func(*sshserver.Server) string { return "sh -c 'echo waiting for a browser >&2; exec sleep 1000'" })
	h := web1
	h.ConnectTimeout = time.Second
	_, err := a.dialer().Dial(t.Context(), h)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "does not connect: it runs, and passes on nothing: no answer within 1s")
	assert.ErrorContains(t, err, `it says "waiting for a browser"`)
}

func TestNamesThatAShellWouldObeyAreNotPutIntoAProxyCommand(t *testing.T) {
	a := newAccount(t)
	for _, name := range []string{"a;touch x", "$(touch x)", "`x`", "a|b", "a&b", "a>b"} {
		a.write("config", "Host *\n\tHostName web1\n\tProxyCommand nc %n %p\n")
		_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: name})
		assert.Error(t, err, name)
		assert.NotContains(t, err.Error(), "exit status", "nothing was started for %s", name)
		a.write("config", "Host *\n\tProxyCommand nc %r %p\n")
		_, err = a.dialer().Dial(t.Context(), hosts.Host{Name: "web1", User: name})
		assert.ErrorContains(t, err, "must not be put into a command line")
	}
}

func TestTheFirstOfProxyJumpAndProxyCommandCounts(t *testing.T) {
	a, server := proxied(t, func(s *sshserver.Server) string { return netcat(t, s.Addr()) + "\n\tProxyJump nowhere.invalid" })
	dial(t, a.dialer(), web1)
	text := read(t, a.path("config"))
	_, port, _ := net.SplitHostPort(server.Addr())
	a.write("config", strings.Replace(text, "\tProxyCommand", "\tProxyJump nowhere.invalid\n\tProxyCommand", 1))
	_, err := a.dialer().Dial(t.Context(), web1)
	assert.ErrorContains(t, err, "nowhere.invalid")
	known := read(t, a.path("known_hosts"))
	a.write("known_hosts", strings.Replace(known, "[web1.invalid]", "[127.0.0.1]", 1))
	a.write("config", "Host web1\n\tHostName 127.0.0.1\n\tPort "+port+"\n\tProxyCommand none\n\tProxyCommand false\n")
	dial(t, a.dialer(), web1)
	a.write("config", "Host web1\n\tProxyJump none\n\tHostName web1.invalid\n\tPort "+port+"\n\tProxyCommand "+netcat(t, server.Addr())+"\n")
	a.write("known_hosts", known)
	dial(t, a.dialer(), web1)
}

// The usual way through a bastion before there was ProxyJump.
func TestSSHItselfIsAProxyCommand(t *testing.T) {
	path, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(t, "ssh is not installed")
	}
	bastion := sessiontest.OpenSSHD(t)
	target := sessiontest.OpenSSHD(t)
	a := newAccount(t)
	h := sessiontest.Host(t, "", target.Addr)
	require.NoError(t, knownhosts.Append(a.path("known_hosts"), knownhosts.Name(h.Addr, h.Port), target.HostKey, knownhosts.AppendOptions{}))
	a.write("config", fmt.Sprintf("Host web1\n\tHostName %s\n\tPort %d\n\tUser %s\n\tIdentityFile %s\n\tProxyCommand %s -F %s -W %%h:%%p sshd\n",
		h.Addr, h.Port, target.User, target.KeyFile, path, bastion.Config))
	c, err := a.dialer().Dial(t.Context(), web1)
	require.NoError(t, err)
	s, err := c.Open(t.Context(), session.Program{Line: "printf through"})
	require.NoError(t, err)
	out, err := io.ReadAll(s)
	require.NoError(t, err)
	assert.Equal(t, "through", string(out))
	require.NoError(t, c.Close())

	require.NoError(t, os.WriteFile(bastion.KnownHosts, nil, 0o600))
	_, err = a.dialer().Dial(t.Context(), web1)
	assert.ErrorContains(t, err, "ended with exit status 255 before the connection was made; it says ")
}

// One that floods its standard error for ever costs neither time nor memory, before the connection and after.
func TestAProxyCommandThatFloodsStandardErrorEndsInTime(t *testing.T) {
	a, _ := proxied(t, func(*sshserver.Server) string { return "sh -c 'exec yes flood >&2'" })
	h := web1
	h.ConnectTimeout = 2 * time.Second
	_, err := a.dialer().Dial(t.Context(), h)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "flood")
	assert.Less(t, len(err.Error()), 2000)
}

// One that dies takes its connection along, and whoever waits hears of it.
func TestAProxyCommandThatDiesLaterLosesTheConnection(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	a, _ := proxied(t, func(s *sshserver.Server) string {
		return "sh -c 'echo $$ >" + pid + "; exec " + strings.ReplaceAll(netcat(t, s.Addr()), "'", "") + "'"
	})
	c, err := a.dialer().DialConn(t.Context(), web1)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	child, err := strconv.Atoi(strings.TrimSpace(read(t, pid)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
	err = c.Wait()
	require.ErrorIs(t, err, session.ErrClosed)
	assert.ErrorContains(t, err, "web1 (web1.invalid:")
	_, err = c.Open(t.Context(), session.Program{Line: "true"})
	assert.ErrorIs(t, err, session.ErrClosed)
}
