package runs_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
)

// startKeeping is startFleet with a place for runs.
func startKeeping(t *testing.T, n int) (w *keepertest.World, store runstore.Store) {
	w = keepertest.Start(t, func(c *keeper.Config) {
		store = runstore.Store{Dir: filepath.Join(filepath.Dir(c.AuditDir), "runs")}
		c.Runs = &store
	})
	require.NoError(t, os.WriteFile(w.Inventory, []byte(keepertest.Webs(n)), 0o600))
	return w, store
}

func TestTheKeeperKeepsRunsOverItsAPI(t *testing.T) {
	w, store := startKeeping(t, 3)
	roll(w, w.Client, wire.NewRun{ID: "r_keptone", Selector: "web*", Command: "exit 3", Rollout: &wire.Rollout{Batches: []string{"1"}, MaxFail: "1"}, KeepRun: true}, nil)
	w.Fleet(w.Client, wire.NewRun{ID: "r_secret", Selector: "web1", Command: "export API_TOKEN=s3cr3ts3cr3t; true", KeepRun: true})
	w.Fleet(w.Client, wire.NewRun{ID: "r_elsewhere", Selector: "web1", Command: "true"})
	w.Fleet(w.As("agent/claude"), wire.NewRun{ID: "r_agents", Selector: "web1", Command: "true", KeepRun: true})

	all, err := w.KeptRuns(t.Context(), 20)
	require.NoError(t, err)
	require.Len(t, all, 2, "that of the agent is its own, and one is not to be kept")
	assert.Equal(t, "r_secret", all[0].ID, "the newest is first")
	assert.False(t, all[0].Exact)
	assert.NotContains(t, all[0].Command, "s3cr3ts3cr3t")
	assert.Empty(t, all[1].Hosts)
	one, err := w.KeptRuns(t.Context(), 1)
	require.NoError(t, err)
	assert.Len(t, one, 1)
	status, _, _ := w.Send("GET", "/v1/runs?limit=0", "")
	assert.Equal(t, http.StatusUnprocessableEntity, status)

	r, err := w.KeptRun(t.Context(), "r_keptone")
	require.NoError(t, err)
	assert.Equal(t, "done", r.State)
	assert.Equal(t, []int{0, 2, 1}, []int{r.OK, r.Failed, r.NotRun})
	assert.Equal(t, "max-fail", r.Rollout.Stopped)
	assert.Equal(t, "exit 3", r.Command)
	assert.True(t, r.Exact)
	assert.Equal(t, "exit", r.Hosts[0].Status)
	assert.Equal(t, 3, *r.Hosts[0].ExitCode)
	assert.True(t, r.Hosts[2].NotRun)
	assert.Nil(t, r.ExitCode)

	_, err = w.KeptRun(t.Context(), "r_agents")
	var problem *wire.Problem
	require.True(t, errors.As(err, &problem), "%v", err)
	assert.Equal(t, http.StatusNotFound, problem.Status)

	rec, err := store.Get("operator/ada", "r_keptone")
	require.NoError(t, err)
	require.ErrorContains(t, rec.Stop(), "does not run")
}

