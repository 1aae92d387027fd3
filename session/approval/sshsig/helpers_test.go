package sshsig_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval/sshsig/sshsigtest"
)

const namespace = "approve@fairlead"

// signer returns a new key of a kind.
func signer(t testing.TB, kind string) ssh.Signer {
	var key crypto.Signer
	var err error
	switch kind {
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ecdsa-p256":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ecdsa-p384":
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ecdsa-p521":
		key, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "sk-ed25519":
		return sshsigtest.New(t, ssh.KeyAlgoSKED25519)
	case "sk-ecdsa":
		return sshsigtest.New(t, ssh.KeyAlgoSKECDSA256)
	default:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	require.NoError(t, err)
	s, err := ssh.NewSignerFromSigner(key)
	require.NoError(t, err)
	return s
}

var kinds = []string{"ed25519", "rsa", "ecdsa-p256", "ecdsa-p384", "ecdsa-p521", "sk-ed25519", "sk-ecdsa"}

// keygen returns the path of the real program.
func keygen(t *testing.T) string {
	path, err := exec.LookPath("ssh-keygen")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ssh-keygen is needed: ", err)
		}
		t.Skip("no ssh-keygen")
	}
	return path
}
