// Package framing makes one shell command self-delimiting on a terminal.
//
// [Loader] is the command line that starts everything, [Bootstrap] what is typed when it is up, [Startup] follows both
// and hands out a [Decoder]. From then on [Append] writes the frame for one command, to be typed, and the Decoder turns
// what the terminal prints into events: standard output and standard error apart, live, byte for byte, the exit code
// and the working directory at the end. Programs begin with package session instead, which does all that.
//
// Bootstrap says what runs on the host, Decoder what is on the wire, and Append what does not outlive a command.
//
// The texts that run on a host are the files in the directory host, whose README.md says how they work and why; package
// hostcode strips them before they are sent. WIRE.md describes what is typed and printed, so that another decoder can be
// written from it.
//
// [Quote], [QuoteWords] and [QuoteError] are stable. All else is private to one version of Fairlead, the format included: both
// ends come from here. The package starts no goroutines, keeps no global state and performs no I/O.
package framing
