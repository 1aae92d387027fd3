package sshsig_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
)

// blob is what an armored signature holds.
type blob struct {
	Version                   uint32
	Key                       []byte
	Namespace, Reserved, Hash string
	Signature                 []byte
}

func armor(raw []byte) string {
	var b strings.Builder
	b.WriteString("-----BEGIN SSH SIGNATURE-----\n")
	text := base64.StdEncoding.EncodeToString(raw)
	for len(text) > 70 {
		b.WriteString(text[:70] + "\n")
		text = text[70:]
	}
	b.WriteString(text + "\n-----END SSH SIGNATURE-----\n")
	return b.String()
}

func TestWhatIsNoSignatureIsRefused(t *testing.T) {
	_, private, err := ed25519.GenerateKey(bytes.NewReader(make([]byte, 64)))
	require.NoError(t, err)
	s, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	key, made := s.PublicKey().Marshal(), ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoED25519, Blob: make([]byte, 64)})
	with := func(change func(b *blob)) string {
		b := blob{1, key, namespace, "", "sha512", made}
		change(&b)
		return armor(append([]byte("SSHSIG"), ssh.Marshal(b)...))
	}
	whole := with(func(*blob) {})
	_, err = sshsig.Parse([]byte(whole))
	require.NoError(t, err)
	ed25519Of := func(kind string) []byte {
		return ssh.Marshal(struct {
			Kind string
			Key  []byte
		}{kind, make([]byte, 32)})
	}
	for name, text := range map[string]string{
		"nothing":                         "",
		"no first line":                   strings.TrimPrefix(whole, "-----BEGIN SSH SIGNATURE-----\n"),
		"no last line":                    strings.TrimSuffix(whole, "-----END SSH SIGNATURE-----\n"),
		"no newline at the end":           strings.TrimSuffix(whole, "\n"),
		"text before":                     "x\n" + whole,
		"text after":                      whole + "x\n",
		"two":                             whole + whole,
		"lines of another length":         strings.Replace(whole, "\n", "\n\n", 2),
		"carriage returns":                strings.ReplaceAll(whole, "\n", "\r\n"),
		"no base64":                       strings.Replace(whole, "U1NIU0lH", "U1NIU0l*", 1),
		"another magic":                   armor(append([]byte("SSHSIC"), ssh.Marshal(blob{1, key, namespace, "", "sha512", made})...)),
		"nothing in it":                   armor(nil),
		"magic alone":                     armor([]byte("SSHSIG")),
		"bytes after":                     armor(append([]byte("SSHSIG"), append(ssh.Marshal(blob{1, key, namespace, "", "sha512", made}), 0)...)),
		"version 2":                       with(func(b *blob) { b.Version = 2 }),
		"no namespace":                    with(func(b *blob) { b.Namespace = "" }),
		"a reserved field":                with(func(b *blob) { b.Reserved = "x" }),
		"SHA-1":                           with(func(b *blob) { b.Hash = "sha1" }),
		"a hash in capitals":              with(func(b *blob) { b.Hash = "SHA512" }),
		"no key":                          with(func(b *blob) { b.Key = nil }),
		"a key that is followed by more":  with(func(b *blob) { b.Key = append(bytes.Clone(key), 0) }),
		"a key of another kind":           with(func(b *blob) { b.Key = ed25519Of("ssh-ed448") }),
		"a key of the length of another":  with(func(b *blob) { b.Key = key[:len(key)-1] }),
		"no signature":                    with(func(b *blob) { b.Signature = nil }),
		"a signature of another kind":     with(func(b *blob) { b.Signature = ssh.Marshal(ssh.Signature{Format: "ssh-rsa", Blob: make([]byte, 64)}) }),
		"a signature that says more":      with(func(b *blob) { b.Signature = append(bytes.Clone(made), 1, 0, 0, 0, 1) }),
		"longer than anything that signs": strings.Repeat("x", sshsig.MaxArmored+1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sshsig.Parse([]byte(text))
			require.ErrorIs(t, err, sshsig.ErrFormat)
			if block, _ := pem.Decode([]byte(text)); block != nil && text == armor(block.Bytes) {
				_, err := sshsig.ParseBinary(block.Bytes)
				assert.ErrorIs(t, err, sshsig.ErrFormat)
			}
		})
	}
	_, err = sshsig.ParseBinary(make([]byte, sshsig.MaxArmored+1))
	require.ErrorIs(t, err, sshsig.ErrFormat)
	sig, err := sshsig.Parse([]byte(whole))
	require.NoError(t, err)
	_, err = sig.Verify(namespace, message)
	assert.ErrorIs(t, err, sshsig.ErrSignature, "zeros sign nothing")
}

// Whatever parses is written in the same bytes, and verifies no message that nobody signed.
func FuzzParse(f *testing.F) {
	for _, kind := range kinds {
		f.Add(sign(f, signer(f, kind)).Armor())
	}
	f.Fuzz(func(t *testing.T, armored []byte) {
		sig, err := sshsig.Parse(armored)
		if err != nil {
			return
		}
		if !bytes.Equal(sig.Armor(), armored) {
			t.Fatalf("%q is not what it parses to", armored)
		}
		block, _ := pem.Decode(armored)
		if again, err := sshsig.ParseBinary(block.Bytes); err != nil || !bytes.Equal(again.Armor(), armored) {
			t.Fatalf("%q is another without its armor: %v", armored, err)
		}
		if _, err := sig.Verify(namespace, []byte("nobody signs this")); err == nil {
			t.Fatalf("%q verifies", armored)
		}
	})
}
