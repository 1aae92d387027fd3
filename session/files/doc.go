// Package files reads, writes and edits single files on a host, whole and exactly, and lists directories.
//
// [Open] picks the way: the file system itself for this machine, sftp where the connection offers it, else commands of a
// POSIX shell (cat, ls, mv). A [Host] behaves the same on all three.
//
// Writing is atomic: the content goes to a new file beside the old one (".fairlead-" and random letters), is put on disk
// there, gets the mode and owner of the old one, and takes its name. Whatever fails before that leaves the old file as it
// was and removes the new one; what a controller that was killed has left there is removed by a later write in the same
// directory, once it is a day old. What a rename cannot keep is lost: other hard links to the old file, access control
// lists, extended attributes. Set-uid and set-gid are dropped unless the mode of [WriteOptions] has them.
//
// One process changes a file one change at a time: from reading it, or from comparing it with what If of [WriteOptions]
// expects, to the rename. Files are the same if their real paths are, on hosts with the same host key or address. Others on
// the host (people, programs, another process that uses this package) take no turns. What they change is noticed until the
// moment before the rename, by content where that is expected or the file is edited, and gives CodeConflict; a change
// between that look and the rename is lost. Bind mounts and hard links give a file a second real path, which has turns of
// its own.
//
// Paths are absolute. A symbolic link stands for what it leads to, and [Info] tells where that is. Only ordinary files are
// read or written.
//
// A host is not trusted: of what it says there is a limit to how much is read and kept, and to how much gets into an error.
// New content is read back before it takes the place of the old one; that the rename was done is believed.
//
// Where to begin: [On] gives the files of a host that a [session.Pool] reaches. Its work passes the gate of the pool's
// sessions. [Open] is for programs that have a [session.Transport] of their own and judge and record by themselves: it is
// behind no gate. A Host does one thing at a time and is used by one goroutine.
//
// Errors are *[Error], which On's *[session.Error] wrap; those that wrap session.ErrUnknownOutcome mean that the new content
// may or may not be there. On, Remote and Error are stable; Open and Host may change between versions.
package files
