package hostkeys

import (
	"crypto/ed25519"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// listOf is a Key Revocation List with one section, as PROTOCOL.krl of OpenSSH describes it.
func listOf(kind byte, texts ...[]byte) []byte {
	text := func(to, p []byte) []byte { return append(binary.BigEndian.AppendUint32(to, uint32(len(p))), p...) }
	var section []byte
	for _, p := range texts {
		section = text(section, p)
	}
	list := binary.BigEndian.AppendUint32(append([]byte(nil), krlMagic...), 1)
	list = append(list, make([]byte, 3*8+2*4)...)
	return text(append(list, kind), section)
}

// Whatever a list consists of, it is read to its end or refused: a list that is cut off revokes nothing by silence.
func FuzzKeyRevocationLists(f *testing.F) {
	keyOf := func(seed byte) ssh.PublicKey {
		key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(append(make([]byte, 31), seed)).Public())
		require.NoError(f, err)
		return key
	}
	key, other := keyOf(1), keyOf(2)
	whole := listOf(krlKeys, other.Marshal(), key.Marshal())
	revoked, authority, err := revokedByKRL(whole, key)
	require.NoError(f, err)
	require.True(f, revoked)
	require.False(f, authority)
	head := len(listOf(krlKeys)) - 5
	for n := range len(whole) {
		if n != head { // there it ends in front of its first section
			_, _, err = revokedByKRL(whole[:n], key)
			require.Error(f, err, "the first %d bytes", n)
		}
	}
	f.Add(whole)
	f.Add(listOf(krlCertificates, nil, nil))
	f.Add(listOf(krlSHA256, make([]byte, 32)))
	f.Add(append(listOf(krlKeys, key.Marshal()), listOf(krlSignature)[head:]...))
	cert := &ssh.Certificate{Key: key, SignatureKey: other, Serial: 7, KeyId: "web1"}
	f.Fuzz(func(t *testing.T, list []byte) {
		for _, shown := range []ssh.PublicKey{key, cert} {
			revoked, authority, err := revokedByKRL(list, shown)
			if authority && (!revoked || shown == key) {
				t.Errorf("an authority of a plain key, or one that revokes nothing: %v, %v", revoked, err)
			}
		}
	})
}
