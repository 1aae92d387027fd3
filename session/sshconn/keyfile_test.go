package sshconn_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
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
		"as PKCS#8 that is not": {pem.EncodeToMemory(pkcs8), 0o600, false, "it is encrypted in another way than PBES2 with PBKDF2; change that with ssh-keygen -p"},
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

// openssl genrsa and genpkey encrypt as PKCS#8, and ssh logs in with that.
func TestAKeyThatOpenSSLEncryptsLogsIn(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		needs.Part(t, "openssl is not installed")
	}
	a := newAccount(t)
	plain, locked := filepath.Join(t.TempDir(), "plain"), a.path("locked")
	for _, args := range [][]string{
		{"genpkey", "-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:2048", "-out", plain},
		{"pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", "pass:secret", "-in", plain, "-out", locked},
	} {
		out, err := exec.Command("openssl", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	text, err := os.ReadFile(plain)
	require.NoError(t, err)
	signer, err := ssh.ParsePrivateKey(text)
	require.NoError(t, err)
	assert.Contains(t, sshconn.LookAtKey(locked).Problem, "hides its public key, and there is no .pub file")
	a.write("locked.pub", string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	look := sshconn.LookAtKey(locked)
	assert.True(t, look.Encrypted)
	assert.Empty(t, look.Problem)
	server := accepting(t, signer.PublicKey())
	a.knows(server)
	a.config("IdentityFile ~/.ssh/locked", server)
	asked := 0
	a.ask = func(_ context.Context, file string) ([]byte, error) {
		assert.Equal(t, locked, file)
		asked++
		return []byte([]string{"wrong", "secret"}[asked-1]), nil
	}
	conn, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	assert.Equal(t, 2, asked)
}
