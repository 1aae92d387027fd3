package cmdutil

import (
	"os"
	"runtime/debug"
)

// CollectLess lets a process that serves for long collect its garbage less often, unless GOGC says how often. What a call
// leaves behind is several times what is kept, so that a collection would come every few dozen calls.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
