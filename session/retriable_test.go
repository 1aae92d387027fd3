package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// Whatever ends a command that has been sent: it may have done things, and doing them again is nothing to advise.
func TestWhatWasSentIsNeverToldAsRetriable(t *testing.T) {
	for code, end := range map[string]func(t *testing.T, s *session.Session) (session.Result, error){
		"timeout": func(t *testing.T, s *session.Session) (session.Result, error) {
			return s.Run(t.Context(), session.Command{Script: "work", Timeout: time.Second})
		},
		"idle": func(t *testing.T, s *session.Session) (session.Result, error) {
			return s.Run(t.Context(), session.Command{Script: "work", Idle: time.Second})
		},
		"canceled": func(t *testing.T, s *session.Session) (session.Result, error) {
			x := begun(t, s, session.Command{Script: "work"})
			x.Stop()
			r := x.Result()
			return r, r.Err
		},
	} {
		for name, reply := range map[string]reply{"by the keyboard": {Hang: true}, "with its shell": {Hang: true, Ignores: "INT TERM KILL"}} {
			t.Run(code+" "+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
					d.On("work", reply)
					_, err := end(t, on(t, d, web1, permissive()))
					e := asError(t, err)
					assert.Equal(t, code, e.Code)
					assert.True(t, e.Sent)
					assert.False(t, e.Retriable)
				})
			})
		}
	}
}

// An account that is not there, or may not be become, is no other one a moment later.
func TestNoAccountToBecomeIsNotRetriable(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "doas"), []byte("#!/bin/sh\necho \"doas: unknown user $2\" >&2\nexit 1\n"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	p, err := session.NewPool(session.PoolConfig{Dial: localpty.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}})
	require.NoError(t, err)
	defer p.Close()
	_, err = p.Run(t.Context(), hosts.Host{Name: "here", Transport: hosts.Local, Become: hosts.Become{User: "app", Method: "doas"}}, session.Command{Script: "true"})
	e := asError(t, err)
	assert.Equal(t, "become", e.Code)
	assert.False(t, e.Sent)
	assert.False(t, e.Retriable)
}
