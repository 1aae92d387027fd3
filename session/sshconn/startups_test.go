package sshconn_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestAServerThatHangsUpUnheardIsTriedAgain(t *testing.T) {
	a := newAccount(t)
	key := a.key("id_ed25519", "")
	server := accepting(t, key)
	a.write("config", "Host *\n\tHostKeyAlias alias\n")
	a.write("known_hosts", "alias "+line(server)+"\n")
	for _, tt := range []struct {
		drops int64
		says  string
		err   string // "" is none
	}{
		{1, "", ""},
		{3, "", ""},
		{3, "Exceeded MaxStartups\r\n", ""},     // OpenSSH until 9.7
		{3, "Not allowed at this time\r\n", ""}, // and from 9.8 on
		{4, "", "it may be too busy (MaxStartups)"},
		{4, "Exceeded MaxStartups\r\n", `the server says "Exceeded MaxStartups": it is too busy (MaxStartups), or keeps this address out`},
		{4, "Not allowed at this time\r\n", `the server says "Not allowed at this time": it is too busy (MaxStartups), or keeps this address out`},
	} {
		t.Run(fmt.Sprintf("%d times %q", tt.drops, tt.says), func(t *testing.T) {
			t.Parallel()
			var seen atomic.Int64
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			var wg sync.WaitGroup
			defer wg.Wait()
			defer l.Close()
			wg.Go(func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					if seen.Add(1) <= tt.drops {
						_, _ = io.WriteString(c, tt.says)
						c.Close()
						continue
					}
					wg.Go(func() { relay(c, server.Addr()) })
				}
			})
			h := sessiontest.Host(t, "web1", l.Addr().String())
			h.User = "u"
			c, err := a.dialer().Dial(t.Context(), h)
			if tt.err == "" {
				if assert.NoError(t, err) {
					c.Close()
				}
				assert.Equal(t, tt.drops+1, seen.Load())
				return
			}
			assert.ErrorContains(t, err, tt.err)
			assert.ErrorContains(t, err, "; tried 4 times")
			assert.EqualValues(t, 4, seen.Load())
		})
	}
}

func TestAServiceThatSaysAnotherReasonIsNotTriedAgain(t *testing.T) {
	for _, said := range []string{"220 ftp\r\n", "Go away\r\n"} {
		server := sessiontest.Server(t, sshserver.Config{Faults: sshserver.Faults{Prelude: said}})
		_, err := static(t, server).Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		assert.Error(t, err)
		assert.Equal(t, 1, server.Accepted(), said)
	}
}

// Sixty hosts are names of one server that takes three connections at a time that have not logged in.
func TestManyHostsAtOneBusyAddressAllGetIn(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "MaxStartups 3:100:5")
	d := dialerFor(t, sshd)
	var wg sync.WaitGroup
	var failed atomic.Int64
	for range 60 {
		wg.Go(func() {
			c, err := d.Dial(t.Context(), sshd.Host(t, "web1"))
			if !assert.NoError(t, err) {
				failed.Add(1)
				return
			}
			c.Close()
		})
	}
	wg.Wait()
	assert.Zero(t, failed.Load())
	wasBusy(t, sshd)
}

// wasBusy checks that a server has hung up on some: else a test shows nothing.
func wasBusy(t *testing.T, sshd *sessiontest.SSHD) {
	t.Helper()
	log, err := os.ReadFile(sshd.Log)
	require.NoError(t, err)
	assert.Contains(t, string(log), "past MaxStartups")
}

// Sixty hosts behind one bastion that is as busy, and so are they: they are one server.
func TestManyHostsBehindOneBusyBastionAllGetIn(t *testing.T) {
	gate, sshd := sessiontest.OpenSSHD(t, "MaxStartups 3:100:5"), sessiontest.OpenSSHD(t, "MaxStartups 3:100:5")
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	var b strings.Builder
	for name, s := range map[string]*sessiontest.SSHD{"gate": gate, "web*": sshd} {
		host, port, err := net.SplitHostPort(s.Addr)
		require.NoError(t, err)
		fmt.Fprintf(&b, "Host %s\nHostName %s\nPort %s\nUser %s\nIdentityFile %s\nUserKnownHostsFile %s\n", name, host, port, s.User, s.KeyFile, s.KnownHosts)
	}
	require.NoError(t, os.WriteFile(config, []byte(b.String()+"Host web*\nProxyJump gate\nHost *\nIdentitiesOnly yes\nIdentityAgent none\nGlobalKnownHostsFile none\n"), 0o600))
	d, err := sshconn.Default(sshconn.DefaultConfig{Loader: sshconfig.Loader{Home: dir, User: "me"}, Network: sshconn.Network{ConnectTimeout: 2 * time.Minute}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			c, err := d.Dial(t.Context(), hosts.Host{Name: fmt.Sprintf("web%d", i+1), SSHConfig: config})
			if assert.NoError(t, err) {
				c.Close()
			}
		})
	}
	wg.Wait()
	log, err := os.ReadFile(gate.Log)
	require.NoError(t, err)
	wasBusy(t, sshd)
	t.Logf("60 hosts: %d logins to the bastion", strings.Count(string(log), "Accepted publickey"))
}

// relay passes bytes both ways until one side ends.
func relay(c net.Conn, addr string) {
	defer c.Close()
	far, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer far.Close()
	var wg sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		c.Close()
		far.Close()
	}
	wg.Go(func() { pass(far, c) })
	pass(c, far)
	wg.Wait()
}

func line(s *sshserver.Server) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.HostKey())))
}
