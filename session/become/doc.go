// Package become starts programs as another account of a host: through sudo, sudo-rs, su or doas.
//
// [New] makes the command line that starts one of them, and [Elevation.Converse] talks to it until the program to run is there as
// the other account. What may come of it can be told apart:
//
//	accepted              Converse succeeds; Asked reports true
//	no password needed    Converse succeeds; Asked reports false
//	wrong password        an *Error that wraps ErrWrongPassword
//	not allowed           an *Error that wraps ErrNotAllowed
//
// and an *Error wraps ErrPasswordNeeded where there is no password to give, ErrNotTried where it was wrong on another host.
//
// sudo gets a prompt that cannot be guessed, so nothing that the host prints by itself is taken for it. The prompts of the others
// are recognised: a line that has not ended, and asks for a password in English. That the other account is there is told
// by a token, with all of them. Any other line that has not ended and asks for something (a second factor) is put to a person as it
// is; the answer is for one host and one time.
//
// A password is asked for once in a run, see [InRun], and tried on one host first. Once a host has refused it, it is sent to no
// other. It is in no command line, no environment and no message, and is wiped with the end of its run.
//
// Nothing here is tied to a transport. Everything may be used from many goroutines, but an Elevation from one.
package become
