//go:build unix

package trustedfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
)

// No deadline would end the wait for a program that writes to a FIFO.
func TestAPipeIsReadOnlyWhereItWasHandedOver(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	_, err := trustedfile.Read(name)
	require.ErrorIs(t, err, trustedfile.ErrSpecial)
	assert.ErrorContains(t, err, name)

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	go func() {
		_, _ = w.WriteString("text")
		_ = w.Close()
	}()
	text, err := trustedfile.Read(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))

	require.NoError(t, os.Remove(name))
	_, err = trustedfile.Read(name)
	assert.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(name, []byte("more"), 0o600))
	text, err = trustedfile.Read(name)
	require.NoError(t, err)
	assert.Equal(t, "more", string(text))
}
