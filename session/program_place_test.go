package session_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestEveryProgramOfASessionIsStartedAsItsConfigSays(t *testing.T) {
	tr, err := localpty.New(localpty.Config{})
	require.NoError(t, err)
	defer tr.Close()
	var mu sync.Mutex
	var lines []string
	cfg := permissive()
	cfg.Grace = 100 * time.Millisecond
	cfg.Program = func(p session.Program) (session.Program, error) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, p.Line)
		p.Line = "FAIRLEAD_HELD=yes; export FAIRLEAD_HELD; " + p.Line
		return p, nil
	}
	s, err := session.Open(tr, web1, cfg)
	require.NoError(t, err)
	defer s.Close()
	r := succeed(t, s, session.Command{Script: "echo $FAIRLEAD_HELD"})
	assert.Equal(t, "yes\n", string(r.Stdout))
	require.Len(t, lines, 1)
	r, err = s.Run(t.Context(), session.Command{Script: "sh -c \"trap '' INT; sleep 100; sleep 100\"", Timeout: 100 * time.Millisecond})
	require.Error(t, err)
	assert.Equal(t, session.StatusTimeout, r.Status)
	mu.Lock()
	defer mu.Unlock()
	assert.Greater(t, len(lines), 1, "signals are sent from where the shell is")
	for _, line := range lines {
		assert.True(t, strings.HasPrefix(line, "exec sh -c "), line)
	}
}

func TestAProgramThatMayNotBeStartedIsToldAndNothingRuns(t *testing.T) {
	tr, err := localpty.New(localpty.Config{})
	require.NoError(t, err)
	defer tr.Close()
	cfg := permissive()
	cfg.Program = func(session.Program) (session.Program, error) {
		return session.Program{}, errors.New("no place for it")
	}
	s, err := session.Open(tr, web1, cfg)
	require.NoError(t, err)
	defer s.Close()
	r, err := s.Run(t.Context(), session.Command{Script: "echo ran"})
	require.ErrorContains(t, err, "no place for it")
	assert.Equal(t, session.StatusError, r.Status)
	assert.Empty(t, r.Stdout)
	assert.False(t, r.Err.Sent)
}

func TestOneSessionOfAPoolMayBeConfiguredInAWayOfItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("next")
		p := poolOn(t, d, session.PoolConfig{Session: session.Config{Ready: -1}})
		no := policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) { return policy.Decision{}, nil })
		s, err := p.OpenWith(web1, func(c *session.Config) {
			assert.EqualValues(t, -1, c.Ready, "as it was given")
			c.Policy = no
		})
		require.NoError(t, err)
		_, err = s.Run(t.Context(), session.Command{Script: "next"})
		require.ErrorIs(t, err, session.ErrDenied)
		runOK(t, mustOpen(t, p, web1), "next")
		_, err = p.OpenWith(web1, func(c *session.Config) { c.Audit = audit.Sink(nil) })
		require.ErrorContains(t, err, "Audit")
		plain, err := p.OpenWith(web1, nil)
		require.NoError(t, err, "which changes nothing")
		runOK(t, plain, "next")
		require.NoError(t, p.Close())
		_, err = p.OpenWith(web1, func(*session.Config) {})
		require.ErrorIs(t, err, session.ErrClosed)
	})
}
