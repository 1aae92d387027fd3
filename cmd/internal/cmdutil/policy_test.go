package cmdutil_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

func factory(env map[string]string) *cmdutil.Factory {
	return &cmdutil.Factory{Getenv: func(k string) string { return env[k] }}
}

func TestTheCallerIsAnOperatorUnlessAnAgentLeftItsMark(t *testing.T) {
	for name, tt := range map[string]struct {
		env  map[string]string
		want cmdutil.Caller
	}{
		"nothing":               {nil, cmdutil.Caller{Principal: cmdutil.Principal()}},
		"an agent":              {map[string]string{"CLAUDECODE": "1"}, cmdutil.Caller{Principal: "agent/claude-code", Mark: "CLAUDECODE"}},
		"a sandbox of an agent": {map[string]string{"CODEX_SANDBOX": "seatbelt"}, cmdutil.Caller{Principal: "agent/codex", Mark: "CODEX_SANDBOX"}},
		"a mark that says no":   {map[string]string{"GEMINI_CLI": "0", "CURSOR_AGENT": "False"}, cmdutil.Caller{Principal: cmdutil.Principal()}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, factory(tt.env).Caller()) })
	}
}

func TestThePolicyIsTheUsersFileUnlessOneIsNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "fairlead"), 0o700))
	require.NoError(t, os.Chmod(dir, 0o700))
	f := factory(map[string]string{"XDG_CONFIG_HOME": dir})
	builtin, err := f.Policy("")
	require.NoError(t, err, "there need not be one")

	name := filepath.Join(dir, "fairlead", "policy.yaml")
	require.NoError(t, os.WriteFile(name, []byte("version: 1\n"), 0o600))
	users, err := f.Policy("")
	require.NoError(t, err)
	assert.NotEqual(t, builtin.Hash(), users.Hash())

	_, err = f.Policy(filepath.Join(dir, "nowhere.yaml"))
	assert.ErrorIs(t, err, os.ErrNotExist, "one that is named must be there")
	var usage *cmdutil.UsageError
	assert.ErrorAs(t, err, &usage)

	require.NoError(t, os.WriteFile(name, []byte("version: 1\nruls: []\n"), 0o600))
	_, err = f.Policy("")
	require.ErrorAs(t, err, &usage)
	assert.ErrorContains(t, err, name+":2: ")

	homeless, err := factory(nil).Policy("")
	require.NoError(t, err)
	assert.Equal(t, builtin.Hash(), homeless.Hash())
}

func TestRedactorTakesOutWhatACommandNamesAndLearnsNothing(t *testing.T) {
	set := redact.New(redact.Config{})
	r := cmdutil.Redactor(set)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			assert.NotContains(t, r("echo hunter2hunter2 >x; mysql -phunter2hunter2"), "hunter2")
			assert.Equal(t, "uptime", r("uptime"))
		})
	}
	wg.Wait()
	assert.Zero(t, set.Len())
	cmdutil.Learner(set, "operator")("mysql -phunter2hunter2")
	assert.Equal(t, 1, set.Len())
}
