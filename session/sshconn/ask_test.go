package sshconn_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

// person answers questions, and remembers them.
type person struct {
	says func(q sshconn.Question) (sshconn.Answer, error)

	mu    sync.Mutex
	asked []sshconn.Question
}

func (p *person) ask(_ context.Context, q sshconn.Question) (sshconn.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	return p.says(q)
}

func typing(secrets ...string) sshconn.Answer {
	var a sshconn.Answer
	for _, s := range secrets {
		a.Secrets = append(a.Secrets, []byte(s))
	}
	return a
}

// asking returns a Dialer that asks p.
func (a *account) asking(p *person) *sshconn.Dialer {
	a.t.Helper()
	cfg := a.defaults()
	cfg.Ask = p.ask
	cfg.TrustCommand = func(h hosts.Host) string { return "trust " + h.Name }
	d, err := sshconn.Default(cfg)
	require.NoError(a.t, err)
	return d
}

var web1 = hosts.Host{Name: "web1"}

func TestAnUnknownKeyIsAQuestion(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.config("HashKnownHosts yes", server)
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{}, nil }}
	d := a.asking(p)
	_, err := d.Dial(t.Context(), web1)
	require.ErrorIs(t, err, session.ErrHostKey)
	assert.ErrorContains(t, err, "its key was not trusted")
	assert.NoFileExists(t, a.path("known_hosts"), "no is no")

	p.says = func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{Trust: true}, nil }
	c := dial(t, d, web1)
	require.Len(t, p.asked, 2)
	q := p.asked[1]
	assert.Equal(t, sshconn.AskHostKey, q.Kind)
	assert.Equal(t, "web1", q.Host)
	assert.Equal(t, server.Addr(), q.Addr)
	assert.Equal(t, ssh.FingerprintSHA256(server.HostKey()), q.Unknown.Fingerprint)
	assert.Equal(t, a.path("known_hosts"), q.File)
	text, err := os.ReadFile(a.path("known_hosts"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "|1|"), "%s", text)
	assert.NoError(t, c.(*sshconn.Conn).CheckHostKey())
	dial(t, d, web1)
	assert.Len(t, p.asked, 2, "it is known now")
}

func TestManyConnectionsToANewHostAreOneQuestion(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.config("", server)
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{Trust: true}, nil }}
	d := a.asking(p)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if c, err := d.Dial(t.Context(), web1); assert.NoError(t, err) {
				c.Close()
			}
		})
	}
	wg.Wait()
	assert.Len(t, p.asked, 1)
}

func TestWhatTheConfigurationSaysAboutUnknownKeys(t *testing.T) {
	for more, want := range map[string]struct {
		asked int
		err   string
	}{
		"":                                 {1, ""},
		"StrictHostKeyChecking ask":        {1, ""},
		"StrictHostKeyChecking yes":        {0, "then record the key: trust web1"},
		"StrictHostKeyChecking accept-new": {0, ""},
		"StrictHostKeyChecking no":         {0, ""},
		"StrictHostKeyChecking ask\nBatchMode yes":        {0, "then record the key: trust web1"},
		"StrictHostKeyChecking accept-new\nBatchMode yes": {0, ""},
		"UserKnownHostsFile none":                         {1, ""},
	} {
		a := newAccount(t)
		a.new = true
		server := accepting(t, a.key("id_ed25519", ""))
		a.config(more, server)
		p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{Trust: true}, nil }}
		c, err := a.asking(p).Dial(t.Context(), web1)
		assert.Len(t, p.asked, want.asked, more)
		if want.err != "" {
			assert.ErrorContains(t, err, want.err, more)
			continue
		}
		if assert.NoError(t, err, more) {
			assert.NoError(t, c.(*sshconn.Conn).CheckHostKey(), more)
			c.Close()
		}
	}
}

func TestAChangedKeyIsNoQuestion(t *testing.T) {
	for _, strict := range []string{"ask", "accept-new", "no"} {
		a := newAccount(t)
		a.new = true
		server := accepting(t, a.key("id_ed25519", ""))
		a.config("StrictHostKeyChecking "+strict, server)
		h := sessiontest.Host(t, "", server.Addr())
		require.NoError(t, knownhosts.Append(a.path("known_hosts"), knownhosts.Name(h.Addr, h.Port), newKey(t).PublicKey(), knownhosts.AppendOptions{}))
		p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{Trust: true}, nil }}
		_, err := a.asking(p).Dial(t.Context(), web1)
		var changed *knownhosts.ChangedError
		require.ErrorAs(t, err, &changed)
		assert.Empty(t, p.asked)
	}
}

// A server waits two minutes for a login, and a person may be at lunch.
func TestAServerThatHangsUpDuringAQuestionIsConnectedToAgain(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.config("", server)
	p := &person{says: func(sshconn.Question) (sshconn.Answer, error) {
		server.Cut()
		return sshconn.Answer{Trust: true}, nil
	}}
	dial(t, a.asking(p), web1)
	assert.Len(t, p.asked, 1)
	assert.Equal(t, 2, server.Accepted())
}

func TestAQuestionEndsWithItsCaller(t *testing.T) {
	a := newAccount(t)
	a.config("", accepting(t, a.key("id_ed25519", "")))
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cfg := a.defaults()
	cfg.Ask = func(qctx context.Context, _ sshconn.Question) (sshconn.Answer, error) {
		cancel(gone)
		<-qctx.Done()
		return sshconn.Answer{}, context.Cause(qctx)
	}
	d, err := sshconn.Default(cfg)
	require.NoError(t, err)
	_, err = d.Dial(ctx, web1)
	assert.ErrorIs(t, err, gone)
}

func TestTheTimeOfAQuestionDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, connect := sessiontest.Pipe(t)
		server := sessiontest.Server(t, sshserver.Config{Listener: listener, Program: echo})
		d, err := sshconn.New(sshconn.Config{
			HostKeys: &knownhosts.DB{},
			Auth:     func(context.Context, hosts.Host) ([]ssh.Signer, error) { return []ssh.Signer{server.ClientKey()}, nil },
			Ask: func(context.Context, sshconn.Question) (sshconn.Answer, error) {
				time.Sleep(time.Hour) // of the test's own clock
				return sshconn.Answer{Trust: true}, nil
			},
			Network: sshconn.Network{DialContext: connect, ConnectTimeout: time.Second},
		})
		require.NoError(t, err)
		c := dial(t, d, hosts.Host{Name: "web1", User: "u"})
		assert.NoError(t, c.(*sshconn.Conn).CheckHostKey(), "trusted for this connection")
		c.Close()
		server.Close()
	})
}
