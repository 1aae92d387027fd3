// Package output holds what a command prints: all of it up to a cap, on the controller's disk, and views of it that fit
// a budget.
//
// A [Spool] takes one stream as it comes. Small outputs stay in memory; larger ones go to a private file that has no
// name any more by the time it holds anything. A [Budget] says what somebody wants to see of it (first lines, last
// lines, lines that match, at most so many bytes), and [Budget.Apply] gives that as a [View] with exact counts of what
// was left out and where. [Spool.Page] reads it piece by piece.
//
// The package knows nothing about commands, hosts or text for models: bytes in, the same bytes out. It starts no
// goroutines and has no global state. Everything but Write may be called from many goroutines while one writes.
package output
