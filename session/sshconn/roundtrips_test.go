package sshconn_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// farAway is a server that takes half a round trip to reach, and as long to come back from.
type farAway struct {
	addr string
	half time.Duration

	mu   sync.Mutex
	last *trips // of the last connection
}

// trips counts the round trips of one connection.
type trips struct {
	mu    sync.Mutex
	turns int  // how often the client has said something after it had heard something
	heard bool // since it last said something
}

func newFarAway(t *testing.T, addr string, half time.Duration) *farAway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &farAway{addr: l.Addr().String(), half: half}
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer near.Close()
				n := &trips{}
				f.mu.Lock()
				f.last = n
				f.mu.Unlock()
				far, err := net.Dial("tcp", addr)
				if err != nil {
					return
				}
				defer far.Close()
				var both sync.WaitGroup
				both.Go(func() { f.carry(far, near, n.said, func() {}); far.Close() })
				both.Go(func() { f.carry(near, far, func() {}, n.hears); near.Close() })
				both.Wait()
			})
		}
	})
	return f
}

// carry passes what is said on, each piece half a round trip later. in and out are called when a piece comes and goes.
func (f *farAway) carry(to io.Writer, from io.Reader, in, out func()) {
	type piece struct {
		due  time.Time
		text []byte
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		b := make([]byte, 64<<10)
		for {
			n, err := from.Read(b)
			if n > 0 {
				in()
				pieces <- piece{time.Now().Add(f.half), append([]byte{}, b[:n]...)}
			}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for p := range pieces {
		if broken {
			continue
		}
		<-time.After(time.Until(p.due))
		out()
		_, err := to.Write(p.text)
		broken = err != nil
	}
}

// said notes that the client says something.
func (n *trips) said() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.heard {
		n.turns, n.heard = n.turns+1, false
	}
}

// hears notes that it hears something.
func (n *trips) hears() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = true
}

// count returns how often the client of the last connection has waited for the server.
func (f *farAway) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last.mu.Lock()
	defer f.last.mu.Unlock()
	return f.last.turns
}

// Round trips are what a cold connection costs where the way is long.
func TestAColdConnectTakesNoMoreRoundTripsThanTheRealSSH(t *testing.T) {
	client, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(t, "ssh is not installed")
	}
	sshd := sessiontest.OpenSSHD(t)
	far := newFarAway(t, sshd.Addr, 25*time.Millisecond)
	host, port, err := net.SplitHostPort(far.addr)
	require.NoError(t, err)
	text, err := os.ReadFile(sshd.Config)
	require.NoError(t, err)
	_, real, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	changed := strings.Replace(string(text), "Port "+real, "Port "+port+"\n\tHostKeyAlias ["+host+"]:"+real, 1)
	require.NoError(t, os.WriteFile(config, []byte(changed+"\tIdentityAgent none\n\tBatchMode yes\n"), 0o600))
	d, err := sshconn.Default(sshconn.DefaultConfig{Loader: sshconfig.Loader{Home: dir, User: "me"}, Network: sshconn.Network{KeepAlive: -1}})
	require.NoError(t, err)

	for range 2 { // the first one may read files
		out, err := exec.CommandContext(t.Context(), client, "-F", config, "sshd", "true").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	begun := time.Now()
	out, err := exec.CommandContext(t.Context(), client, "-F", config, "sshd", "true").CombinedOutput()
	require.NoError(t, err, "%s", out)
	took, theirs := time.Since(begun), far.count()

	begun = time.Now()
	c, err := d.DialConn(t.Context(), hosts.Host{Name: "sshd", SSHConfig: config})
	require.NoError(t, err)
	dialed := far.count()
	s, err := c.Open(t.Context(), session.Program{Line: "true"})
	require.NoError(t, err)
	_, err = io.ReadAll(s)
	require.NoError(t, err)
	ours := far.count()
	t.Logf("a cold connect, a command and its end over 50 ms: %d round trips in %v (%d until logged in); ssh: %d in %v",
		ours, time.Since(begun).Round(time.Millisecond), dialed, theirs, took.Round(time.Millisecond))
	s.Close()
	require.NoError(t, c.Close())
	assert.LessOrEqual(t, ours, theirs)
}
