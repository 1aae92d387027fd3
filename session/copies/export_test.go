package copies

import "time"

// SetProgramWait shortens how long a program on a host may be silent. The caller puts it back.
func SetProgramWait(d time.Duration) (back func()) {
	was, wasSync := programWait, syncWait
	programWait, syncWait = d, d
	return func() { programWait, syncWait = was, wasSync }
}

// SetFar says from which round trip and which size on a file goes through several channels. The caller puts it back.
func SetFar(roundTrip time.Duration, size int64) (back func()) {
	was, wasFile := farAway, laneFile
	farAway, laneFile = roundTrip, size
	return func() { farAway, laneFile = was, wasFile }
}

// SetLaneWait shortens how long further channels are waited for. The caller puts it back.
func SetLaneWait(d time.Duration) (back func()) {
	was := laneWait
	laneWait = d
	return func() { laneWait = was }
}

const (
	Lanes       = lanes
	PerLane     = perLane
	LargePacket = largePacket
)
