package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store/storetest"
)

// settings writes config.yaml.
func (p place) settings(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.home, ".config", "fairlead", "config.yaml"), []byte(text), 0o600))
}

func TestWhereTheRecordMustGoAndCannotNothingRuns(t *testing.T) {
	p := newPlace(t)
	p.settings(t, "audit: {sinks: [{exec: [/bin/false], required: always}]}\n")
	c, err := p.dial(t.Context())
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Open(t.Context(), wire.Open{Host: "here"})
	require.ErrorContains(t, err, "cannot anchor at program /bin/false: exit code 1")
	var problem *wire.Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, "audit", problem.Code)
}

func TestTheStoreIsWhereTheSettingsSay(t *testing.T) {
	var postgres storetest.Postgres
	t.Cleanup(postgres.Stop)
	for name, url := range map[string]func(t *testing.T, p place) string{
		"a file":   func(_ *testing.T, p place) string { return filepath.Join(p.home, "elsewhere", "s.db") },
		"Postgres": func(t *testing.T, _ place) string { return postgres.Schema(t) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			where := url(t, p)
			p.settings(t, "store: \""+where+"\"\n")
			c, err := p.dial(t.Context())
			require.NoError(t, err)
			defer c.Close()
			_, err = c.Open(t.Context(), wire.Open{Host: "here"})
			require.NoError(t, err)
			state := filepath.Join(p.home, ".local", "state", "fairlead")
			assert.NoFileExists(t, filepath.Join(state, "store.db"))
			if strings.Contains(where, "://") {
				assert.FileExists(t, filepath.Join(state, "store.key"))
			} else {
				assert.FileExists(t, where)
			}
		})
	}
}

func TestSettingsThatAreWrongAreToldByWhoWantedAKeeper(t *testing.T) {
	p := newPlace(t)
	p.settings(t, "notify: [{webhook: \"http://example.com/\", secret_file: /x}]\n")
	_, err := p.dial(t.Context())
	require.ErrorContains(t, err, "config.yaml:1: notify: webhook must begin with https://")
}
