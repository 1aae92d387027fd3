package approvals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLettersThatMayLookLikeOthersAreNamed(t *testing.T) {
	assert.Empty(t, foreign("rm -rf /\u202e"))
	assert.Equal(t, "а U+0430, с U+0441", foreign("cаt асс"))
	assert.True(t, strings.HasSuffix(foreign("абвгдежзи"), "…"))
}
