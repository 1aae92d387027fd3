package sshconn_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestADialThatFailsSaysWhatHappenedAndWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		faults sshserver.Faults
		is     error
		early  bool
		step   sshconn.Step
		says   []string
	}{
		"a server that is too busy is quoted": {
			faults: sshserver.Faults{Prelude: "Exceeded MaxStartups\r\n"}, early: true, step: sshconn.StepGreet,
			says: []string{`says "Exceeded MaxStartups"`},
		},
		"another service is quoted, fit for a terminal": {
			faults: sshserver.Faults{Prelude: "220 mail\x1b[31m ready\r\n" + strings.Repeat("x", 5000)}, early: true, step: sshconn.StepGreet,
			says: []string{`says "220 mail?[31m ready xxx`},
		},
		"version 1 is not spoken": {
			faults: sshserver.Faults{Prelude: "SSH-1.5-old\r\n"}, early: true, step: sshconn.StepGreet,
			says: []string{`it speaks version 1 of SSH alone ("SSH-1.5-old"), which is not safe`},
		},
		"a key that nobody takes is named": {
			faults: sshserver.Faults{RefuseAuth: true}, is: session.ErrAuth, step: sshconn.StepLogin,
			says: []string{"tester may not log in; offered ssh-ed25519 SHA256:", "(given)", "authorized_keys?"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := sessiontest.Server(t, sshserver.Config{Faults: c.faults})
			_, err := static(t, server).Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
			var e *sshconn.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "web1", e.Host)
			assert.Equal(t, server.Addr(), e.Addr)
			assert.Equal(t, c.early, e.Early)
			assert.Equal(t, c.step, e.Step)
			if c.is != nil {
				assert.ErrorIs(t, err, c.is)
			} else {
				assert.NotErrorIs(t, err, session.ErrAuth)
				assert.NotErrorIs(t, err, session.ErrHostKey)
			}
			for _, says := range append(c.says, "sshconn: web1 ("+server.Addr()+"): ") {
				assert.ErrorContains(t, err, says)
			}
			assert.Less(t, len(err.Error()), 1024)
			assert.NotContains(t, err.Error(), "\x1b")
		})
	}
}

func TestAPortWhereNothingListensIsToldApart(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	_, err := static(t, server).Dial(t.Context(), sessiontest.Host(t, "web1", closedPort(t)))
	assert.ErrorContains(t, err, "connection refused: nothing listens there; is sshd running, is the port right?")
}

func TestANameWithoutAnAddressIsToldApart(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	d := trusting(t, sshconn.Network{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "web1.example", IsNotFound: true}}
	}}, server)
	_, err := d.Dial(t.Context(), hosts.Host{Name: "web1.example", User: "u"})
	assert.ErrorContains(t, err, "the name web1.example has no address")
}

func TestAServerThatHangsUpAtOnceIsToldApart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	server := sessiontest.Server(t, sshserver.Config{})
	_, err = static(t, server).Dial(t.Context(), sessiontest.Host(t, "web1", l.Addr().String()))
	var e *sshconn.Error
	require.ErrorAs(t, err, &e)
	assert.True(t, e.Early)
	assert.ErrorContains(t, err, "hung up before it said anything")
}

// The port of a connection at this end is another one each time, and hosts that fail alike are shown together.
func TestWhyAServerCannotBeReachedNamesNoAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.(*net.TCPConn).SetLinger(0) // a reset
			c.Close()
		}
	}()
	server := sessiontest.Server(t, sshserver.Config{})
	_, err = static(t, server).Dial(t.Context(), sessiontest.Host(t, "web1", l.Addr().String()))
	var e *sshconn.Error
	require.ErrorAs(t, err, &e)
	assert.NotContains(t, e.Err.Error(), "127.0.0.1")

	unrouted := &net.OpError{Op: "dial", Net: "tcp", Addr: l.Addr(), Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}
	d := trusting(t, sshconn.Network{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, unrouted }}, server)
	_, err = d.Dial(t.Context(), hosts.Host{Name: "web1", Addr: "127.0.0.1", User: "u"})
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "cannot be reached: no route to host", e.Err.Error())
	assert.ErrorIs(t, err, syscall.EHOSTUNREACH)
}

// closing closes the connection with the first packet after last was set.
type closing struct {
	net.Conn
	last atomic.Bool
}

func (c *closing) Write(p []byte) (int, error) {
	last := c.last.Load()
	n, err := c.Conn.Write(p)
	if last {
		c.Conn.Close()
	}
	return n, err
}

