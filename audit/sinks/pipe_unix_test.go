//go:build unix

package sinks_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit/sinks"
)

func TestAPipeHoldsNoTokenAndNoCertificates(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err := sinks.ReadToken(fifo)
	assert.ErrorContains(t, err, fifo+" is not a regular file")
	_, err = sinks.NewClient(fifo)
	assert.ErrorContains(t, err, "ca_file: "+fifo+" is not a regular file")
}
