package runs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// rolled is what a rollout told its caller.
type rolled struct {
	keepertest.Told
	batches  []string
	verified map[int]string
	end      *wire.RunsEnd
}

// roll rolls a command out. confirm may be nil.
func roll(w *keepertest.World, c *client.Client, in wire.NewRun, confirm func(context.Context, *wire.RunReport) bool) *rolled {
	w.T.Helper()
	o := &rolled{verified: map[int]string{}}
	f := o.Fleet()
	f.Steps = client.Steps{
		Batch:    func(b *wire.RunBatch) { o.batches = append(o.batches, b.Hosts) },
		Verified: func(i int, r *wire.RunResult) error { o.verified[i] = r.Result.Status; return nil },
		Confirm:  confirm,
	}
	var err error
	o.end, err = c.RunFleet(context.Background(), in, f)
	require.NoError(w.T, err)
	require.NotNil(w.T, o.end.Rollout)
	return o
}

// firstTwo succeeds on the first two hosts that it runs on.
func firstTwo(t *testing.T) string {
	dir := t.TempDir()
	return fmt.Sprintf("mkdir %[1]s/1 2>/dev/null || mkdir %[1]s/2 2>/dev/null", dir)
}

func TestARolloutGoesInBatchesUntilTooManyHaveFailed(t *testing.T) {
	w := keepertest.StartFleet(t, 8)
	o := roll(w, w.Client, wire.NewRun{ID: "r_batches", Selector: "web*", Command: firstTwo(t), Rollout: &wire.Rollout{
		Batches: []string{"1", "25%"}, Canary: []string{"web8"}, MaxFail: "1",
	}}, nil)
	assert.Equal(t, []string{"web8", "web1", "web[2-3]"}, o.batches)
	so := o.end.Rollout
	assert.Equal(t, "max-fail", so.Stopped)
	assert.Equal(t, "2 of 8 hosts failed, and max-fail is 1", so.Why)
	assert.Equal(t, "web[4-7]", so.NotRun)
	assert.Len(t, o.Results, 8, "each host has its result")
	assert.True(t, so.Batches[0].Canary)
	r := o.Results[5].Result
	assert.Equal(t, "notrun", r.Error.Code)
	assert.Equal(t, "canceled", r.Status)
	group := w.Ended("r_batches")
	assert.GreaterOrEqual(t, len(group), 4, "all batches are one group in the audit log")
}

func TestARolloutWithALimitForEachBatch(t *testing.T) {
	w := keepertest.StartFleet(t, 6)
	o := roll(w, w.Client, wire.NewRun{ID: "r_perbatch", Selector: "web*", Command: "false", Rollout: &wire.Rollout{Batches: []string{"3"}, BatchMaxFail: "34%"}}, nil)
	assert.Equal(t, "batch-max-fail", o.end.Rollout.Stopped)
	assert.Equal(t, "web[4-6]", o.end.Rollout.NotRun)
}

func TestARolloutWhoseCanariesAreRefusedRunsNowhere(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	file := filepath.Join(t.TempDir(), "ran")
	o := roll(w, w.Client, wire.NewRun{ID: "r_refused", Hosts: []string{"web1", "db", "web2"}, Command: "systemctl stop x; touch " + file, Partial: true,
		Rollout: &wire.Rollout{Canary: []string{"db"}}}, nil)
	assert.Equal(t, []string{"canceled", "denied", "canceled"}, o.Statuses())
	assert.Empty(t, o.batches)
	assert.Equal(t, "canary", o.end.Rollout.Stopped)
	assert.Equal(t, "the policy refuses the command on every canary (db)", o.end.Rollout.Why)
	assert.Equal(t, "web[1-2]", o.end.Rollout.NotRun)
	assert.NoFileExists(t, file)
}

func TestAnEmptyListOfCanariesIsAnError(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	status, p := w.API("", "POST", "/v1/runs", wire.NewRun{ID: "r_emptylist", Hosts: []string{"web1", "web2"}, Command: "true", Rollout: &wire.Rollout{Canary: []string{}}}, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, p.Detail, "canary: the list is empty; leave it out to run without a canary")
}

func TestARolloutVerifiesWhatThePolicyAllowsWithoutAQuestion(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	o := roll(w, w.Client, wire.NewRun{ID: "r_verify", Hosts: []string{"web1", "web2"}, Command: "true", Rollout: &wire.Rollout{Verify: "false", MaxFail: "100%"}}, nil)
	assert.Equal(t, map[int]string{0: "exit", 1: "exit"}, o.verified)
	assert.Equal(t, []string{"ok", "ok"}, o.Statuses())
	assert.Equal(t, "web[1-2]", o.end.Rollout.Batches[0].Failed)

	status, p := w.API("", "POST", "/v1/runs", wire.NewRun{ID: "r_asking", Hosts: []string{"db"}, Command: "true", Confirm: true,
		Rollout: &wire.Rollout{Verify: "systemctl stop x"}}, nil)
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, p.Detail, "verify must be a command that the policy allows without a question")
}