// A server that says which methods it takes, and is gone then, has not refused anybody.
func TestAServerThatHangsUpBeforeAKeyIsOfferedHasRefusedNobody(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	key, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			c := &closing{Conn: nc}
			cfg := &ssh.ServerConfig{
				PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, errors.New("no") },
				AuthLogCallback:   func(ssh.ConnMetadata, string, error) { c.last.Store(true) },
			}
			cfg.AddHostKey(key)
			_, _, _, err = ssh.NewServerConn(c, cfg)
			assert.Error(t, err)
		}
	})
	defer wg.Wait()
	defer l.Close()
	d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, sessiontest.HostKeys(t, l.Addr().String(), key.PublicKey()))
	require.NoError(t, err)
	for range 50 {
		_, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", l.Addr().String()))
		require.Error(t, err)
		require.NotErrorIs(t, err, session.ErrAuth)
		require.ErrorContains(t, err, "the connection broke while logging in")
	}
}

func TestHostKeysThatAreNotTrustedAreThreeErrors(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	h := sessiontest.Host(t, "web1", server.Addr())
	name := knownhosts.Name(h.Addr, h.Port)
	dialWith := func(t *testing.T, keys ...knownhosts.StaticKey) error {
		t.Helper()
		db, err := knownhosts.Static(keys...)
		require.NoError(t, err)
		d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, db)
		require.NoError(t, err)
		_, err = d.Dial(t.Context(), h)
		require.ErrorIs(t, err, session.ErrHostKey)
		assert.NotErrorIs(t, err, session.ErrAuth)
		assert.ErrorContains(t, err, "sshconn: web1 ("+server.Addr()+"): ")
		return err
	}
	t.Run("unknown", func(t *testing.T) {
		var unknown *knownhosts.UnknownError
		require.ErrorAs(t, dialWith(t), &unknown)
		assert.Equal(t, ssh.FingerprintSHA256(server.HostKey()), unknown.Fingerprint)
	})
	t.Run("changed", func(t *testing.T) {
		var changed *knownhosts.ChangedError
		require.ErrorAs(t, dialWith(t, knownhosts.StaticKey{Host: name, Key: newKey(t).PublicKey()}), &changed)
	})
	t.Run("revoked", func(t *testing.T) {
		var revoked *knownhosts.RevokedError
		require.ErrorAs(t, dialWith(t, knownhosts.StaticKey{Host: "*", Key: server.HostKey(), Revoked: true}), &revoked)
	})
	gone(t, server)
}

func TestAServerThatShowsAnotherKeyIsFoundOutOnTheNextDial(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	d, h := static(t, server), sessiontest.Host(t, "web1", server.Addr())
	dial(t, d, h)
	server.SetFaults(sshserver.Faults{HostKey: newKey(t)})
	_, err := d.Dial(t.Context(), h)
	assert.ErrorIs(t, err, session.ErrHostKey)
}

func TestAServerThatDoesNotStartProgramsSaysSoWithoutTheCommand(t *testing.T) {
	for name, c := range map[string]struct {
		faults sshserver.Faults
		is     error
		says   string
	}{
		"no more sessions": {sshserver.Faults{RefuseOpen: true}, session.ErrFull, "MaxSessions"},
		"no terminal":      {sshserver.Faults{RefusePTY: true}, nil, "gives no terminal"},
		"no command":       {sshserver.Faults{RefuseExec: true}, nil, "starts no command for this account"},
	} {
		t.Run(name, func(t *testing.T) {
			server := sessiontest.Server(t, sshserver.Config{Faults: c.faults})
			tr := dial(t, static(t, server), sessiontest.Host(t, "web1", server.Addr()))
			_, err := tr.Open(t.Context(), session.Program{Line: "secret-command"})
			require.ErrorContains(t, err, c.says)
			if c.is != nil {
				assert.ErrorIs(t, err, c.is)
			} else {
				assert.NotErrorIs(t, err, session.ErrFull)
			}
			assert.NotContains(t, err.Error(), "secret")
			require.NoError(t, tr.(session.Pinger).Ping(t.Context()), "the connection is still good")
		})
	}
}

func TestAFullConnectionHasRoomAgainOnceAProgramIsClosed(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{MaxSessions: 2, Program: echo})
	tr := dial(t, static(t, server), sessiontest.Host(t, "web1", server.Addr()))
	p := session.Program{Line: "x"}
	first, err := tr.Open(t.Context(), p)
	require.NoError(t, err)
	_, err = tr.Open(t.Context(), p)
	require.NoError(t, err)
	_, err = tr.Open(t.Context(), p)
	require.ErrorIs(t, err, session.ErrFull)
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool { // the server frees the room after it has confirmed
		_, err := tr.Open(t.Context(), p)
		return err == nil
	}, 10*time.Second, time.Millisecond)
}

