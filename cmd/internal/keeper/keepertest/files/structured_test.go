package files_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestAProgramWithExactArgumentsRunsInASession(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte(`version: 1
principals:
  - {name: agent/narrow, shell: false, strict: true, programs: [ls]}
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "named"), nil, 0o600))
	agent := w.As("agent/narrow")
	s, err := agent.Open(t.Context(), wire.Open{Host: "here", CWD: w.Dir})
	require.NoError(t, err)
	r, err := agent.Run(t.Context(), s.ID, wire.Run{Program: "ls", Args: []string{"named"}}, "")
	require.NoError(t, err)
	assert.Equal(t, "named\n", r.Stdout)
	path := "/v1/sessions/" + s.ID + "/execs"
	for name, tt := range map[string]struct {
		run  wire.Run
		code int
		want string
	}{
		"shell source":     {wire.Run{Command: "ls"}, http.StatusForbidden, "name a program"},
		"another program":  {wire.Run{Program: "cat"}, http.StatusForbidden, "the program cat"},
		"a path":           {wire.Run{Program: "./ls"}, http.StatusForbidden, "bare name"},
		"shell syntax":     {wire.Run{Program: "ls", Args: []string{"$(id)"}}, http.StatusForbidden, "argument 1"},
		"the way up":       {wire.Run{Program: "ls", Args: []string{"../x"}}, http.StatusForbidden, "argument 1"},
		"both":             {wire.Run{Command: "ls", Program: "ls"}, http.StatusUnprocessableEntity, "not both"},
		"arguments alone":  {wire.Run{Args: []string{"x"}}, http.StatusUnprocessableEntity, "args needs program"},
		"command and args": {wire.Run{Command: "ls", Args: []string{"x"}}, http.StatusUnprocessableEntity, "args needs program"},
	} {
		status, p := w.API("agent/narrow", "POST", path, tt.run, nil)
		assert.Equal(t, tt.code, status, name)
		assert.Contains(t, p.Detail, tt.want, name)
	}
	// A command in a sandbox is shell source, and what the policy denies there is a rejected command.
	box, dir := w.Box("here")
	status, p := w.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/narrow", Host: "here", Label: "narrow", Path: dir}, &box)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	var c, again wire.Command
	asked := wire.NewCommand{Sandbox: box.ID, Command: "ls"}
	status, p = w.API("agent/narrow", "POST", keepertest.CommandsPath, asked, &c, "Idempotency-Key", "once")
	require.Equal(t, http.StatusCreated, status, p.Detail)
	assert.Equal(t, []string{"rejected", "deny", "denied"}, []string{c.Status, c.Verdict, c.Outcome})
	assert.Contains(t, c.Reason, "shell source")
	w.API("agent/narrow", "POST", keepertest.CommandsPath, asked, &again, "Idempotency-Key", "once")
	assert.Equal(t, c.ID, again.ID)
	// Fleets and single hosts take the same.
	told := &keepertest.Told{}
	_, err = w.RunFleet(t.Context(), wire.NewRun{ID: "structured-1", Selector: "here,there", Program: "echo", Args: []string{"a  b", "$HOME"}}, told.Fleet())
	require.NoError(t, err)
	require.Len(t, told.Results, 2)
	for _, r := range told.Results {
		assert.Equal(t, "a  b $HOME\n", told.Out[r.Host].String())
	}
}
