package jobs

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// result.json of a collected job says what the job was: it was allowed, and it may have dropped output.
func TestTheResultOfAJobSaysWhatItWas(t *testing.T) {
	code, started := 143, time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	ended := started.Add(1500 * time.Millisecond)
	text, err := json.Marshal(resultOf(&wire.Job{
		ID: "web1/j_a", Host: "web1", State: "ended", Command: "make release", ExitCode: &code, StoppedBy: "TERM", MayRun: true,
		Started: &started, Ended: &ended, StdoutBytes: 10, StderrBytes: 4, Omitted: map[string]int64{"stdout": 7},
	}))
	require.NoError(t, err)
	var r struct {
		Command, Status, Started string
		StoppedBy                string `json:"stopped_by"`
		MayRun                   bool   `json:"may_run"`
		DurationMS               int    `json:"duration_ms"`
		StdoutBytes              int    `json:"stdout_bytes"`
		Omitted                  map[string]int64
		Decision                 struct{ Verdict string }
	}
	require.NoError(t, json.Unmarshal(text, &r))
	assert.Equal(t, "make release", r.Command)
	assert.Equal(t, "exit", r.Status)
	assert.Equal(t, "2026-11-21T02:00:00Z", r.Started)
	assert.Equal(t, "TERM", r.StoppedBy)
	assert.True(t, r.MayRun)
	assert.Equal(t, 1500, r.DurationMS)
	assert.Equal(t, 17, r.StdoutBytes, "all that came")
	assert.Equal(t, map[string]int64{"stdout": 7, "stderr": 0}, r.Omitted)
	assert.Equal(t, "allow", r.Decision.Verdict)
}
