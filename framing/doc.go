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
// # On the wire
//
// A frame, typed at the driver:
//
//	TOK''EN -\n         the frame's token, in two halves, and the mode: - usual, m merged, t the terminal as standard input;
//	                    before it :code: where the command before has failed, and for dash and ash what an interrupt leaves to run: + something, =f= something if f is a function
//	'script'\n          one shell word over any number of lines
//	RS\n                the byte 0x1e
//
// Everything that is printed and is not output of the command is a mark: RS, a token of 22 characters, a letter. RS in
// the output of commands is output unless the token after it is right, and tokens come from the system's random source.
//
//	RS frame S                        the command starts
//	RS frame E code;flags;dir RS frame Z \n    the command has ended (z: dir comes from pwd and ends in a newline)
//	RS frame e \n                     in standard error: nothing more of the command's errors comes
//	RS shell e count; bytes           a record of standard error
//	RS ~ abcdefgh hh \n               one byte of standard error, abcdefgh being the start of the shell's token
//	RS shell X code;signal \n         the shell has ended; in standard error RS shell X \n
//	RS nonce T shell                  the supervisor's fresh token, at its start
//	RS nonce H dialect;pid;reader;dir RS nonce h    the shell is ready
//	RS nonce F reason \n              the shell cannot be started
//	RS nonce C dir RS nonce c         the shell is leaving and stands in dir
//
// The frame's token is nowhere while the command runs: see the driver. The shell's token never leaves the supervisor
// but through the terminal. The nonce is no secret: its marks count only before the first frame, or together with X.
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
