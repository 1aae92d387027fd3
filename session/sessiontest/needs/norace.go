//go:build !race

package needs

// Detector says that the race detector runs.
const Detector = false
