// Package filework does work on single files of a session's host, through the session's gate: what a file tool of an
// agent or of an API does, whichever it is.
//
// [Start] finds out where a path leads, which passes the gate as what only reads, and then starts a [Request] for the file
// that is there: judged by the path that was asked for and by the one that it leads to, approved with all that it will do
// in sight, recorded, and done only if the path still leads there. The work is a command of the session, so that it is
// waited for, looked at again and stopped as one; the [Work] in its registry.Command tells what became of the file.
//
// What a read or a list writes to standard output is seen by a reader as its registry shows output: without secrets where
// the registry hides them. Errors are *session.Error, with the codes of packages files and registry.
//
// There is no state besides; all functions may be called concurrently.
package filework
