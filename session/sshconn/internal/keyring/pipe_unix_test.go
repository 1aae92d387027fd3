//go:build unix

package keyring

import (
	"crypto/ed25519"
	"encoding/pem"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// No deadline would end the wait for a program that writes to a FIFO.
func TestAPipeIsNoKey(t *testing.T) {
	dir := t.TempDir()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	require.NoError(t, err)
	fifo, good := filepath.Join(dir, "fifo"), filepath.Join(dir, "good")
	for _, name := range []string{fifo, good + ".pub", good + "-cert.pub"} {
		require.NoError(t, syscall.Mkfifo(name, 0o600))
	}
	require.NoError(t, os.WriteFile(good, pem.EncodeToMemory(block), 0o600))

	k := Read(fifo)
	assert.Equal(t, "it is not a regular file", k.Problem)
	assert.Nil(t, k.Public)
	k = Read(good)
	assert.Empty(t, k.Problem)
	assert.NotNil(t, k.Public)
	assert.Nil(t, k.Cert)
}
