package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestACommandRunsOnceWhatItNeedsIsReady(t *testing.T) {
	dir := t.TempDir()
	up := filepath.Join(dir, "up")
	h := hosts.Host{Name: "host", Ready: []hosts.Ready{
		{Match: "docker", Check: "test -e " + up + " || { echo is the daemon running >&2; false; }"},
		{Match: "podman", Check: "test -e " + up, Start: "(sleep 0.3; touch " + up + ") >/dev/null 2>&1 &", Wait: 20 * time.Second},
		{Match: "nerdctl", Check: "test -e " + up, Start: "forbidden"},
	}}
	var ran []string
	pol := policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
		ran = append(ran, req.Reason)
		if req.Command == "forbidden" {
			return policy.Decision{Verdict: policy.Deny, Reason: "not by you"}, nil
		}
		return policy.Decision{Verdict: policy.Allow, Class: policy.Unknown}, nil
	})
	s, err := session.Open(transports[0].open(t), h, session.Config{Policy: pol, Audit: audit.Discard{}})
	require.NoError(t, err)
	defer s.Close()

	r, err := s.Run(t.Context(), session.Command{Script: "docker ps"})
	require.ErrorIs(t, err, session.ErrNotReady)
	require.ErrorContains(t, err, "docker: the check of its readiness hook failed: is the daemon running")
	assert.Equal(t, "not_ready", r.Err.Code)
	assert.False(t, r.Err.Sent)
	r, err = s.Run(t.Context(), session.Command{Script: "nerdctl ps"})
	require.ErrorIs(t, err, session.ErrDenied)
	assert.Equal(t, session.StatusError, r.Status)
	succeed(t, s, session.Command{Script: "echo nothing to do with docker"})
	ran = nil
	r, err = s.Run(t.Context(), session.Command{Script: "podman --version 2>/dev/null || true"})
	require.NoError(t, err)
	assert.Equal(t, []string{"", "readiness check", "readiness start", "readiness check"}, ran[:4], "judged like any other")
	_, err = os.Stat(up)
	require.NoError(t, err)
	r, err = s.Run(t.Context(), session.Command{Script: "/usr/bin/docker --nothing 2>/dev/null || echo ran"})
	require.NoError(t, err)
	assert.Equal(t, "ran\n", string(r.Stdout))
}
