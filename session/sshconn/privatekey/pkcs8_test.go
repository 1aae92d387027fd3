package privatekey

import (
	"bytes"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// byOpenSSL makes an encrypted key, and returns it with its public key.
func byOpenSSL(t testing.TB, dir, generate, encrypt string) (text []byte, public ssh.PublicKey) {
	plain, locked := filepath.Join(dir, "plain"), filepath.Join(dir, "locked")
	for _, args := range []string{"genpkey " + generate + " -out " + plain, "pkcs8 -topk8 " + encrypt + " -passout pass:sesame -in " + plain + " -out " + locked} {
		out, err := exec.Command("openssl", strings.Fields(args)...).CombinedOutput()
		require.NoError(t, err, "openssl %s: %s", args, out)
	}
	text, err := os.ReadFile(plain)
	require.NoError(t, err)
	signer, err := ssh.ParsePrivateKey(text)
	require.NoError(t, err)
	text, err = os.ReadFile(locked)
	require.NoError(t, err)
	return text, signer.PublicKey()
}

func TestKeysThatOpenSSLEncryptsAreRead(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		needs.Part(t, "openssl is not installed")
	}
	for _, encrypt := range []string{
		"-v2 aes-256-cbc", "-v2 aes-192-cbc", "-v2 aes-128-cbc -v2prf hmacWithSHA1", "-v2 des3 -v2prf hmacWithSHA512", "-v2 aes-256-cbc -v2prf hmacWithSHA384 -iter 10000",
		"-v2 aes-128-cbc -v2prf hmacWithSHA224",
	} {
		for _, generate := range []string{"-algorithm ed25519", "-algorithm rsa -pkeyopt rsa_keygen_bits:2048", "-algorithm ec -pkeyopt ec_paramgen_curve:P-256"} {
			text, public := byOpenSSL(t, t.TempDir(), generate, encrypt)
			key, err := Parse(text)
			require.NoError(t, err, "%s %s", generate, encrypt)
			signer, err := key.Open([]byte("sesame"))
			require.NoError(t, err, "%s %s", generate, encrypt)
			assert.Equal(t, public.Marshal(), signer.PublicKey().Marshal())
			_, err = key.Open([]byte("Sesame"))
			assert.ErrorIs(t, err, ErrPassphrase)
		}
	}
	for _, encrypt := range []string{"-scrypt", "-v1 PBE-SHA1-3DES", "-v2 camellia-128-cbc"} {
		text, _ := byOpenSSL(t, t.TempDir(), "-algorithm ed25519", encrypt)
		_, err := Parse(text)
		assert.ErrorContains(t, err, "it is encrypted ", encrypt)
	}
}

// Whatever a file holds, reading it ends, and without a panic.
func FuzzReadPKCS8(f *testing.F) {
	const key = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhhC5km8Rte6gICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKPRidLrOqTKuZCjU0pT6ZgEQAAB
AgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAx
MjM0NTY3ODk6Ozw9Pj8=
-----END ENCRYPTED PRIVATE KEY-----
`
	block, _ := pem.Decode([]byte(key))
	_, err := readPKCS8(block.Bytes)
	require.NoError(f, err)
	f.Add(block.Bytes)
	f.Add(bytes.Repeat([]byte{0x30, 0x80}, 40))
	f.Fuzz(func(t *testing.T, der []byte) {
		key, err := readPKCS8(der)
		if err != nil {
			return
		}
		key.derivation.Iterations = min(key.derivation.Iterations, 3)
		_, _ = key.open([]byte("x"))
	})
}
