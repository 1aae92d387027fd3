package sshconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestNamedReturnsHostsThatLinesNameInFull(t *testing.T) {
	dir := t.TempDir()
	path, more := filepath.Join(dir, "config"), filepath.Join(dir, "more")
	require.NoError(t, os.WriteFile(more, []byte("Host inner web1\n"), 0o600))
	require.NoError(t, os.WriteFile(path, []byte("Host web1 web2 *.example.com !web3\n  Port 1\nInclude "+more+"\nMatch host web9\n  Port 2\nHost *\nHost \"db 1\" web?\n"), 0o600))
	cfg, err := sshconfig.Open(path)
	require.NoError(t, err)
	at := func(file string, line int) hosts.Pos { return hosts.Pos{File: file, Line: line} }
	assert.Equal(t, []sshconfig.Named{{"web1", at(path, 1)}, {"web2", at(path, 1)}, {"inner", at(more, 1)}, {"db 1", at(path, 7)}}, cfg.Named())
}
