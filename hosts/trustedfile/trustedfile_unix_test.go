//go:build unix

package trustedfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhoseFilesAreTrusted(t *testing.T) {
	const root, me, other = 0, 1000, 1001
	assert.False(t, strange(root, root))
	assert.False(t, strange(root, me))
	assert.False(t, strange(me, me))
	assert.True(t, strange(other, me))
	assert.True(t, strange(me, root), "root is told whose file it would obey")
}
