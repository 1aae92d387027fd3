//go:build unix && !solaris && !aix

package knownhosts

// Lock gets an exclusive lock on a file.
var Lock = lock

// Passing reports whether a lock that was refused for an error may be had later.
var Passing = passing

const (
	LockWait = lockWait
	LockStep = lockStep
)
