// Package session runs commands on hosts through long-lived shells.
//
// A [Transport] is a connection. A [Session] is one shell on it, with a working directory, variables and functions that
// stay from command to command. A [Pool] keeps connections, shares them, and opens sessions on them; [Pool.Run] and
// [Pool.Each] are for commands that need no state. Every command passes one gate, in this order: policy, record, send,
// read, record. There is no way around it.
//
// The [Result] of a command is the same on every transport and every shell: standard output and standard error apart
// and byte for byte, the exit code or the signal, the directory, and what had to be done to get there. "It failed", "it
// was stopped" and "nobody knows" are different statuses. A command is never sent twice once a byte of it has left.
//
// What this package does not do: decide (see session/policy), connect (see session/sshconn and session/localpty), or
// keep records (see audit). It has no global state, reads no environment and logs nothing; see [Trace].
//
// # Concurrency
//
// Everything may be used from many goroutines. One session runs one command at a time and refuses a second one. No
// lock is held while reading, writing, dialing or calling out. Closing returns when these goroutines are gone:
//
//	goroutine                      started by               ends with                         awaited by
//	pump (one per shell)           the first command        the shell's stream                Session.Close
//	writer (of a long script)      Run, Start               its write; closing the stream     Session.Close
//	step of the ladder             a timeout, Stop          its grace                         the command's end
//	asking whether to type         Type, Input              the answer; the command's end     the command's end
//	timeout of a command           Run, Start               the command's end                 the command's end
//	dial                           a session of a pool      its end, DialTimeout, Pool.Close  Pool.Close
//	watch (one per connection)     the dial                 the connection's end              Pool.Close
//	worker (of Each)               Pool.Each                the loop's end                    Pool.Each
package session
