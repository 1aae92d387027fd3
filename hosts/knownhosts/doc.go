// Package knownhosts decides whether a host's key is the right one, from known_hosts files, as OpenSSH decides it.
//
// A [DB] holds the lines of one or more files, read once. [DB.Check] gives nil or one of three errors: [*UnknownError],
// [*ChangedError], [*RevokedError]. [DB.Algorithms] orders what to negotiate so that a key already known is asked for
// first, and leaves nothing out, so that a host that lost its old key is seen as changed and not as incompatible.
// [Append] records a key.
//
// A line that cannot be used (junk, unknown key types, keys of SSH protocol 1) is skipped and named in [DB.Warnings];
// it never hides the others. Names are compared in lower case; hashed names, "[host]:port", wildcards, negation,
// @cert-authority and @revoked have OpenSSH's meaning. Host certificates count where a @cert-authority line covers the
// host, and are otherwise treated as the plain key they certify.
//
// What ssh 9.2 does in 180 situations is done here too, but for these:
//
//	situation                                   OpenSSH                     here
//	a changed key, StrictHostKeyChecking no     connects, with a warning    changed: an error
//	a tab between @revoked and the names        the line is skipped         revoked
//	a file that begins with a byte order mark   its first line is skipped   read
//	a last line without an end                  the new key joins it        a new line is begun
//	a key of one type and certificates of       may say changed             the known key is asked for, and accepted
//	  another one, whose authority is unknown
//	the file cannot be read, or a new key not   unknown; connects, with a   an error
//	  written to it                             warning
//	KnownHostsCommand that cannot be started    ignored, with a warning     an error
//	RevokedHostKeys with a signed list          read                        an error
//
// Nothing here asks a person, and there is no mode that accepts any key. There is no global state. A DB is immutable
// and safe for concurrent use.
package knownhosts
