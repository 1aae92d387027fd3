package quotas

import "time"

// SetPatience sets how long locks are waited for, until the test ends.
func SetPatience(d time.Duration) (back func()) {
	was := patience
	patience = d
	return func() { patience = was }
}
