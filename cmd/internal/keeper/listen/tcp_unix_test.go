//go:build unix

package listen

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPipeIsNoCertificate(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err := TCP{Addr: "127.0.0.1:0", CertFile: fifo, KeyFile: fifo}.Listen(t.Context())
	assert.ErrorContains(t, err, fifo+" is not a regular file")
}