func TestARolloutWaitsForItsCallerBetweenBatches(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	asked := 0
	o := roll(w, w.Client, wire.NewRun{ID: "r_confirmed", Selector: "web*", Command: "true", Rollout: &wire.Rollout{Batches: []string{"1"}, Confirm: true}},
		func(ctx context.Context, so *wire.RunReport) bool {
			asked++
			assert.Equal(t, asked, so.Done)
			err := w.ConfirmRun(ctx, "r_confirmed", wire.RunConfirm{Done: so.Done + 1, GoOn: true})
			var problem *wire.Problem
			if assert.True(t, errors.As(err, &problem), "%v", err) {
				assert.Equal(t, "conflict", problem.Code, "that is not what was asked")
			}
			return so.Done < 2
		})
	assert.Equal(t, 2, asked)
	assert.Equal(t, "confirm", o.end.Rollout.Stopped)
	assert.Equal(t, "web3", o.end.Rollout.NotRun)
	assert.Equal(t, []string{"ok", "ok", "canceled"}, o.Statuses())

	require.EventuallyWithT(t, func(t *assert.CollectT) { // its last line is sent before it is let go
		err := w.ConfirmRun(context.Background(), "r_confirmed", wire.RunConfirm{Done: 1, GoOn: true})
		var problem *wire.Problem
		require.True(t, errors.As(err, &problem), "%v", err)
		require.Equal(t, http.StatusNotFound, problem.Status, "it is over")
	}, 30*time.Second, 10*time.Millisecond)
}

func TestARolloutIsStoppedWhileItWaits(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	o := &rolled{}
	f := o.Fleet()
	f.Steps.Confirm = func(ctx context.Context, _ *wire.RunReport) bool {
		cancel()
		<-ctx.Done()
		return true
	}
	end, err := w.RunFleet(ctx, wire.NewRun{ID: "r_stopped", Selector: "web*", Command: "true", Rollout: &wire.Rollout{Batches: []string{"1"}, Confirm: true}}, f)
	require.NoError(t, err)
	assert.Equal(t, "canceled", end.Rollout.Stopped)
	assert.Equal(t, []string{"ok", "canceled", "canceled"}, o.Statuses())
}

func TestTheDeadlineOfARolloutStopsIt(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	soon := 0.2
	o := roll(w, w.Client, wire.NewRun{ID: "r_deadline", Selector: "web*", Command: "sleep 600", Rollout: &wire.Rollout{Batches: []string{"1"}, DeadlineS: &soon}}, nil)
	assert.Equal(t, "deadline", o.end.Rollout.Stopped)
	assert.Equal(t, "canceled", o.Results[1].Result.Status)
	assert.Contains(t, []string{"timeout", "canceled"}, o.Results[0].Result.Status, "the shell may take as long to start")
}

func TestARolloutConnectsAgain(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, os.WriteFile(w.Inventory, []byte("version: 1\nhosts:\n  - {name: gone, addr: 127.0.0.1, port: 1, tier: dev, ssh_config: none}\n"), 0o600))
	o := roll(w, w.Client, wire.NewRun{ID: "r_retried", Hosts: []string{"gone"}, Command: "true", Rollout: &wire.Rollout{Retry: 1}}, nil)
	assert.Equal(t, []string{"unreachable"}, o.Statuses())
	assert.Equal(t, 2, slices.Index(o.Order, "done 0"), "it began twice: %v", o.Order)
}

func TestWhatARolloutCannotDoIsRefused(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	never := 0.0
	for name, r := range map[string]wire.Rollout{
		"a batch of none": {Batches: []string{"0"}}, "a limit": {MaxFail: "many"}, "another": {BatchMaxFail: "200%"},
		"no canary": {Canary: []string{"db"}}, "at once": {DeadlineS: &never},
	} {
		_, err := w.RunFleet(t.Context(), wire.NewRun{ID: "r_refused", Selector: "web*", Command: "true", Rollout: &r}, (&keepertest.Told{}).Fleet())
		var problem *wire.Problem
		if assert.True(t, errors.As(err, &problem), "%s: %v", name, err) {
			assert.Equal(t, "invalid", problem.Code, name)
		}
	}
	_, err := w.RunFleet(t.Context(), wire.NewRun{ID: "r_single", Host: "web1", Command: "true", Rollout: &wire.Rollout{}}, (&keepertest.Told{}).Fleet())
	require.ErrorContains(t, err, "rollout has no effect on a single host")
}

// What ends a run while its caller is asked ends the question: it would be answered for nothing, or never.
func TestTheQuestionEndsWithTheRun(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	o := roll(w, w.Client, wire.NewRun{ID: "r_elsewhere", Selector: "web*", Command: "true", Rollout: &wire.Rollout{Batches: []string{"1"}, Confirm: true}},
		func(ctx context.Context, _ *wire.RunReport) bool {
			assert.NoError(t, w.StopRun(context.Background(), "r_elsewhere"))
			<-ctx.Done()
			return false
		})
	assert.Equal(t, "canceled", o.end.Rollout.Stopped)
	assert.Equal(t, "web2", o.end.Rollout.NotRun)
	assert.Equal(t, []string{"ok", "canceled"}, o.Statuses())
}
