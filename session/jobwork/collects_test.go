package jobwork

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// Of several that collect one job at the same time each is told how it ended, and its output stays for all.
func TestAJobThatSeveralCollectIsCollectedOnce(t *testing.T) {
	b, start := book(t)
	ref := start("seq 2000; exit 3")
	whole := all(t, b, ref, "stdout", 1<<20)
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() {
			j, err := b.Collect(t.Context(), ref, "")
			if assert.NoError(t, err) && assert.Equal(t, jobs.Ended, j.State) {
				assert.Equal(t, 3, *j.ExitCode)
			}
		})
	}
	together.Wait()
	assert.Equal(t, whole, all(t, b, ref, "stdout", 97))
}
