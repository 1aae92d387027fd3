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
// Nobody answers what they asked themselves, agents answer nothing, and the process tree that hosts an agent is turned
// away by the server. Against a program with the same uid the last of these is a guard rail and no wall: a process can
// leave its tree, and take the place of the server altogether.
//
// Everything may be used concurrently, and there is no global state. Nothing is written to disk but the sockets.
package approval
