package session_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

type loginKey struct{}

func loggedInAs(ctx context.Context) string {
	login, _ := ctx.Value(loginKey{}).(string)
	return login
}

// loggedIn is a connection whose shells know who has logged in.
type loggedIn struct {
	session.Transport
	as string
}

func (l loggedIn) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	if p.Line != "" {
		p.Line = "WHO=" + l.as + "; export WHO; " + p.Line
	}
	return l.Transport.Open(ctx, p)
}

// A call has its commands, warm ones too, over connections that were made with its own login; what calls without one have is what there is.
func TestCallersWithOtherLoginsShareNoConnection(t *testing.T) {
	var mu sync.Mutex
	var dialed []string
	cfg := session.PoolConfig{Session: permissive(), Login: loggedInAs, MaxConnsPerHost: 1, Dial: func(ctx context.Context, h hosts.Host) (session.Transport, error) {
		tr, err := localpty.Dial(ctx, h)
		mu.Lock()
		defer mu.Unlock()
		dialed = append(dialed, loggedInAs(ctx))
		return loggedIn{tr, loggedInAs(ctx)}, err
	}}
	p, err := session.NewPool(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	h := hosts.Host{Name: "here", Transport: hosts.Local, Shell: "sh"}
	who := func(login string) string {
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), loginKey{}, login), time.Minute)
		defer cancel()
		var out strings.Builder
		_, err := p.Run(ctx, h, session.Command{Script: `echo "$WHO"`, Stdout: &out})
		require.NoError(t, err)
		return strings.TrimSpace(out.String())
	}
	assert.Empty(t, who(""))
	for range 3 {
		for _, login := range []string{"ada", "ada", "bob", "bob"} {
			assert.Equal(t, login, who(login))
		}
		assert.Equal(t, "bob", who(""), "whoever has no login has what was asked for last")
	}
	assert.Equal(t, []string{"", "ada", "bob"}, dialed)

	s, err := p.Open(h) // a session keeps its connection, whoever goes on with it
	require.NoError(t, err)
	for _, login := range []string{"ada", "bob", ""} {
		var out strings.Builder
		_, err := s.Run(context.WithValue(t.Context(), loginKey{}, login), session.Command{Script: `echo "$WHO"`, Stdout: &out})
		require.NoError(t, err)
		assert.Equal(t, "ada\n", out.String())
	}
	require.NoError(t, s.Close())
	p.CloseIdle()
	assert.Eventually(t, func() bool { return session.Keys(p) == 0 }, time.Minute, time.Millisecond)
}
