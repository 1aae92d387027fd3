package reach

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOneOfTwoVersionsIsNewer(t *testing.T) {
	inOrder := []string{
		"v0.0.0-20260101000000-bbbbbbbbbbbb", "v0.0.0-20261121020000-aaaaaaaaaaaa", "v0.1.0-rc.2", "v0.1.0-rc.10", "v0.1.0-rc.x", "v0.1.0",
		"v0.1.1-0.20261121020000-aaaaaaaaaaaa", "v0.1.1", "v0.2.0", "v0.10.0", "v1.0.0+dirty", "v1.2.3",
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			assert.Equal(t, i > j, newer(a, b), "%s after %s", a, b)
		}
	}
	assert.False(t, newer("v1.0.0+dirty", "v1.0.0"))
	for _, none := range []string{"", "(devel)", "1.2.3", "v1.2", "v1.2.3.4", "v1.2.x", "v-1.2.3", "v1.2.99999999999"} {
		assert.False(t, newer(none, "v1.0.0"), none)
		assert.False(t, newer("v99.0.0", none), none)
	}
}
