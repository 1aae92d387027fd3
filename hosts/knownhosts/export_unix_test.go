//go:build unix && !solaris && !aix

package knownhosts

// Lock gets an exclusive lock on a file.
var Lock = lock

const (
	LockWait = lockWait
	LockStep = lockStep
)
