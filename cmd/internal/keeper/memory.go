package keeper

import (
	"os"
	"runtime/debug"
)

// softLimit is where the collector of garbage begins to work harder: what a keeper that is attacked holds at a time is less, and what
// it has let go of would be as much again.
const softLimit = 80 << 20

// LimitMemory makes the garbage of this process count, for a process that is a keeper and nothing else. GOMEMLIMIT overrides it.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softLimit)
	}
}
