package waits_test

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// accepts takes every connection of a listener until the test ends, and hands each to f, which nothing ends before that.
func accepts(t *testing.T, l net.Listener, f func(net.Conn)) {
	t.Helper()
	var mu sync.Mutex
	var all []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, c)
			mu.Unlock()
			go f(c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		for _, c := range all {
			c.Close()
		}
	})
}

// silent listens, and never says anything.
func silent(t *testing.T, network, addr string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, addr)
	require.NoError(t, err)
	accepts(t, l, func(net.Conn) {})
	return l.Addr()
}

// freezing passes n bytes of the server's on, and then nothing any more, in either direction.
func freezing(t *testing.T, server string, n int64) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	accepts(t, l, func(c net.Conn) {
		s, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		t.Cleanup(func() { s.Close() })
		go io.Copy(s, c)
		io.CopyN(c, s, n)
	})
	return l.Addr()
}

// waitsHome is a home with a keeper of its own and that client configuration.
func waitsHome(t *testing.T, hosts []string, sshConfig string) (home string, env func(more ...string) []string) {
	t.Helper()
	home, _ = fairleadtest.KeeperHome(t)
	file := filepath.Join(home, "ssh_config")
	require.NoError(t, os.WriteFile(file, []byte(sshConfig), 0o600))
	inventory := filepath.Join(home, ".config/fairlead/inventory.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(inventory), 0o700))
	text := "version: 1\nhosts:\n"
	for _, h := range hosts {
		text += fmt.Sprintf("  - {name: %s, ssh_config: %q, tier: dev, connect_timeout: 3s}\n", h, file)
	}
	require.NoError(t, os.WriteFile(inventory, []byte(text), 0o600))
	return home, func(more ...string) []string {
		return append([]string{
			fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=dumb", "SHELL=/bin/sh",
		}, more...)
	}
}

// A host, or what lies before it, that stops answering at any place: every command that reaches it ends, and names the host.
func TestNoCommandWaitsForAHostThatStopsAnswering(t *testing.T) {
	t.Parallel()
	sshd := sessiontest.OpenSSHD(t)
	known := filepath.Join(t.TempDir(), "known_hosts")
	require.NoError(t, os.WriteFile(known, []byte("alias "+string(ssh.MarshalAuthorizedKey(sshd.HostKey))), 0o600))
	var hosts []string
	var config strings.Builder
	host := func(name, rest string) {
		hosts = append(hosts, name)
		fmt.Fprintf(&config, "Host %s\n\tUser %s\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n\tHostKeyAlias alias\n%s",
			name, sshd.User, sshd.KeyFile, known, rest)
	}
	at := func(addr net.Addr) string {
		h, port, err := net.SplitHostPort(addr.String())
		require.NoError(t, err)
		return fmt.Sprintf("\tHostName %s\n\tPort %s\n", h, port)
	}
	host("quiet", at(silent(t, "tcp", "127.0.0.1:0")))
	host("quietjump", "\tHostName 127.0.0.1\n\tProxyJump quiet\n")
	host("quietproxy", "\tProxyCommand sleep 1000\n")
	silentAgent := silent(t, "unix", filepath.Join(t.TempDir(), "agent"))
	host("quietagent", at(silent(t, "tcp", "127.0.0.1:0"))+"\tIdentityAgent "+silentAgent.String()+"\n")
	// The version, the key exchange, its end, and what a session sends, on this machine's sshd.
	for _, n := range []int64{10, 600, 1500, 2200, 2800, 3300, 4200, 5500} {
		host(fmt.Sprint("after", n), at(freezing(t, sshd.Addr, n))+"\tServerAliveInterval 1\n\tServerAliveCountMax 2\n")
	}
	_, env := waitsHome(t, hosts, config.String())
	for _, h := range hosts {
		for keeper, rows := range map[string][][]string{
			"off":     {{"run", h, "--", "true"}, {"run", h, "--program", "--", "true"}, {"jobs", "list", h}, {"doctor", h}},
			"require": {{"run", h, "--timeout", "1s", "--", "true"}, {"exec", h, "--", "true"}, {"hosts", "ping", h}, {"jobs", "start", h, "--", "true"}, {"jobs", "output", h + "/j_" + strings.Repeat("a", 13)}},
		} {
			for _, args := range rows {
				t.Run(keeper+" "+strings.Join(args, " "), func(t *testing.T) {
					t.Parallel()
					r := ends(t, env("FAIRLEAD_KEEPER="+keeper), args...)
					if r.Code != 0 { // what is sent before the freeze may be enough
						assert.Contains(t, r.Out+r.Err, h)
						assert.NotRegexp(t, `(?m)^[^:]*: EOF$`, r.Err)
					}
				})
			}
		}
	}
}

// Every file that Fairlead made is locked by another process: what needs one of them says so.
func TestNoCommandWaitsForALock(t *testing.T) {
	t.Parallel()
	sshd := sessiontest.OpenSSHD(t)
	text, err := os.ReadFile(sshd.Config)
	require.NoError(t, err)
	for _, keeper := range []string{"off", "require"} {
		t.Run(keeper, func(t *testing.T) {
			home, env := waitsHome(t, []string{"sshd"}, string(text))
			r := ends(t, env("FAIRLEAD_KEEPER="+keeper), "run", "sshd", "--", "true")
			require.Zero(t, r.Code, r.Err)
			require.NoError(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				f, err := os.OpenFile(path, os.O_RDWR, 0)
				require.NoError(t, err)
				t.Cleanup(func() { f.Close() })
				_ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // one that is taken already is the keeper's
				_ = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
				return nil
			}))
			for _, args := range [][]string{
				{"run", "sshd", "--", "true"}, {"exec", "sshd", "--", "true"}, {"hosts", "ping", "sshd"}, {"doctor", "sshd"}, {"doctor"},
				{"audit", "tail"}, {"audit", "verify"}, {"audit", "search"}, {"audit", "purge", "--before", "1h"}, {"sessions"}, {"approvals", "list"},
				{"sandbox", "list"}, {"sandbox", "create", "sshd", home, "--for", "agent/a"}, {"jobs", "list", "sshd"}, {"jobs", "start", "sshd", "--", "true"},
			} {
				t.Run(strings.Join(args, " "), func(t *testing.T) {
					t.Parallel()
					r := ends(t, env("FAIRLEAD_KEEPER="+keeper), args...)
					if r.Code != 0 {
						assert.NotEmpty(t, r.Out+r.Err)
					}
					t.Log(r.Code, r.Err)
				})
			}
		})
	}
}

