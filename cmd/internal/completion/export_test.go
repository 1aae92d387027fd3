package completion

import (
	"testing"
	"time"
)

// Patient lets completion take its time on a busy machine, for one test.
func Patient(t *testing.T) {
	before := Most
	Most = time.Minute
	t.Cleanup(func() { Most = before })
}
