// Package store keeps what has to outlive a process: sandboxes, commands and who asked for, judged and approved them,
// sessions, tokens, idempotency keys, events and outputs.
//
// [Open] opens a [Store] in a SQLite file, or in a Postgres database that several keepers share. Both behave the same.
//
// A command's life is a row of steps, each taken by one caller only, however many try, in however many processes:
//
//	Create ─▶ pending ─Decide─▶ approved ─Begin─▶ (claimed) ─Finish─▶ executed, failed or rejected ─Finalize─▶ frozen
//	             └─Decide, Withdraw, Expire─▶ rejected
//
// [Store.Begin] is written to disk before it returns. A command whose claimer died is told as failed, with the outcome
// "lost" (see [Store.Recover] and [Store.Sweep]): nobody can know whether it ran, and it never runs again.
//
// Of a command that waits the store holds the exact bytes too, sealed with AES-256-GCM, and the document that an
// approval is bound to. Both are wiped in the step that begins or ends it; what stays is the text the caller gave, which
// callers redact.
//
// The package runs nothing, decides nothing and checks no signature. It starts no goroutine and has no global state.
// Everything may be used concurrently. A method that returns an error has changed nothing, except that after a lost
// connection to Postgres or an ended context nobody knows whether the last step was taken: read the record again.
package store
