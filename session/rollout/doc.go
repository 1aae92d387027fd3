// Package rollout runs one command on many hosts in steps, and stops before the damage spreads.
//
// Begin with a [Plan], which says how: in which batches, after which hosts first, how many hosts may fail, what checks each batch, who
// confirms the next one, and how long the whole run may take. [Plan.Run] runs it on a [Runner], which a *session.Pool is,
// and returns a [Report]: what happened in each batch, which limit stopped the run, in words, and which hosts got nothing.
//
//	batches, err := rollout.ParseSizes("1,10%,100%")
//	limit, err := rollout.ParseLimit("5%")
//	report, err := rollout.Plan{Batches: batches, MaxFail: limit}.Run(ctx, pool, hs, cmd)
//
// Every host has exactly one Result, also a host that got nothing: its status is canceled, its error wraps [ErrNotRun], and
// nothing was sent. A limit never stops a command that runs; it keeps the next ones from starting. The end of the context,
// and the deadline, do stop commands.
//
// A Plan is a value and may be used again. Run uses goroutines of its own and ends them. The package is stable; Plan and
// Report may gain fields.
package rollout
