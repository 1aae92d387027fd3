// Package sandbox says where a principal may work on a host, and how that is enforced.
//
// A [Sandbox] is a directory on a host. What holds a principal in it is told truthfully, as an [Enforcement]:
//
//   - kernel: the session's shell runs in a place of its own ([Bubblewrap], [Landlock]) in which only the directory can be
//     written, and what [FindSecrets] finds cannot be read. Unknown programs are held too. [Enforcement.Open] lists what
//     that leaves open.
//   - account: the account that logs in can do no more; an operator says so, and nothing here proves it.
//   - checked: nothing but what is said below.
//
// Whatever holds it, each command is read before it runs ([Guard]), and the paths that it names are resolved on the host, by
// a [Resolver]: what surely leads outside is denied. What cannot be told beforehand asks a person under checked, and is left
// to what holds the session elsewhere: under kernel a program that is told so by other means than its words can read
// outside, and write nothing there.
//
// The session's shell has to stand inside: while it stands outside, as after a cd to what only the shell knew, all is denied
// but the way back and work on files that are named by absolute paths.
//
// checked judges names. It promises nothing about races (what another process does to the tree between the look and the
// command), about hard links (a second name inside of a file outside looks like any other file), about mounts below the
// directory, or about a CDPATH that the host's operator sets for the account; kernel holds through all of them but for the
// hard links and mounts that are there already. The approval of a person is for the whole command: what was asked about and
// approved runs as it is, but a path that surely leads outside is denied before anybody is asked.
//
// The package keeps no state and starts nothing by itself. Its values may be used concurrently.
package sandbox
