//go:build !linux

package sandbox

// EndAbandoned returns 0: [Bubblewrap] needs Linux.
func EndAbandoned() int { return 0 }
