package cmdutil

import (
	"os"
	"runtime"
	"runtime/debug"
)

// CollectLess lets a process that serves for long collect its garbage less often, unless GOGC says how often. What a call
// leaves behind is several times what is kept, so that a collection would come every few dozen calls.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// late is a percentage that nothing else sets.
const late = 401

// CollectLate puts a process's first collection of garbage off until it has 16 MiB of it, unless GOGC says how often: most commands
// have ended by then, and a collection takes longer than many of them. From then on it is as ever.
func CollectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(late)
	runtime.AddCleanup(&struct{ _ [64]byte }{}, func(struct{}) {
		if now := debug.SetGCPercent(100); now != late { // CollectLess has been called
			debug.SetGCPercent(now)
		}
	}, struct{}{})
}
