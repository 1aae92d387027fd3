// Package proof proves what the judge calls read-only by running it.
//
// Commands come from the tables (commands.go) and from a seeded generator of shell source (source.go). What
// [judge.Judge] calls read-only runs in a throw-away sandbox (cage.go): private mounts, no network, an ordinary user,
// limits of time and output. A seccomp filter (filter.go) reports each system call that starts a program, opens a file
// for writing, changes a file, connects or signals; the listener (listener.go) notes it and lets it go on. What the
// judge's report does not name, and what [known.txt] does not explain, is a finding (verdict.go), and so is a command
// that does not end.
//
// The same cage compares the parser with the shells (parser.go): the programs that a shell starts, with their exact
// words, must be those that the judge listed.
//
// The programs that run here are real, so the oracle itself runs nothing outside of the cage.
package proof
