// Package fairleadtest is what tests of the whole program share: the program itself, homes and keepers for it, scripts, and
// terminals to sit at.
//
// The directories below hold such tests. Each is a package of its own, so that "go test ./..." runs them beside each other and
// none takes longer than go test waits for a package, on a slow machine too.
package fairleadtest
