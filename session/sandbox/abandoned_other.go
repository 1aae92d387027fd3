//go:build !linux

package sandbox

// EndAbandoned ends nothing: there is no [Bubblewrap] on this system.
func EndAbandoned() int { return 0 }
