package copies

import (
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// SetProgramWait shortens how long a program on a host may be silent. The caller puts it back.
func SetProgramWait(d time.Duration) (back func()) {
	was, wasSync := hostfs.ProgramWait, hostfs.SyncWait
	hostfs.ProgramWait, hostfs.SyncWait = d, d
	return func() { hostfs.ProgramWait, hostfs.SyncWait = was, wasSync }
}

// SetFar says from which round trip and which size on a file goes through several channels. The caller puts it back.
func SetFar(roundTrip time.Duration, size int64) (back func()) {
	was, wasFile := hostfs.FarAway, hostfs.LaneFile
	hostfs.FarAway, hostfs.LaneFile = roundTrip, size
	return func() { hostfs.FarAway, hostfs.LaneFile = was, wasFile }
}

// SetLaneWait shortens how long further channels are waited for. The caller puts it back.
func SetLaneWait(d time.Duration) (back func()) {
	was := hostfs.LaneWait
	hostfs.LaneWait = d
	return func() { hostfs.LaneWait = was }
}

const (
	Lanes       = hostfs.Lanes
	PerLane     = hostfs.PerLane
	LargePacket = hostfs.LargePacket
)
