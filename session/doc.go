// Package session runs commands on hosts through long-lived shells.
//
// Begin with [NewPool] and [Pool.Run]. A [Pool] keeps connections, shares them, and opens sessions on them; Run and
// [Pool.Each] are for commands that need no state. A [Session] ([Pool.Open]) is one shell, with a directory, variables and
// functions that stay from command to command. Every command passes one gate: policy, record, send, read, record.
//
// The [Result] of a command is the same on every transport and every shell: standard output and standard error apart and
// byte for byte, the exit code or the signal, and the directory. A command is never sent twice once a byte of it has left.
//
// # Errors
//
// The error is nil exactly when the host answered, whatever the exit code; [Result.ExitErr] makes errors of those, too. Else
// it is an *[Error], and with [errors.Is] it is one of:
//
//	nothing was sent    ErrClosed ErrBusy ErrFull ErrUnreachable ErrAuth ErrHostKey ErrInvalid ErrNotReady ErrNotHeld ErrNoTerminal
//	it was not allowed  ErrDenied ErrRejected ErrExpired ErrVoid
//	it was stopped      ErrTimeout ErrCanceled ErrNeedsTerminal
//	it was sent         ErrUnknownOutcome ErrOutput ErrAudit (which may also mean that nothing was sent: Error.Sent)
//	typing              ErrNotInteractive
//
// Of [errors.As]: *[FullError], *[NoLoginError], *[ExitError], those of become.
//
// Connect with session/dialer (an inventory), session/sshconn (as ssh does) or session/localpty (this machine). session/policy
// decides, audit records, session/telemetry feeds [Trace] to other tools, session/sessiontest helps to test. There is no global
// state, nothing is read from the environment, and everything may be used from many goroutines.
//
// Stable are [Pool], [Session], [Exec], [Command], [Result] and its JSON, the errors, and [Transport]; [Trace] and Config may gain
// fields. [Typing], [Lease] and the approval fields of Config and Command may change.
package session
