package sshsig_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig/sshsigtest"
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
	rsaKey := rsaSigner(t, sshsig.MinRSABits).PublicKey().(ssh.CryptoPublicKey).CryptoPublicKey().(*rsa.PublicKey)
	zeroed := ssh.Marshal(struct {
		Kind string
		E    []byte
		N    *big.Int
	}{ssh.KeyAlgoRSA, []byte{0, 1, 0, 1}, rsaKey.N})
	token := sshsigtest.New(t, ssh.KeyAlgoSKED25519).PublicKey().Marshal()
	ofToken := func(rest ...byte) []byte {
		return ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: make([]byte, 64), Rest: rest})
	}
	const (
		ends, torn, form = "its first and last lines are missing", "its fields are torn", "it is written in another form"
		coded            = "it is not in base64"
	)
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":                        {"", ends},
		"no first line":                  {strings.TrimPrefix(whole, "-----BEGIN SSH SIGNATURE-----\n"), ends},
		"no last line":                   {strings.TrimSuffix(whole, "-----END SSH SIGNATURE-----\n"), ends},
		"no newline at the end":          {strings.TrimSuffix(whole, "\n"), ends},
		"text before":                    {"x\n" + whole, ends},
		"text after":                     {whole + "x\n", ends},
		"two":                            {whole + whole, coded},
		"lines of another length":        {strings.Replace(whole, "\n", "\n\n", 2), form},
		"carriage returns":               {strings.ReplaceAll(whole, "\n", "\r\n"), ends},
		"no base64":                      {strings.Replace(whole, "U1NIU0lH", "U1NIU0l*", 1), coded},
		"another magic":                  {armor(append([]byte("SSHSIC"), ssh.Marshal(blob{1, key, namespace, "", "sha512", made})...)), "it does not begin with SSHSIG"},
		"nothing in it":                  {armor(nil), "it does not begin with SSHSIG"},
		"magic alone":                    {armor([]byte("SSHSIG")), torn},
		"bytes after":                    {armor(append([]byte("SSHSIG"), append(ssh.Marshal(blob{1, key, namespace, "", "sha512", made}), 0)...)), torn},
		"version 0":                      {with(func(b *blob) { b.Version = 0 }), "it is of version 0"},
		"version 2":                      {with(func(b *blob) { b.Version = 2 }), "it is of version 2"},
		"no namespace":                   {with(func(b *blob) { b.Namespace = "" }), "it has no namespace"},
		"a reserved field":               {with(func(b *blob) { b.Reserved = "x" }), "it says more than this program knows"},
		"SHA-1":                          {with(func(b *blob) { b.Hash = "sha1" }), `it hashes with "sha1"`},
		"a hash in capitals":             {with(func(b *blob) { b.Hash = "SHA512" }), `it hashes with "SHA512"`},
		"no key":                         {with(func(b *blob) { b.Key = nil }), "its key cannot be read"},
		"a key that is followed by more": {with(func(b *blob) { b.Key = append(bytes.Clone(key), 0) }), "its key cannot be read"},
		"a key of another kind":          {with(func(b *blob) { b.Key = ed25519Of("ssh-ed448") }), "its key cannot be read"},
		"a key of the length of another": {with(func(b *blob) { b.Key = key[:len(key)-1] }), "its key cannot be read"},
		"a zero too many in the key": {with(func(b *blob) {
			b.Key, b.Signature = zeroed, ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoRSASHA512, Blob: make([]byte, 256)})
		}), form},
		"no signature":                {with(func(b *blob) { b.Signature = nil }), "what the key made cannot be read"},
		"a signature of another kind": {with(func(b *blob) { b.Signature = ssh.Marshal(ssh.Signature{Format: "ssh-rsa", Blob: make([]byte, 64)}) }), `does not sign with "ssh-rsa"`},
		"one of RSA by a key of ed25519": {with(func(b *blob) {
			b.Signature = ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoRSASHA256, Blob: make([]byte, 64)})
		}), "does not sign with"},
		"a signature that says more":      {with(func(b *blob) { b.Signature = append(bytes.Clone(made), 1, 0, 0, 0, 1) }), "5 bytes follow it"},
		"and a byte more":                 {with(func(b *blob) { b.Signature = append(bytes.Clone(made), 0) }), "1 bytes follow it"},
		"a touch without a counter":       {with(func(b *blob) { b.Key, b.Signature = token, ofToken(1) }), "has 1 bytes, not 5"},
		"a touch that says more":          {with(func(b *blob) { b.Key, b.Signature = token, ofToken(1, 0, 0, 0, 1, 0) }), "has 6 bytes, not 5"},
		"longer than anything that signs": {strings.Repeat("x", sshsig.MaxArmored+1), "is the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sshsig.Parse([]byte(tt.text))
			require.ErrorIs(t, err, sshsig.ErrFormat)
			require.ErrorContains(t, err, tt.want)
			if block, _ := pem.Decode([]byte(tt.text)); block != nil && tt.text == armor(block.Bytes) {
				_, err := sshsig.ParseBinary(block.Bytes)
				require.ErrorIs(t, err, sshsig.ErrFormat)
				assert.ErrorContains(t, err, tt.want)
			}
		})
	}
	sig, err := sshsig.Parse([]byte(whole))
	require.NoError(t, err)
	_, err = sig.Verify(namespace, message)
	assert.ErrorIs(t, err, sshsig.ErrSignature, "zeros sign nothing")
}

// sized is a signature of a size, without armor, which parses.
func sized(t *testing.T, size int) []byte {
	t.Helper()
	b := blob{1, signer(t, "ed25519").PublicKey().Marshal(), "", "", "sha512", ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoED25519, Blob: make([]byte, 64)})}
	b.Namespace = strings.Repeat("n", size-len("SSHSIG")-len(ssh.Marshal(b)))
	return append([]byte("SSHSIG"), ssh.Marshal(b)...)
}

func TestASignatureMayBeAsLongAsTheLimit(t *testing.T) {
	_, err := sshsig.ParseBinary(sized(t, sshsig.MaxArmored))
	require.NoError(t, err)
	_, err = sshsig.ParseBinary(sized(t, sshsig.MaxArmored+1))
	require.ErrorIs(t, err, sshsig.ErrFormat)
	require.ErrorContains(t, err, "16385 bytes, and 16384 is the limit")

	longest := armor(sized(t, 12072)) // three bytes are four characters
	require.Len(t, longest, sshsig.MaxArmored)
	_, err = sshsig.Parse([]byte(longest))
	require.NoError(t, err)
	_, err = sshsig.Parse([]byte(armor(sized(t, 12073))))
	require.ErrorIs(t, err, sshsig.ErrFormat)
	assert.ErrorContains(t, err, "is the limit")
}

// ssh-keygen fills each line but the last, and writes no empty one.
func TestLinesAreFullAndNoneIsEmpty(t *testing.T) {
	full := 0
	for size := 200; size < 320; size++ {
		sig, err := sshsig.ParseBinary(sized(t, size))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(string(sig.Armor()), "\n"), "\n")
		lines = lines[1 : len(lines)-1]
		for _, line := range lines[:len(lines)-1] {
			require.Len(t, line, 70, size)
		}
		last := len(lines[len(lines)-1])
		require.True(t, last > 0 && last <= 70, size)
		if last == 70 {
			full++
		}
	}
	assert.Positive(t, full, "some fill the last line too")
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
