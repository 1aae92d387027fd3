package rollout_test

import (
	"context"
	"fmt"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// One host first, then the others two at a time; the second failure stops the run.
func Example() {
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    func(ctx context.Context, h hosts.Host) (session.Transport, error) { return localpty.Dial(ctx, h) },
		Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	var hs []hosts.Host
	for i := range 7 {
		hs = append(hs, hosts.Host{Name: fmt.Sprintf("web%d", i+1), Transport: hosts.Local})
	}
	batches, err := rollout.ParseSizes("1,2")
	if err != nil {
		fmt.Println(err)
		return
	}
	limit, err := rollout.ParseLimit("1")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := rollout.Plan{
		Batches: batches, MaxFail: limit, Verify: &session.Command{Script: "test -d /"},
		Begin: func(b rollout.Batch) { fmt.Println("batch", b.Number, "of", len(b.Hosts), "hosts") },
	}.Run(context.Background(), pool, hs, session.Command{Script: "false", Forks: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, ok, failed, notRun := report.Hosts()
	fmt.Println(ok, "ok,", failed, "failed,", notRun, "not run:", report.Why)
	// Output:
	// batch 1 of 1 hosts
	// batch 2 of 2 hosts
	// 0 ok, 2 failed, 5 not run: 2 of 7 hosts failed, and max-fail is 1
}
