//go:build unix

package hostkeys

import (
	"crypto/ed25519"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// A pipe would keep the connection waiting, or revoke nothing.
func TestAPipeDoesNotHoldRevokedKeys(t *testing.T) {
	key, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	require.NoError(t, err)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	assert.ErrorContains(t, Revoked{File: pipe, From: "config:1"}.Check(key, "web1"), "is not a regular file")
	assert.NoError(t, Revoked{File: "/dev/null", From: "config:1"}.Check(key, "web1"))
}
