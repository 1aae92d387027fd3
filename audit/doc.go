// Package audit records what was asked, what was decided and what happened, so that a person can read it later and check
// that nothing was changed.
//
// Begin with [Open], which returns a [File]: the [Sink] that keeps hash-chained entries in a directory. [Verify] checks such a
// directory; [Tail], [Follow], [Search] and [Show] read it. Programs that keep entries elsewhere implement Sink, which says when
// nothing may be sent. The format is described at [Version], and what it proves at [Verify].
//
// Stable are the format, [Event], Sink, File, [Discard], and what reads and verifies. The rest may change: [Tee] and [Place], which
// take the chain's head elsewhere, and [OutputDir]. The package imports only the standard library and has no global state.
package audit
