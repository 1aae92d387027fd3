package sshconn_test

import (
	"crypto/ed25519"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestAKeyFileIsSeenAsADialerWouldSeeIt(t *testing.T) {
	_, priv, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	plain, err := ssh.MarshalPrivateKey(priv, "")
	require.NoError(t, err)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(priv, "", []byte("x"))
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		text      []byte
		mode      os.FileMode
		encrypted bool
		problem   string
	}{
		"a key":             {pem.EncodeToMemory(plain), 0o600, false, ""},
		"with a passphrase": {pem.EncodeToMemory(locked), 0o600, true, ""},
		"that others read":  {pem.EncodeToMemory(plain), 0o640, false, "other accounts may read it (mode 0640); chmod 600 it"},
		"that is none":      {[]byte("x"), 0o600, false, "it holds no private key in a format that is known"},
		"that is not whole": {pem.EncodeToMemory(plain)[:60], 0o600, false, "it holds no private key in a format that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "k")
			require.NoError(t, os.WriteFile(file, tt.text, 0o600))
			require.NoError(t, os.Chmod(file, tt.mode))
			k := sshconn.LookAtKey(file)
			assert.Equal(t, tt.encrypted, k.Encrypted)
			assert.Equal(t, tt.problem, k.Problem)
			assert.False(t, k.Missing)
			if tt.problem == "" {
				require.NotNil(t, k.Public)
				assert.Equal(t, "ssh-ed25519", k.Public.Type())
			}
		})
	}
	assert.True(t, sshconn.LookAtKey(filepath.Join(t.TempDir(), "none")).Missing)
}
