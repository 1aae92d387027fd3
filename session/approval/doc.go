// Package approval holds commands that wait for a person's yes, and lets persons answer.
//
// A [Desk] keeps the questions of one process in memory. As a policy.Approver it is what session.Config.Approver takes;
// each question waits there until it is answered, its time is over or its asker gives up. A [Server] offers a Desk to
// other processes of the same account, on a socket in a directory that only the account can enter, and a [Client] asks
// all the servers it finds there.
//
// What is approved is one [Pending], and all of it: whoever answers hands back the digest of what was shown, and an answer
// to anything else is refused. An answer is used once.
//
// Principals cannot answer their own requests, and agents answer nothing. The server refuses the process tree that hosts an
// agent ([Trees.Admit]), also a daemon that has left it where that shows, and everything that runs in a session of its own
// process ([Trees.Inside]). Against a program with the same uid this is a guard rail and no wall: a process can hide where it
// comes from, and take the place of the server altogether.
//
// Everything may be used concurrently, and there is no global state. Nothing is written to disk but the sockets.
package approval
