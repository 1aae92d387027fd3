package redact_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bodyOf is so many lines of base64, as they stand inside a block.
func bodyOf(lines int) string {
	var raw []byte
	for i := range lines * 2 {
		sum := sha256.Sum256([]byte{byte(i)})
		raw = append(raw, sum[:24]...)
	}
	var b strings.Builder
	for text := base64.StdEncoding.EncodeToString(raw); len(text) >= 64; text = text[64:] {
		b.WriteString(text[:64] + "\n")
	}
	return b.String()
}

// The end of a block whose beginning nobody saw says what it was: a certificate is shown as soon as that line is there, and a key
// never is.
func TestTheEndOfABlockIsJudgedAsSoonAsItIsThere(t *testing.T) {
	for _, end := range []string{"-----END CERTIFICATE-----\n", "\n-----END CERTIFICATE-----\n", "-----END PUBLIC KEY-----\n"} {
		l := liveWriter(t, knownSet(t))
		_, err := l.WriteString(bodyOf(3) + end)
		require.NoError(t, err)
		assert.Equal(t, bodyOf(3)+end, l.all(), end)
	}
	l := liveWriter(t, knownSet(t))
	_, err := l.WriteString(bodyOf(3) + "-----END PRIVATE KEY-----\n")
	require.NoError(t, err)
	assert.NotContains(t, l.all(), bodyOf(3)[:20])
	assert.NotContains(t, l.ends(), bodyOf(3)[:20])
}
