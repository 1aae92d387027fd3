// Package sshconfig reads OpenSSH client configuration and answers what ssh(1) would do for one host.
//
// A [Config] is one or more files read once, with everything they include. [Config.Resolve] evaluates it for a name as
// typed and gives [Settings], in which each value says which file and line it came from.
//
// What it covers it decides as OpenSSH does: the first value wins, the user's file goes before the system's, Host and
// Match blocks are evaluated in order, a second pass follows where "Match final" asks for one, and values are split,
// unquoted and expanded by OpenSSH's rules. A directive that it does not cover is an error with file and line where it
// would change which host is reached, as whom, with which keys and algorithms or by which route; the others have no effect and are
// listed in Settings.Skipped. Programs named in a configuration (Match exec, KnownHostsCommand) are never run, so that a host for
// which they matter is refused.
//
// Plain directives are decoded by github.com/kevinburke/ssh_config. Blocks, includes, and every line with quotes,
// escapes or a "#" are handled here, because there that library and OpenSSH differ.
//
// There is no global state. Config is immutable and safe for concurrent use.
package sshconfig
