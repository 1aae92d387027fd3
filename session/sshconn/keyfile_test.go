package sshconn_test

import (
	"bytes"
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
	other := *locked // what comes behind the cipher's name does not matter: no passphrase is asked for
	other.Bytes = bytes.Replace(locked.Bytes, []byte("aes256-ctr"), []byte("aes128-ctr"), 1)
	pkcs8 := &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: locked.Bytes}
	old := &pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"}, Bytes: locked.Bytes}
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
		"by a cipher that is not supported": {pem.EncodeToMemory(&other), 0o600, true,
			"it is encrypted with aes128-ctr, which is not supported; change that with ssh-keygen -p -Z aes256-ctr"},
		"as PKCS#8": {pem.EncodeToMemory(pkcs8), 0o600, false, "it is encrypted as PKCS#8, which is not supported; change that with ssh-keygen -p"},
		"without its public key": {pem.EncodeToMemory(old), 0o600, true,
			"it is encrypted in a format that hides its public key, and there is no .pub file next to it; make one with ssh-keygen -y"},
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
