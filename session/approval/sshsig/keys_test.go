package sshsig_test

import (
	"crypto"
	"crypto/dsa" //lint:ignore SA1019 it is refused
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
)

func rsaSigner(t *testing.T, bits int) ssh.AlgorithmSigner {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	require.NoError(t, err)
	s, err := ssh.NewSignerFromKey(crypto.Signer(key))
	require.NoError(t, err)
	return s.(ssh.AlgorithmSigner)
}

// signedWith is a signature of message that is right in all but, perhaps, its algorithm and its key.
func signedWith(t *testing.T, s ssh.AlgorithmSigner, algorithm string) []byte {
	t.Helper()
	sum := sha512.Sum512(message)
	data := append([]byte("SSHSIG"), ssh.Marshal(struct{ Namespace, Reserved, Hash, Sum string }{namespace, "", "sha512", string(sum[:])})...)
	made, err := s.SignWithAlgorithm(rand.Reader, data, algorithm)
	require.NoError(t, err)
	require.NoError(t, s.PublicKey().Verify(data, made), "the signature itself is good")
	b := blob{1, s.PublicKey().Marshal(), namespace, "", "sha512", ssh.Marshal(made)}
	return []byte(armor(append([]byte("SSHSIG"), ssh.Marshal(b)...)))
}

func TestAnRSAKeySignsWithSHA2Only(t *testing.T) {
	s := rsaSigner(t, sshsig.MinRSABits)
	for _, algorithm := range []string{ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512} {
		sig, err := sshsig.Parse(signedWith(t, s, algorithm))
		require.NoError(t, err, algorithm)
		_, err = sig.Verify(namespace, message)
		require.NoError(t, err, algorithm)
	}
	_, err := sshsig.Parse(signedWith(t, s, ssh.KeyAlgoRSA)) // SHA-1
	require.ErrorIs(t, err, sshsig.ErrFormat)
	assert.ErrorContains(t, err, `does not sign with "ssh-rsa"`)
}

func TestAnRSAKeyThatIsTooShortIsRefused(t *testing.T) {
	for _, bits := range []int{1024, sshsig.MinRSABits - 8} {
		s := rsaSigner(t, bits)
		require.ErrorIs(t, sshsig.Usable(s.PublicKey()), sshsig.ErrFormat)
		_, err := sshsig.Parse(signedWith(t, s, ssh.KeyAlgoRSASHA512))
		require.ErrorIs(t, err, sshsig.ErrFormat)
		assert.ErrorContains(t, err, "bits and needs at least 2048: make another with ssh-keygen -t ed25519")
		_, err = sshsig.Sign(rand.Reader, s, namespace, message)
		require.ErrorIs(t, err, sshsig.ErrFormat)
	}
}

// A key of somebody's own making that does not show what it is made of has no size that could be enough.
func TestAnRSAKeyOfUnknownSizeIsRefused(t *testing.T) {
	key := rsaSigner(t, sshsig.MinRSABits).PublicKey()
	for name, k := range map[string]ssh.PublicKey{"hidden": opaque{key}, "of another kind": mislabeled{opaque{key}}} {
		err := sshsig.Usable(k)
		require.ErrorIs(t, err, sshsig.ErrFormat, name)
		assert.NotErrorIs(t, err, sshsig.ErrSignature, name)
		assert.ErrorContains(t, err, "the RSA key has 0 bits", name)
	}
}

type opaque struct{ ssh.PublicKey }

type mislabeled struct{ opaque }

func (mislabeled) CryptoPublicKey() crypto.PublicKey { return nil }

func TestOnlyKnownTypesOfKeysAreUsable(t *testing.T) {
	for _, kind := range kinds {
		assert.NoError(t, sshsig.Usable(signer(t, kind).PublicKey()), kind)
	}
	// 1024 bits, as x/crypto demands; nothing is signed with it.
	old, err := ssh.NewPublicKey(&dsa.PublicKey{
		Parameters: dsa.Parameters{P: new(big.Int).SetBit(big.NewInt(1), 1023, 1), Q: new(big.Int).SetBit(big.NewInt(1), 159, 1), G: big.NewInt(2)}, Y: big.NewInt(4),
	})
	require.NoError(t, err)
	authority := signer(t, "ed25519")
	certificate := &ssh.Certificate{Key: signer(t, "ed25519").PublicKey(), CertType: ssh.UserCert, ValidBefore: ssh.CertTimeInfinity}
	require.NoError(t, certificate.SignCert(rand.Reader, authority))
	for _, key := range []ssh.PublicKey{old, certificate} {
		err := sshsig.Usable(key)
		require.ErrorIs(t, err, sshsig.ErrFormat, key.Type())
		assert.ErrorContains(t, err, "are not accepted; ed25519, ecdsa, rsa and security keys are")
		b := blob{1, key.Marshal(), namespace, "", "sha512", ssh.Marshal(ssh.Signature{Format: key.Type(), Blob: make([]byte, 64)})}
		_, err = sshsig.Parse([]byte(armor(append([]byte("SSHSIG"), ssh.Marshal(b)...))))
		require.ErrorIs(t, err, sshsig.ErrFormat, key.Type())
	}
}
