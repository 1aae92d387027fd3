package keeper_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// What a request says and nothing would come of is refused, with its name.
func TestFieldsThatWouldHaveNoEffectAreRefused(t *testing.T) {
	w := keepertest.Start(t)
	w.OpenSession("here", "s")
	run := func(more string) string {
		return `{"id":"r_whatever","host":"here","command":"echo ran >&2; touch ran",` + more + `}`
	}
	for name, tt := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"sums of one host":              {"POST", "/v1/runs", run(`"sums":["x"]`), 422, "sums has no effect on a single host or a session"},
		"a part of one host":            {"POST", "/v1/runs", run(`"partial":true`), 422, "partial has no effect"},
		"forks of one host":             {"POST", "/v1/runs", run(`"forks":3`), 422, "forks has no effect"},
		"connecting to one host":        {"POST", "/v1/runs", run(`"connect_timeout_s":3`), 422, "connect_timeout_s has no effect"},
		"a shell for one host":          {"POST", "/v1/runs", run(`"shell":"dash"`), 422, "shell has no effect"},
		"input for one host":            {"POST", "/v1/runs", run(`"stdin":true`), 422, "stdin has no effect"},
		"one host quietly":              {"POST", "/v1/runs", run(`"quiet":true`), 422, "quiet has no effect"},
		"output to keep of one host":    {"POST", "/v1/runs", run(`"keep":10`), 422, "keep has no effect"},
		"secrets of one host":           {"POST", "/v1/runs", run(`"redact":true`), 422, "redact has no effect"},
		"steps of one host":             {"POST", "/v1/runs", run(`"rollout":{"retry":1}`), 422, "rollout has no effect"},
		"one host that is kept":         {"POST", "/v1/runs", run(`"keep_run":true`), 422, "keep_run has no effect"},
		"one host, by its session":      {"POST", "/v1/runs", `{"id":"r_whatever","session":"s","command":"ls","quiet":true}`, 422, "quiet has no effect"},
		"an answer to nothing":          {"POST", "/v1/runs", run(`"answered":"flag"`), 422, "answered says how confirm or break_glass was given"},
		"a directory of many hosts":     {"POST", "/v1/runs", `{"id":"r_whatever","hosts":["here"],"command":"ls","cwd":"/"}`, 422, "cwd is for a single host"},
		"a size without a terminal":     {"POST", "/v1/sessions/s/execs", `{"command":"ls","rows":5}`, 422, "rows and cols are for an interactive command"},
		"lines around nothing":          {"POST", "/v1/sessions/s/execs", `{"command":"ls","output":{"context":2}}`, 422, "context is about the lines that grep finds"},
		"waiting for what is collected": {"DELETE", "/v1/jobs/here%2Fj_x?wait_s=1", "", 422, `there is no query parameter "wait_s"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, p, text := w.Send(tt.method, tt.path, tt.body)
			assert.Equal(t, tt.status, status, text)
			assert.Contains(t, p.Detail, tt.says)
		})
	}
}

// An agent sees its own sandboxes, and none where it asks for another's.
func TestAFilterForAnothersSandboxesFindsNone(t *testing.T) {
	w := keepertest.Start(t)
	w.Box("here")
	for query, want := range map[string]int{"": 1, "?owner_principal_id=agent/claude": 1, "?owner_principal_id=agent/other": 0, "?host=here": 1, "?host=there": 0} {
		var list wire.Sandboxes
		status, _ := w.API("agent/claude", "GET", keepertest.SandboxesPath+query, nil, &list)
		assert.Equal(t, http.StatusOK, status, query)
		assert.Len(t, list.Items, want, query)
	}
}
