package copies

import "time"

// SetProgramWait shortens how long a program on a host may be silent. The caller puts it back.
func SetProgramWait(d time.Duration) (back func()) {
	was, wasSync := programWait, syncWait
	programWait, syncWait = d, d
	return func() { programWait, syncWait = was, wasSync }
}
