package runs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// An agent's unknown command is tried on all hosts before anybody is asked: those to which the kernel refused nothing are done, and one
// question is about the others, with what they tried.
func TestAnUnknownCommandOnManyHostsAsksOnlyWhereItWasRefused(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	file := filepath.Join(t.TempDir(), "file")
	reads, writes := "perl -e 'print 6*7'", "perl -e 'print 1; open F, q(>), q("+file+"); print F 1'"
	run := func(yes bool, commands ...string) (*keepertest.Told, string) {
		t.Helper()
		o := &keepertest.Told{}
		f := o.Fleet()
		var asked wire.Document
		f.Waiting = func() { o.Waits++; asked = w.AnswerAll(t, yes) }
		_, err := w.As("agent/a").RunFleet(t.Context(), wire.NewRun{Hosts: []string{"web1", "web2", "web3"}, Commands: commands}, f)
		require.NoError(t, err)
		return o, string(asked.Document)
	}
	o, _ := run(false, reads, reads, reads)
	if o.Waits > 0 {
		needs.Part(t, "this machine holds no shell")
	}
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.Statuses())
	for _, r := range o.Results {
		assert.Equal(t, "held", r.Result.Lane)
	}

	o, asked := run(false, reads, writes, writes)
	assert.Equal(t, []string{"ok", "denied", "denied"}, o.Statuses())
	assert.Equal(t, 1, o.Waits)
	assert.Contains(t, asked, "web[2-3]")
	assert.NotContains(t, asked, "web1")
	assert.Contains(t, asked, "open for writing "+file)
	assert.NoFileExists(t, file)

	o, _ = run(true, reads, writes, reads)
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.Statuses())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "1", string(text))
}

func TestAnUnknownCommandOnTooManyHostsIsNotTriedFirst(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte("version: 1\nprincipals:\n  - {name: agent/a, max_hosts: 2}\n"), 0o600))
	for hosts, waits := range map[string]int{"web1,web2": 0, "web1,web2,web3": 1} {
		o := &keepertest.Told{}
		f := o.Fleet()
		f.Waiting = func() { o.Waits++; w.AnswerAll(t, false) }
		_, err := w.As("agent/a").RunFleet(t.Context(), wire.NewRun{Selector: hosts, Command: "perl -e 'print 6*7'"}, f)
		require.NoError(t, err)
		if waits == 0 && o.Waits > 0 {
			needs.Part(t, "this machine holds no shell")
		}
		assert.Equal(t, waits, o.Waits, hosts)
		assert.Equal(t, waits > 0, o.Statuses()[0] == "denied", "%s: %v", hosts, o.Statuses())
	}
}
