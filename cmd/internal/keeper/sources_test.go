package keeper_test

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

// An agent that may list hosts must not start a program on the controller by naming it as an inventory.
func TestAnAgentStartsNoProgramByNamingAnInventory(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	program, sourced, ran := filepath.Join(dir, "list"), filepath.Join(dir, "inventory.yaml"), filepath.Join(dir, "ran")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch ran\necho '{\"p\": [\"p1\"], \"_meta\": {\"hostvars\": {}}}'\n"), 0o700))
	require.NoError(t, os.WriteFile(sourced, []byte("version: 1\nsources: [{exec: [./list, --list], tier: dev}]\n"), 0o600))
	w := keepertest.Start(t)
	for _, path := range []string{program, sourced} {
		status, _, text := w.Send("GET", "/v1/hosts", "", wire.Inventory, path, wire.Principal, "agent/x")
		assert.Equal(t, http.StatusUnprocessableEntity, status, text)
		assert.Contains(t, text, "programs do not run for an AI agent")
		assert.NoFileExists(t, ran)
	}
	status, _, text := w.Send("GET", "/v1/hosts", "", wire.Inventory, sourced)
	assert.Equal(t, http.StatusOK, status, text)
	assert.Contains(t, text, `"p1"`)
	assert.FileExists(t, ran)
	// What the operator's request left is an answer for the agent, too.
	status, _, text = w.Send("GET", "/v1/hosts", "", wire.Inventory, sourced, wire.Principal, "agent/x")
	assert.Equal(t, http.StatusOK, status, text)
	assert.Contains(t, text, `"p1"`)
}
