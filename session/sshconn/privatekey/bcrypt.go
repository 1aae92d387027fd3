package privatekey

import (
	"crypto/sha512"
	"encoding/binary"

	"golang.org/x/crypto/blowfish" //lint:ignore SA1019 the format is made of it
)

// deriveKey makes a key of size bytes of a passphrase as OpenBSD's bcrypt_pbkdf(3) does. Neither passphrase nor salt may be empty.
func deriveKey(passphrase, salt []byte, rounds uint32, size int) []byte {
	const block = 32
	secret := sha512.Sum512(passphrase)
	blocks := (size + block - 1) / block
	key := make([]byte, blocks*block)
	for n := range blocks {
		salted := sha512.Sum512(binary.BigEndian.AppendUint32(append([]byte(nil), salt...), uint32(n+1)))
		last := bcryptHash(secret[:], salted[:])
		sum := last
		for range rounds - 1 {
			salted = sha512.Sum512(last[:])
			last = bcryptHash(secret[:], salted[:])
			for i := range sum {
				sum[i] ^= last[i]
			}
		}
		for i, b := range sum { // each block is spread over all of the key
			key[i*blocks+n] = b
		}
	}
	return key[:size]
}

// bcryptHash is bcrypt with hashes of 64 bytes for its password and salt, 64 rounds, and a text of 32 bytes.
func bcryptHash(secret, salt []byte) (out [32]byte) {
	c, err := blowfish.NewSaltedCipher(secret, salt)
	if err != nil {
		panic("privatekey: " + err.Error()) // no length of a key but 0 is an error
	}
	for range 64 {
		blowfish.ExpandKey(salt, c)
		blowfish.ExpandKey(secret, c)
	}
	text := []byte("OxychromaticBlowfishSwatDynamite")
	for at := 0; at < len(text); at += blowfish.BlockSize {
		for range 64 {
			c.Encrypt(text[at:], text[at:])
		}
	}
	for at := 0; at < len(text); at += 4 { // the words are big-endian in the cipher, and little-endian in the key
		binary.LittleEndian.PutUint32(out[at:], binary.BigEndian.Uint32(text[at:]))
	}
	return out
}