// A keeper that was stopped: what needs it says so.
func TestNoCommandWaitsForAKeeperThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	home, env := waitsHome(t, nil, "")
	inventory := filepath.Join(fairleadtest.Root(t), "inventory.example.yaml")
	run := func(args ...string) fairleadtest.Outcome {
		return ends(t, env("FAIRLEAD_KEEPER=require"), append([]string{"-i", inventory}, args...)...)
	}
	r := run("exec", "demo1", "--", "true")
	require.Zero(t, r.Code, r.Err)
	c, err := net.Dial("unix", filepath.Join(home, "fairlead", "keeper.sock"))
	require.NoError(t, err)
	defer c.Close()
	pid := peer(t, c.(*net.UnixConn))
	require.NoError(t, unix.Kill(pid, unix.SIGSTOP))
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGCONT) })
	for _, args := range [][]string{
		{"run", "all", "--", "true"}, {"exec", "demo1", "--", "true"}, {"sessions"}, {"approvals", "list"}, {"approvals", "approve", "a_none", "--yes"},
		{"sandbox", "list"}, {"hosts", "ping", "all"}, {"doctor"}, {"jobs", "list", "all"}, {"web"}, {"serve", "--stop"}, {"sessions", "close", "demo1"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			r := run(args...)
			assert.NotZero(t, r.Code)
			assert.Contains(t, r.Out+r.Err, "not answer")
			t.Log(r.Code, r.Out, r.Err)
		})
	}
}

// peer is the process at the other end.
func peer(t *testing.T, c *net.UnixConn) int {
	t.Helper()
	raw, err := c.SyscallConn()
	require.NoError(t, err)
	var cred *unix.Ucred
	require.NoError(t, raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }))
	require.NoError(t, err)
	return int(cred.Pid)
}
