package keeper_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// onlyApproval waits for the one approval that is pending.
func (w *world) onlyApproval() wire.Approval {
	w.t.Helper()
	var all []wire.Approval
	require.Eventually(w.t, func() bool {
		var err error
		all, err = w.Approvals(w.t.Context())
		return err != nil || len(all) > 0
	}, time.Minute, 50*time.Millisecond)
	require.Len(w.t, all, 1)
	return all[0]
}

// The request's job_id makes one job of a command on many hosts, which one approval is for.
func TestAJobOnManyHostsIsApprovedOnce(t *testing.T) {
	dir := jobsHome(t)
	w := startFleet(t, 3)
	agent := w.As("agent/a")
	run := func(in wire.NewRun) (id string, done chan *told) {
		in.Job, in.Hosts = jobs.NewID(), []string{"web1", "web2", "web3"}
		done = make(chan *told, 1)
		go func() {
			o := &told{}
			_, err := agent.RunFleet(t.Context(), in, o.fleet())
			assert.NoError(t, err)
			done <- o
		}()
		return in.Job, done
	}
	var commands []string
	for i := range 3 {
		commands = append(commands, fmt.Sprintf("rm -rf %s/x; echo of web%d", w.dir, i+1))
	}
	id, done := run(wire.NewRun{Commands: commands, Reason: "room"})
	a := w.onlyApproval()
	doc, err := w.Approval(t.Context(), a.ID)
	require.NoError(t, err)
	assert.Contains(t, string(doc.Document), "job_start "+id+"\nweb1:\n  "+commands[0], "all of what is to be run")
	assert.NoDirExists(t, dir)
	require.NoError(t, w.Answer(t.Context(), a.ID, true, wire.Answer{Digest: doc.Digest}))
	o := <-done
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.statuses())
	assert.Equal(t, 1, o.waits)
	for i := range 3 {
		name := fmt.Sprintf("web%d/%s-%d", i+1, id, i+1)
		require.NoError(t, jobs.Started("", o.out[i].Bytes()))
		_, text := w.jobEnds(agent, name)
		assert.Equal(t, fmt.Sprintf("of web%d\n", i+1), text)
		_, bare, _ := strings.Cut(name, "/")
		_, err := agent.CollectJob(t.Context(), bare, "")
		require.NoError(t, err, "its id alone is enough here")
	}

	_, done = run(wire.NewRun{Command: "rm -rf " + w.dir + "/x"})
	a = w.onlyApproval()
	doc, err = w.Approval(t.Context(), a.ID)
	require.NoError(t, err)
	require.NoError(t, w.Answer(t.Context(), a.ID, false, wire.Answer{Digest: doc.Digest, Reason: "no"}))
	o = <-done
	for i := range 3 {
		assert.False(t, sent(o.results[i].Result))
	}
	assert.NoDirExists(t, dir)
}

func TestAJobOnManyHostsTakesNothingThatHasNoEffect(t *testing.T) {
	w := startFleet(t, 2)
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
		_, err := w.RunFleet(t.Context(), in, (&told{}).fleet())
		assert.Equal(t, "invalid", codeOf(t, err), name)
	}
	_, err := os.Stat(w.dir)
	require.NoError(t, err)
}

func TestJobsThatTheKeeperHasHeardOfAreListedWithoutTheirHosts(t *testing.T) {
	dir := jobsHome(t)
	w := startFleet(t, 2)
	id := jobs.NewID()
	o := w.fleet(w.Client, wire.NewRun{Job: id, Selector: "web*", Command: "echo ended"})
	assert.Equal(t, []string{"ok", "ok"}, o.statuses())
	known, err := w.KnownJobs(t.Context())
	require.NoError(t, err)
	names := []string{"web1/" + id + "-1", "web2/" + id + "-2"}
	assert.ElementsMatch(t, names, known)
	others, err := w.As("agent/a").KnownJobs(t.Context())
	require.NoError(t, err)
	assert.Empty(t, others)
	for _, name := range names {
		w.jobEnds(w.Client, name)
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
