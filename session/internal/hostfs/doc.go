// Package hostfs is the files of a host as its system has them: names, modes, bytes. There are three ways to them, and an FS is one:
// this machine's own calls, the sftp server of a connection, and a shell where there is none. Packages files and copies decide what is
// done to them, and when.
//
// Some ways do more at once than others; what they can besides is in the interfaces Programs, ManyAtOnce, Gatherer and Timer.
package hostfs
