// Package framing makes one shell command self-delimiting on a terminal.
//
// [Loader] is the command line that starts everything, [Bootstrap] what is typed when it is up, [Startup] follows both
// and hands out a [Decoder]. From then on [Append] writes the frame for one command, to be typed, and the Decoder turns
// what the terminal prints into events: standard output and standard error apart, live, byte for byte, the exit code
// and the working directory at the end.
//
// # On the host
//
// The account's login shell runs the loader and is replaced by it. Two processes stay: the shell that runs the
// commands, with a small driver as its program, and a supervisor, its parent, which relays the shell's two pipes to the
// terminal. So a command's output is no terminal (programs print as they do into a pipe), a flood on either stream is
// held back by flow control, and no file is made. A command that starts no process costs none. The supervisor is perl
// where there is perl, else sh with cat and hexdump, else sh alone, which reads errors by line and is told as such.
//
// Their programs come in the environment, and are taken out of it: in the host's list of processes each of them has a short
// line that says fairlead, without words that people search for.
//
// Their texts are the files in the directory host, whose README.md says how they work and why; package hostcode strips them
// before they are sent.
//
// # On the wire
//
// WIRE.md describes what is typed and printed, so that another decoder can be written from it.
//
// # Limits
//
// Traps on DEBUG and ERR do not outlive the command that sets them. Redirections with exec do not outlive the command
// either for descriptors 0, 1, 2, 8 and 9, in bash 0, 1, 2 and 241 to 243. What an interrupt may end with the shell: a command that
// has more to run, in ksh93, mksh, dash and ash; the shell then leaves with 130. ksh93 forgets an interrupt that comes in a
// substitution, and the one of [Signal] in a subshell too. A trap on INT of the command's own takes the driver's place, and one on
// URG that of [Signal].
//
// Of the command before, PIPESTATUS is not kept, nor $? in mksh under xtrace. mksh counts no lines. ksh93 puts an eval[1] for each of
// the driver's lists before its messages.
//
// The package starts no goroutines, keeps no global state and performs no I/O.
// The format is private to one version: both ends come from here.
package framing
