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

// byOpenSSH has ssh-keygen make a key, and returns it with its public key.
func byOpenSSH(t testing.TB, passphrase, options string) (text []byte, public ssh.PublicKey) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		needs.Part(t, "ssh-keygen is not installed")
	}
	file := filepath.Join(t.TempDir(), "key")
	out, err := exec.Command("ssh-keygen", append(strings.Fields(options), "-N", passphrase, "-q", "-C", "", "-f", file)...).CombinedOutput()
	require.NoError(t, err, "ssh-keygen %s: %s", options, out)
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	pub, err := os.ReadFile(file + ".pub")
	require.NoError(t, err)
	public, _, _, _, err = ssh.ParseAuthorizedKey(pub)
	require.NoError(t, err)
	return text, public
}

func TestEveryKeyOfSSHKeygenIsRead(t *testing.T) {
	types := []string{"-t ed25519", "-t rsa -b 2048", "-t ecdsa -b 521"}
	for name := range openSSHCiphers {
		if strings.HasPrefix(name, "rijndael") {
			continue // another name of aes256-cbc, with which older versions wrote
		}
		text, public := byOpenSSH(t, "sesame", "-t ed25519 -a 2 -Z "+name)
		opens(t, text, public, true)
	}
	for _, kind := range types {
		text, public := byOpenSSH(t, "sesame", kind+" -a 1 -Z aes128-gcm@openssh.com")
		opens(t, text, public, true)
		text, public = byOpenSSH(t, "", kind)
		key, err := Parse(text)
		require.NoError(t, err)
		require.NotNil(t, key.Signer)
		assert.Equal(t, public.Marshal(), key.Public.Marshal())
		for _, format := range []string{"PEM", "PKCS8"} {
			if strings.Contains(kind, "ed25519") {
				continue // ssh-keygen writes those in its own format
			}
			text, public := byOpenSSH(t, "sesame", kind+" -m "+format)
			opens(t, text, public, false)
		}
	}
}

// opens checks that sesame opens a key, and another passphrase does not.
func opens(t *testing.T, text []byte, public ssh.PublicKey, shown bool) {
	key, err := Parse(text)
	require.NoError(t, err, "%s", text)
	require.True(t, key.Encrypted())
	if shown {
		require.Equal(t, public.Marshal(), key.Public.Marshal())
	} else {
		require.Nil(t, key.Public)
	}
	for _, wrong := range []string{"Sesame", ""} {
		_, err = key.Open([]byte(wrong))
		assert.ErrorIs(t, err, ErrPassphrase, "%q", wrong)
	}
	signer, err := key.Open([]byte("sesame"))
	require.NoError(t, err, "%s", text)
	assert.Equal(t, public.Marshal(), signer.PublicKey().Marshal())
}

func TestAKeyThatIsNotSupportedSaysWhy(t *testing.T) {
	text, _ := byOpenSSH(t, "sesame", "-t ed25519 -a 2 -Z aes256-gcm@openssh.com")
	block, _ := pem.Decode(text)
	rest := block.Bytes[len(openSSHMagic):]
	for name, tt := range map[string]struct {
		change func(*openSSHFile)
		want   string
	}{
		"a cipher that is not known": {func(f *openSSHFile) { f.Cipher = "rot13" },
			"it is encrypted with rot13, which is not supported; change that with ssh-keygen -p -Z aes256-ctr"},
		"rounds without end": {func(f *openSSHFile) { f.Options = append(f.Options[:len(f.Options)-4:len(f.Options)-4], 0, 1, 0, 0) },
			"its passphrase is made a key in 65536 rounds, and at most 16384 are supported; change that with ssh-keygen -p -a 100"},
		"two keys":     {func(f *openSSHFile) { f.Keys = 2 }, ErrFormat.Error()},
		"half a block": {func(f *openSSHFile) { f.Private = f.Private[1:] }, ErrFormat.Error()},
	} {
		var file openSSHFile
		require.NoError(t, ssh.Unmarshal(rest, &file))
		tt.change(&file)
		_, err := Parse(pem.EncodeToMemory(&pem.Block{Type: openSSHType, Bytes: append([]byte(openSSHMagic), ssh.Marshal(file)...)}))
		assert.EqualError(t, err, tt.want, name)
	}
	_, err := Parse([]byte("x"))
	assert.ErrorIs(t, err, ErrFormat)
}

// Whatever a file holds, reading it ends, and without a panic.
func FuzzReadOpenSSH(f *testing.F) {
	for _, name := range []string{"3des-cbc", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"} {
		text, _ := byOpenSSH(f, "sesame", "-t ed25519 -a 2 -Z "+name)
		block, _ := pem.Decode(text)
		f.Add(block.Bytes)
	}
	f.Add(bytes.Repeat([]byte(openSSHMagic), 4))
	f.Fuzz(func(t *testing.T, raw []byte) {
		key, err := readOpenSSH(raw)
		if err != nil || key == nil {
			return
		}
		key.rounds = min(key.rounds, 2)
		_, _ = key.open([]byte("sesame"))
	})
}
