// Package registry keeps named sessions and the commands that ran in them, for faces that answer one request after the
// other: a person or an agent opens a session, starts a command, looks at it again later by its id, and closes.
//
// A [Registry] holds each [Entry], which is a session with a name, an owner and limits, and each [Exec], a command with
// all it printed. What a command prints goes through a redact.Writer into an output.Spool, so that secrets are gone
// before anything is counted, bounded or shown: every offset and count of an Exec is one of the redacted text.
//
// The package neither dials nor decides nor records: that is done by the sessions it is given (see session.Pool). It has
// no global state. Everything may be used from many goroutines; no lock is held while a session is called.
//
//	goroutine                      started by          ends with                        awaited by
//	follow (one per exec)          Entry.Start         the command's end                Registry.Close
//	quiet (a timer's)              output, then none   one flush                        the exec's end
//	limit (a timer's, per entry)   Open, the last use  closing the session              Registry.Close
//	member (Forks per fleet)       Registry.Fleet      its last host                    Registry.Close
//	finish (one per call)          Entry.Finish        the session's end                Registry.Close
package registry
