package dialer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestForksAreCappedByOpenFiles(t *testing.T) {
	for _, tt := range []struct {
		want   int
		files  uint64
		forks  int
		capped bool
	}{
		{32, 1024, 32, false},
		{500, 1024, 160, true},
		{160, 1024, 160, false},
		{10, 40, 1, true},
		{1, 0, 1, false},
		{5000, 1 << 63, 5000, false},
	} {
		forks, capped := capForks(tt.want, tt.files)
		assert.Equal(t, tt.forks, forks, "%d of %d files", tt.want, tt.files)
		assert.Equal(t, tt.capped, capped)
	}
	forks, _ := CapForks(1)
	assert.Equal(t, 1, forks)
}
