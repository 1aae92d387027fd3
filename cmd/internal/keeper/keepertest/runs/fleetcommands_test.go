package runs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestEachHostMayGetACommandOfItsOwn(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	names := []string{"web2", "db", "web1"}
	o := w.Fleet(w.Client, wire.NewRun{ID: "r_commands", Hosts: names, Commands: []string{"echo a", "echo b", "echo c"}})
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.Statuses())
	for i, want := range []string{"a\n", "b\n", "c\n"} {
		assert.Equal(t, want, o.Out[i].String())
		assert.Empty(t, o.Results[i].Result.Command, "the caller knows it")
	}
	recorded := map[string]string{}
	for _, e := range requests(w, "r_commands") {
		recorded[e.Host] = e.Command
	}
	assert.Equal(t, map[string]string{"web1": "echo c", "web2": "echo a", "db": "echo b"}, recorded)

	const stops = "systemctl --version stop x >/dev/null 2>&1; true"
	in := wire.NewRun{Hosts: names, Commands: []string{"true", stops, "true"}}
	assert.Equal(t, []string{"denied", "denied", "denied"}, w.Fleet(w.Client, in).Statuses(), "each is judged on its host, and one refusal is for all")
	in.Confirm = true
	assert.Equal(t, []string{"ok", "ok", "ok"}, w.Fleet(w.Client, in).Statuses())

	for _, in := range []wire.NewRun{
		{Hosts: names, Commands: []string{"true"}}, {Hosts: names, Commands: []string{"true", "true", "true"}, Command: "true"},
		{Selector: "all", Commands: []string{"true", "true", "true"}}, {Host: "web1", Commands: []string{"true"}},
	} {
		in.ID = "r_mistaken"
		_, err := w.RunFleet(t.Context(), in, (&keepertest.Told{}).Fleet())
		assert.Error(t, err)
	}
}

func TestCommandsOfManyHostsAreOneApproval(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	o := &keepertest.Told{}
	f := o.Fleet()
	var asked wire.Document
	f.Waiting = func() { asked = w.AnswerAll(t, true) }
	_, err := w.As("agent/a").RunFleet(t.Context(), wire.NewRun{
		ID: "r_asked_for", Hosts: []string{"web1", "web2"}, Commands: []string{"touch /tmp/.", "touch /tmp"}, Quiet: true,
	}, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"ok", "ok"}, o.Statuses())
	assert.Contains(t, string(asked.Document), "touch /tmp/.")
	assert.Contains(t, string(asked.Document), "web2:")
	for _, e := range requests(w, "r_asked_for") {
		assert.NotEmpty(t, e.Approval)
	}
}
