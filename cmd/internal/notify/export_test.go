package notify

import "time"

// Start is New with another pause before the second attempt.
func Start(all []Config, warn func(string), pause time.Duration) (*Notifier, error) {
	return start(all, warn, pause)
}
