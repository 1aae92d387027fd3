//go:build race

package needs

// Detector says that the race detector runs. It makes what runs several times slower and larger, and finds nothing in shells,
// in other programs and where there is one goroutine: tests whose work is there do less of it.
const Detector = true
