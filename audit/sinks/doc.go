// Package sinks has places for the heads of an audit chain: a file on another machine's disk, syslog, a web server, a
// program. Each is an [audit.Anchorer]; [Open] makes an [audit.Tee] of a chain and the places that a configuration names.
//
// A [Config] is one entry of the configuration's audit.sinks, and [Decode] reads the list from what a YAML or JSON reader
// gives. What goes to a place is one line for each head, see [audit.Anchor.Line]: no command, no host, no name.
//
// What a place acknowledges is its own affair: the file system after fsync, the web server with a status of 2xx, the
// program with exit code 0, the local syslog daemon by taking the message. Syslog over a network acknowledges nothing, so
// that it cannot be required.
package sinks
