package sshconn_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	other.Bytes = bytes.Replace(locked.Bytes, []byte("aes256-ctr"), []byte("aes128-xyz"), 1)
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
		"by a cipher that is not supported": {pem.EncodeToMemory(&other), 0o600, false,
			"it is encrypted with aes128-xyz, which is not supported; change that with ssh-keygen -p -Z aes256-ctr"},
		"as PKCS#8 that is not":  {pem.EncodeToMemory(pkcs8), 0o600, false, "it is encrypted in another way than PBES2 with PBKDF2; change that with ssh-keygen -p"},
		"without its public key": {pem.EncodeToMemory(old), 0o600, true, ""},
		"that is not whole":      {pem.EncodeToMemory(plain)[:60], 0o600, false, "it holds no private key in a format that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "k")
			require.NoError(t, os.WriteFile(file, tt.text, 0o600))
			require.NoError(t, os.Chmod(file, tt.mode))
			k := sshconn.LookAtKey(file)
			assert.Equal(t, tt.encrypted, k.Encrypted)
			assert.Equal(t, tt.problem, k.Problem)
			assert.False(t, k.Missing)
			if tt.problem == "" && name != "without its public key" {
				require.NotNil(t, k.Public)
				assert.Equal(t, "ssh-ed25519", k.Public.Type())
			}
		})
	}
	assert.True(t, sshconn.LookAtKey(filepath.Join(t.TempDir(), "none")).Missing)
}

// ssh logs in with each of these, and asks for the passphrase of one that hides its public key once its turn has come.
func TestAKeyThatOthersEncryptLogsIn(t *testing.T) {
	for _, part := range []string{"openssl", "ssh-keygen"} {
		if _, err := exec.LookPath(part); err != nil {
			needs.Part(t, "%s is not installed", part)
		}
	}
	const rsa = "-t rsa -b 2048"
	for name, tt := range map[string]struct {
		keygen  string
		openssl string // encrypts it then
		hidden  bool
	}{
		"PKCS#8":                        {rsa + " -m PEM", "pkcs8 -topk8 -v2 aes-256-cbc", true},
		"PEM":                           {rsa + " -m PEM -N secret", "", true},
		"aes256-gcm@openssh.com":        {"-t ed25519 -a 1 -N secret -Z aes256-gcm@openssh.com", "", false},
		"chacha20-poly1305@openssh.com": {"-t ecdsa -a 1 -N secret -Z chacha20-poly1305@openssh.com", "", false},
		"3des-cbc":                      {"-t ed25519 -a 1 -N secret -Z 3des-cbc", "", false},
	} {
		for _, beside := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, .pub file %v", name, beside), func(t *testing.T) {
				a := newAccount(t)
				made, locked := filepath.Join(t.TempDir(), "made"), a.path("locked")
				args := strings.Fields(tt.keygen)
				if tt.openssl != "" {
					args = append(args, "-N", "")
				}
				out, err := exec.Command("ssh-keygen", append(args, "-q", "-f", made)...).CombinedOutput()
				require.NoError(t, err, "%s", out)
				if tt.openssl != "" {
					out, err := exec.Command("openssl", append(strings.Fields(tt.openssl), "-passout", "pass:secret", "-in", made, "-out", locked)...).CombinedOutput()
					require.NoError(t, err, "%s", out)
				} else {
					require.NoError(t, os.Rename(made, locked))
				}
				text, err := os.ReadFile(made + ".pub")
				require.NoError(t, err)
				public, _, _, _, err := ssh.ParseAuthorizedKey(text)
				require.NoError(t, err)
				if beside {
					a.write("locked.pub", string(text))
				}
				look := sshconn.LookAtKey(locked)
				assert.True(t, look.Encrypted)
				assert.Empty(t, look.Problem)
				assert.Equal(t, tt.hidden && !beside, look.Public == nil)
				server := accepting(t, public)
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
			})
		}
	}
}

// Where no person can be asked, or the passphrase is not known, the refusal says why such a key was not offered.
func TestAKeyThatHidesItsPublicKeySaysWhyItIsNotOffered(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		needs.Part(t, "ssh-keygen is not installed")
	}
	a := newAccount(t)
	locked := a.path("locked")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "secret", "-f", locked).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Remove(locked+".pub"))
	_, other := freshKey(t)
	server := accepting(t, other.PublicKey())
	a.knows(server)
	a.config("IdentityFile ~/.ssh/locked", server)
	asked := 0
	for want, ask := range map[string]func(context.Context, string) ([]byte, error){
		"hides its public key, and there is no .pub file": nil,
		"the passphrase is wrong (without a .pub file": func(context.Context, string) ([]byte, error) {
			asked++
			return []byte("no"), nil
		},
		"no passphrase for the key: gone": func(context.Context, string) ([]byte, error) { return nil, errors.New("gone") },
	} {
		a.ask = ask
		_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
		assert.ErrorContains(t, err, want)
	}
	assert.Equal(t, 3, asked)
}