func TestACutConnectionIsALossAndNotAnExit(t *testing.T) {
	for name, cut := range map[string]func(*sshserver.Server){
		"reset":     (*sshserver.Server).Cut,
		"half open": (*sshserver.Server).HalfClose,
	} {
		t.Run(name, func(t *testing.T) {
			server := sessiontest.Server(t, sshserver.Config{Program: echo})
			tr := dial(t, static(t, server), sessiontest.Host(t, "web1", server.Addr()))
			s, err := tr.Open(t.Context(), session.Program{Line: "secret-command"})
			require.NoError(t, err)
			cut(server)

			_, err = io.ReadAll(s)
			require.NoError(t, err, "the end of a stream is io.EOF, whatever ended it")
			_, err = s.Wait()
			require.ErrorIs(t, err, session.ErrClosed)
			assert.ErrorContains(t, err, "web1 ("+server.Addr()+"): the connection was lost")
			assert.ErrorContains(t, err, "did not say how the program ended")
			assert.NotContains(t, err.Error(), "secret")
			assert.ErrorIs(t, tr.Wait(), session.ErrClosed)
			_, err = s.Write([]byte("x"))
			assert.ErrorIs(t, err, session.ErrClosed)
			_, err = tr.Open(t.Context(), session.Program{Line: "x"})
			assert.ErrorIs(t, err, session.ErrClosed)
			assert.ErrorIs(t, tr.(session.Pinger).Ping(t.Context()), session.ErrClosed)
			require.NoError(t, s.Close())
			require.NoError(t, tr.Close())
		})
	}
}

func TestAProgramThatNobodyAccountsForHasNoExit(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{Faults: sshserver.Faults{NoExit: true}})
	tr := dial(t, static(t, server), sessiontest.Host(t, "web1", server.Addr()))
	s, err := tr.Open(t.Context(), session.Program{Line: "true"})
	require.NoError(t, err)
	_, err = s.Wait()
	assert.ErrorContains(t, err, "did not say how the program ended")
	require.NoError(t, tr.(session.Pinger).Ping(t.Context()))
}

func TestASlowConnectionWorks(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	server.Slow(2 * time.Millisecond)
	tr := dial(t, static(t, server), sessiontest.Host(t, "web1", server.Addr()))
	s, err := tr.Open(t.Context(), session.Program{Line: "printf slow"})
	require.NoError(t, err)
	out, err := io.ReadAll(s)
	require.NoError(t, err)
	assert.Equal(t, "slow", string(out))
}

func TestPeerSaysWhoIsThere(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	tr := dial(t, static(t, server), sessiontest.Host(t, "web1", server.Addr()))
	assert.Equal(t, session.Peer{
		Addr: server.Addr(), User: "tester",
		HostKey: ssh.FingerprintSHA256(server.HostKey()), Key: ssh.FingerprintSHA256(server.ClientKey().PublicKey()),
	}, tr.Peer())
}

func TestADialerNeedsWhatItCannotGuess(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	db := sessiontest.HostKeys(t, server.Addr(), server.HostKey())
	_, err := sshconn.New(sshconn.Config{Auth: func(context.Context, hosts.Host) ([]ssh.Signer, error) { return nil, nil }})
	assert.ErrorContains(t, err, "HostKeys is required")
	_, err = sshconn.New(sshconn.Config{HostKeys: db})
	assert.ErrorContains(t, err, "Auth is required")
	_, err = sshconn.Static(nil, db)
	assert.ErrorContains(t, err, "needs a key")
	_, err = static(t, server).Dial(t.Context(), hosts.Host{Name: "web1"})
	assert.ErrorContains(t, err, "sshconn: web1: no user is given")
	_, err = static(t, server).Dial(t.Context(), hosts.Host{Name: "box", Transport: hosts.Command})
	assert.ErrorContains(t, err, "box: it is not reached over SSH")
}

// Programs that are started while the connection goes away hold nobody up.
func TestCloseReturnsWhenProgramsAreStartedAsTheConnectionEnds(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{MaxSessions: 1})
	d := static(t, server)
	for range 100 {
		c, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		_, err = c.Open(t.Context(), session.Program{Line: "exec sleep 100"}) // takes the only place
		require.NoError(t, err)
		var wg sync.WaitGroup
		refused := make(chan struct{}, 1000)
		for range 8 {
			wg.Go(func() {
				for {
					if _, err := c.Open(t.Context(), session.Program{Line: "exec sleep 100"}); !errors.Is(err, session.ErrFull) {
						return
					}
					select {
					case refused <- struct{}{}:
					default:
					}
				}
			})
		}
		<-refused
		server.Cut()
		wg.Wait()
		require.NoError(t, c.Close())
	}
}
