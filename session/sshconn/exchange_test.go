package sshconn_test

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Where a server does not answer when keys are to be exchanged again, every call ends, and says why.
func TestAnExchangeOfKeysThatIsNeverAnsweredEndsAllCalls(t *testing.T) {
	sshconn.SetExchangePatience(t, 500*time.Millisecond)
	sshd := sessiontest.OpenSSHD(t)
	m := between(t, sshd)
	a := newAccount(t)
	a.reachesBy(m, sshd, "RekeyLimit 256K")
	c := dial(t, a.dialer(), web1).(*sshconn.Conn)
	p, err := c.Pipe(t.Context(), sshconn.Piped{Line: "cat"})
	require.NoError(t, err)
	_, err = p.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(p, make([]byte, 1)) // the server takes what is written
	require.NoError(t, err)
	other, err := c.Open(t.Context(), session.Program{Line: "cat"})
	require.NoError(t, err)
	m.gate.Lock()
	defer m.gate.Unlock()
	ended := make(chan error, 3)
	go func() {
		var err error
		for err == nil { // little at a time, so that the exchange begins before the server's window ends
			_, err = p.Write(make([]byte, 1<<10))
		}
		ended <- err
	}()
	go func() {
		_, err := p.Read(make([]byte, 1))
		ended <- err
	}()
	go func() {
		_, err := io.ReadAll(other)
		if err == nil {
			_, err = other.Wait()
		}
		ended <- err
	}()
	err = c.Wait()
	require.ErrorIs(t, err, session.ErrClosed)
	assert.ErrorContains(t, err, "nothing came for 500ms while keys were to be exchanged again (RekeyLimit), so the connection is dead")
	for range 3 {
		assert.Error(t, <-ended)
	}
	_, err = c.Pipe(t.Context(), sshconn.Piped{Line: "true"})
	assert.ErrorContains(t, err, "RekeyLimit")
	require.NoError(t, c.Close())
}

// A server that closes channels while they are written to, and others too, holds no exchange up that our side begins.
func TestChannelsThatTheServerClosesDuringAnExchangeOfKeysHoldNothingUp(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "RekeyLimit default none")
	a := newAccount(t)
	a.reaches(sshd, "RekeyLimit 256K")
	c := dial(t, a.dialer(), web1).(*sshconn.Conn)
	rounds := 6
	if needs.Sample { // which makes each of them several times slower
		rounds = 3
	}
	late := time.AfterFunc(2*time.Minute, func() { c.Close() })
	defer late.Stop()
	text := make([]byte, 4<<20)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range rounds {
				p, err := c.Pipe(t.Context(), sshconn.Piped{Line: fmt.Sprintf("head -c %d | wc -c; head -c 300000 /dev/zero", 300_000+i*50_000)})
				if !assert.NoError(t, err) {
					return
				}
				wg.Go(func() { _, _ = p.Write(text) }) // which the program does not read to its end
				_, err = io.Copy(io.Discard, p)
				assert.NoError(t, err)
				exit, err := p.Wait()
				assert.NoError(t, err)
				assert.Equal(t, session.Exit{}, exit)
				p.Close()
			}
		})
	}
	wg.Wait()
	require.NoError(t, c.Ping(t.Context()))
}

// A limit that a login would reach holds no login up.
func TestKeysAreNotExchangedAgainDuringALogin(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	for _, limit := range []string{"16", "300", "2K"} {
		a := newAccount(t)
		a.reaches(sshd, "RekeyLimit "+limit)
		code, _, said := a.asSSH(t, "web1", "true")
		require.Zero(t, code, said)
		c := dial(t, a.dialer(), web1).(*sshconn.Conn)
		out, _, _ := through(t, c, sshconn.Piped{Line: "head -c 1000000 /dev/zero | wc -c; head -c 1000000 /dev/zero"}, "")
		assert.Len(t, out, len("1000000\n")+1000000, limit)
	}
}
