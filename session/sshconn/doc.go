// Package sshconn implements [session.Transport] over SSH.
//
// A [Dialer] connects to hosts. [Default] connects as ssh(1) would: it reads OpenSSH's configuration, known_hosts files,
// the agent and key files. [Static] reads nothing from disk. [New] takes both decisions from functions. All three verify
// host keys; there is no mode that does not.
//
// Begin with Default, or with Static where a program brings its own keys, and give [Dialer.Dial] to session.PoolConfig. The
// package is stable; configurations and errors may gain fields.
//
// Jump hosts are connected to once for all connections that go through them, and are let go with the last.
//
// Programs always run on a terminal that is raw before they start. One deadline bounds connecting, the key exchange and
// logging in together; time in which a person is asked ([Ask]) does not count. Live connections are probed, so that a dead one
// ends on its own.
//
// Goroutines: each connection owns one that answers the server, and two for each program; Close waits for them. Errors are
// *[Error], which wraps *[HostKeyError], *[AuthError] or session.NoLoginError; types of the SSH library, command lines and
// secrets never appear in them. There is no global state.
package sshconn
