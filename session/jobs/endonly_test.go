package jobs_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/jobs"
)

func TestEndOnlyWaitsForTheEndAndReturnsTheOutput(t *testing.T) {
	dir := home(t)
	h := on(t, "sh")
	j, _, err := h.Start(t.Context(), jobs.Spec{Command: "echo begun; echo oops >&2; while [ ! -e " + dir + "/go ]; do sleep 0.05; done; echo done"})
	require.NoError(t, err)
	span := jobs.Span{Limit: 1 << 20}
	first, err := h.Look(t.Context(), j.ID, jobs.LookOptions{Wait: 10 * time.Second, Stderr: span}) // for any output
	require.NoError(t, err)
	require.Equal(t, jobs.Running, first.State)

	running, err := h.Look(t.Context(), j.ID, jobs.LookOptions{Wait: time.Second, EndOnly: true, Stdout: span})
	require.NoError(t, err)
	assert.Equal(t, jobs.Running, running.State)
	assert.Equal(t, "begun\n", string(running.Stdout), "also of one that runs on")

	require.NoError(t, os.WriteFile(dir+"/go", nil, 0o600))
	end, err := h.Look(t.Context(), j.ID, jobs.LookOptions{Wait: 30 * time.Second, EndOnly: true, Stdout: span, Stderr: jobs.Span{Offset: 2, Limit: 2}})
	require.NoError(t, err)
	assert.Equal(t, jobs.Ended, end.State)
	assert.Equal(t, "begun\ndone\n", string(end.Stdout))
	assert.Equal(t, "ps", string(end.Stderr))
	_, err = h.Remove(t.Context(), j.ID, "")
	require.NoError(t, err)
}
