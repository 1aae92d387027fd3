// Package keepertest runs keepers for tests: in the test or as processes of their own, on their sockets or over TCP, with the
// calls that many tests make.
//
// The directories below hold such tests. Each is a package of its own, so that "go test ./..." runs them beside each other and
// none takes longer than go test waits for a package, on a slow machine too.
package keepertest
