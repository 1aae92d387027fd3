package restart_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// The request's job_id makes one job of a command on many hosts, which one approval is for.
func TestAJobOnManyHostsIsApprovedOnce(t *testing.T) {
	dir := jobsHome(t)
	w := keepertest.StartFleet(t, 3)
	agent := w.As("agent/a")
	run := func(in wire.NewRun) (id string, done chan *keepertest.Told) {
		in.Job, in.Hosts = jobs.NewID(), []string{"web1", "web2", "web3"}
		done = make(chan *keepertest.Told, 1)
		go func() {
			o := &keepertest.Told{}
			_, err := agent.RunFleet(t.Context(), in, o.Fleet())
			assert.NoError(t, err)
			done <- o
		}()
		return in.Job, done
	}
	var commands []string
	for i := range 3 {
		commands = append(commands, fmt.Sprintf("rm -rf %s/x; echo of web%d", w.Dir, i+1))
	}
	id, done := run(wire.NewRun{Commands: commands, Reason: "room"})
	a := w.OnlyApproval()
	doc, err := w.Approval(t.Context(), a.ID)
	require.NoError(t, err)
	assert.Contains(t, string(doc.Document), "job_start "+id+"\nweb1:\n  "+commands[0], "all of what is to be run")
	assert.NoDirExists(t, dir)
	require.NoError(t, w.Answer(t.Context(), a.ID, true, wire.Answer{Digest: doc.Digest}))
	o := <-done
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.Statuses())
	assert.Equal(t, 1, o.Waits)
	for i := range 3 {
		name := fmt.Sprintf("web%d/%s-%d", i+1, id, i+1)
		require.NoError(t, jobs.Started("", o.Out[i].Bytes()))
		_, text := jobEnds(w, agent, name)
		assert.Equal(t, fmt.Sprintf("of web%d\n", i+1), text)
		_, bare, _ := strings.Cut(name, "/")
		_, err := agent.CollectJob(t.Context(), bare, "")
		require.NoError(t, err, "its id alone is enough here")
	}

	_, done = run(wire.NewRun{Command: "rm -rf " + w.Dir + "/x"})
	a = w.OnlyApproval()
	doc, err = w.Approval(t.Context(), a.ID)
	require.NoError(t, err)
	require.NoError(t, w.Answer(t.Context(), a.ID, false, wire.Answer{Digest: doc.Digest, Reason: "no"}))
	o = <-done
	for i := range 3 {
		assert.False(t, keepertest.Sent(o.Results[i].Result))
	}
	assert.NoDirExists(t, dir)
}

func TestAJobOnManyHostsTakesNothingThatHasNoEffect(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	seconds := 3.0
	for name, in := range map[string]wire.NewRun{
		"a program":     {Program: "true"},
		"held":          {Command: "true", Held: true},
		"a timeout":     {Command: "true", TimeoutS: &seconds},
		"a rollout":     {Command: "true", Rollout: &wire.Rollout{}},
		"too long":      {Command: strings.Repeat("x", jobs.MaxCommand+1)},
		"a single host": {Command: "true", Host: "web1"},
	} {
		in.Job = jobs.NewID()
		if in.Host == "" {
			in.Selector = "web*"
		}
		_, err := w.RunFleet(t.Context(), in, (&keepertest.Told{}).Fleet())
		assert.Equal(t, "invalid", keepertest.CodeOf(t, err), name)
	}
	_, err := os.Stat(w.Dir)
	require.NoError(t, err)
}

func TestJobsThatTheKeeperHasHeardOfAreListedWithoutTheirHosts(t *testing.T) {
	dir := jobsHome(t)
	w := keepertest.StartFleet(t, 2)
	id := jobs.NewID()
	o := w.Fleet(w.Client, wire.NewRun{Job: id, Selector: "web*", Command: "echo ended"})
	assert.Equal(t, []string{"ok", "ok"}, o.Statuses())
	known, err := w.KnownJobs(t.Context())
	require.NoError(t, err)
	names := []string{"web1/" + id + "-1", "web2/" + id + "-2"}
	assert.ElementsMatch(t, names, known)
	others, err := w.As("agent/a").KnownJobs(t.Context())
	require.NoError(t, err)
	assert.Empty(t, others)
	for _, name := range names {
		jobEnds(w, w.Client, name)
		j, err := w.DiscardJob(t.Context(), name, "done with it")
		require.NoError(t, err)
		assert.Equal(t, "echo ended", j.Command)
		assert.Equal(t, 0, *j.ExitCode)
	}
	_, err = w.JobOutput(t.Context(), names[0], "stdout", 0, 0, 0, "")
	assert.Error(t, err, "its output is not kept")
	known, err = w.KnownJobs(t.Context())
	require.NoError(t, err)
	assert.Empty(t, known)
	assert.NoDirExists(t, dir)
}
