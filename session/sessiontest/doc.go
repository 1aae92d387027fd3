// Package sessiontest helps to test programs that embed package session, and transports.
//
// [NewDialer] gives hosts that answer as scripted, without any process. [Server] and [OpenSSHD] give a test an SSH server
// on loopback: one that runs in the process and breaks on demand, and OpenSSH's own. [RunTransport] checks a transport
// against every promise of [session.Transport]. Servers belong to the test that asked for them and end with it.
//
// Begin with NewDialer, whose Dial is for session.PoolConfig. It is stable, and so are [Reply], [Faults] and RunTransport; the rest
// may change.
package sessiontest
