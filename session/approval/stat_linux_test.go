package approval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

// A name may hold what separates fields; the name systemd and the parent decide who belongs to an agent.
func TestWhatTheSystemSaysOfAProcess(t *testing.T) {
	const rest = " S 1 7 7 34816 7 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1"
	for _, name := range []string{"systemd", "bash", "(sd-pam)", "a) R 99 (b", ") (", "", "two words\n"} {
		p, err := approval.ParseStat("42 (" + name + ")" + rest)
		require.NoError(t, err, "%q", name)
		assert.Equal(t, approval.Process{Parent: 1, Name: name, Born: "12345"}, p)
	}
	for _, bad := range []string{"", "42", "42 (x", "42 x) S 1", "42 )x(" + rest, "42 (x) S 1 7", "42 (x) S one" + strings.TrimPrefix(rest, " S 1")} {
		_, err := approval.ParseStat(bad)
		assert.Error(t, err, "%q", bad)
	}
	text, err := os.ReadFile("/proc/self/stat")
	require.NoError(t, err)
	p, err := approval.ParseStat(string(text))
	require.NoError(t, err)
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getpid()))
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(string(name), "\n"), p.Name)
	assert.True(t, strings.HasPrefix(filepath.Base(os.Args[0]), p.Name), p.Name)
	assert.Equal(t, os.Getppid(), p.Parent)
}

// Who has a terminal has not left the login that it was started in; the numbers beside it say nothing of that.
func TestATerminalIsTheSeventhFieldOfAProcess(t *testing.T) {
	for fields, want := range map[string]bool{"S 1 7 7 34816 7": true, "S 1 7 7 34816 0": true, "S 1 7 0 34816 -1": true, "S 1 7 7 0 -1": false, "S 1 7 7 0 7": false} {
		assert.Equal(t, want, approval.HasTerminal("42 (bash) "+fields+" 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1"), fields)
	}
}