func TestARunThatGoesOnIsKeptAsSuch(t *testing.T) {
	w, store := startKeeping(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := &keepertest.Told{}
	f := o.Fleet()
	begin := f.Begin
	f.Begin = func(i int) (stdout, stderr io.Writer) {
		r, err := w.KeptRun(context.WithoutCancel(ctx), "r_goingon")
		if assert.NoError(t, err) {
			assert.Equal(t, "running", r.State)
		}
		rec, err := store.Get("operator/ada", "r_goingon")
		if assert.NoError(t, err) {
			assert.ErrorIs(t, rec.Stop(), runstore.ErrKeeper, "no process is interrupted")
		}
		assert.NoError(t, w.StopRun(context.WithoutCancel(ctx), "r_goingon"))
		return begin(i)
	}
	_, err := w.RunFleet(ctx, wire.NewRun{ID: "r_goingon", Selector: "web*", Command: "sleep 600", KeepRun: true}, f)
	require.NoError(t, err)
	r, err := w.KeptRun(t.Context(), "r_goingon")
	require.NoError(t, err)
	assert.Equal(t, "done", r.State)
}

// The parts of a rerun are its run and on; wait_s waits for the end of a run.
func TestAKeptRunIsRunAgainOverTheAPI(t *testing.T) {
	w, _ := startKeeping(t, 3)
	w.Fleet(w.Client, wire.NewRun{ID: "r_firstrun", Hosts: []string{"web1", "web2", "web3"}, KeepRun: true,
		Commands: []string{"echo one", "test -e " + w.Dir + "/there && echo two", "echo three"}})
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "there"), nil, 0o600))
	one, err := w.AwaitKeptRun(t.Context(), "r_firstrun", time.Minute)
	require.NoError(t, err)
	assert.Equal(t, "done", one.State)
	o := w.Fleet(w.Client, wire.NewRun{ID: "r_againrun", Rerun: &wire.Rerun{Run: "r_firstrun", On: "failed"}, KeepRun: true})
	assert.Equal(t, []string{"ok"}, o.Statuses())
	assert.Equal(t, "web2", o.Results[0].Result.Host)
	assert.Equal(t, "two\n", o.Out[0].String())
	o = w.Fleet(w.Client, wire.NewRun{ID: "r_all_of_it", Rerun: &wire.Rerun{Run: "r_againrun", On: "all"}})
	assert.Equal(t, []string{"ok"}, o.Statuses(), "a run of one host is run again as well")

	// What checked a run checks it again.
	w.Fleet(w.Client, wire.NewRun{ID: "r_checked01", Hosts: []string{"web1"}, Command: "true", Rollout: &wire.Rollout{Verify: "test -e " + w.Dir + "/never"}, KeepRun: true})
	_, err = w.AwaitKeptRun(t.Context(), "r_checked01", time.Minute)
	require.NoError(t, err)
	w.Fleet(w.Client, wire.NewRun{ID: "r_checked02", Rerun: &wire.Rerun{Run: "r_checked01", On: "failed"}, KeepRun: true})
	one, err = w.AwaitKeptRun(t.Context(), "r_checked02", time.Minute)
	require.NoError(t, err)
	require.Len(t, one.Hosts, 1)
	assert.True(t, one.Hosts[0].Verify)

	// A dry run stays one, whether the kernel refuses the command or the host cannot hold it.
	w.Fleet(w.Client, wire.NewRun{ID: "r_dryrun01", Hosts: []string{"web1"}, Command: "touch " + w.Dir + "/changed", Held: true, KeepRun: true})
	_, err = w.AwaitKeptRun(t.Context(), "r_dryrun01", time.Minute)
	require.NoError(t, err)
	w.Fleet(w.Client, wire.NewRun{ID: "r_dryrun02", Rerun: &wire.Rerun{Run: "r_dryrun01", On: "all"}})
	assert.NoFileExists(t, filepath.Join(w.Dir, "changed"))

	w.Fleet(w.Client, wire.NewRun{ID: "r_secret", Selector: "web1", Command: "export API_TOKEN=s3cr3ts3cr3t; false", KeepRun: true})
	for name, tt := range map[string]struct {
		in   wire.NewRun
		code string
	}{
		"a secret":       {wire.NewRun{Rerun: &wire.Rerun{Run: "r_secret", On: "all"}}, "invalid"},
		"nothing failed": {wire.NewRun{Rerun: &wire.Rerun{Run: "r_againrun", On: "failed"}}, "invalid"},
		"unknown":        {wire.NewRun{Rerun: &wire.Rerun{Run: "r_nosuchrun", On: "all"}}, "not_found"},
		"a command":      {wire.NewRun{Rerun: &wire.Rerun{Run: "r_firstrun", On: "all"}, Command: "true"}, "invalid"},
		"hosts":          {wire.NewRun{Rerun: &wire.Rerun{Run: "r_firstrun", On: "all"}, Selector: "all"}, "invalid"},
	} {
		_, err := w.RunFleet(t.Context(), tt.in, (&keepertest.Told{}).Fleet())
		assert.Equal(t, tt.code, keepertest.CodeOf(t, err), name)
	}
	_, err = w.As("agent/a").RunFleet(t.Context(), wire.NewRun{Rerun: &wire.Rerun{Run: "r_firstrun", On: "all"}}, (&keepertest.Told{}).Fleet())
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err), "runs are one's own")
}
