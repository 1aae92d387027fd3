// Package copies copies files and directories to hosts and from them, through the gate of a session.
//
// A [Copy] is one request for any number of hosts: its [Plan] says what is copied, and [Copy.Command] gives the command that
// does it, for [session.Pool.Each] or [session.Session.Run]. The plan is judged as shell source that would write (or read)
// the same paths, approved and recorded with all names in it, and one audit entry per host holds the hash of what was copied.
//
// An upload reads from [Copy.Source], one stream per host in a format of this package; [Local] offers local files and
// directories so and reads each block once for hosts that keep pace with each other. A download writes such a stream to
// [Copy.Sink]; a [Tree] makes local files of it. What became of each file is reported as lines of JSON on the standard output
// of the command: see [Reports].
//
// Every file arrives under a temporary name in its directory (".fairlead-" and 16 letters), is compared with the SHA-256 of
// what was read, is put on disk, and is renamed. A file that has a name is whole. Files up to 16 MiB are read back from the
// host first, larger ones with Plan.Verify. What a killed copy leaves is removed by the next one: see Copy.Journal. Symbolic links, devices, FIFOs and sockets are reported and skipped, and no
// symbolic link below the destination is followed. Set-uid and set-gid are dropped unless Plan.Mode has them.
//
// Hosts are reached by sftp where the connection offers it, a large file of one that is far away through three channels at the
// same time, else by commands of a POSIX shell; this machine by its file system. Errors are *[session.Error], with the codes of package files.
package copies
