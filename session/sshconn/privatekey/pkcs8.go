package privatekey

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"

	"golang.org/x/crypto/ssh"
)

// openssl genrsa and genpkey encrypt keys as PKCS#8 (RFC 5958, RFC 8018), which the SSH library does not read and ssh(1) does.

// pkcs8Type is what PEM calls a key that is encrypted so.
const pkcs8Type = "ENCRYPTED PRIVATE KEY"

// maxIterations bounds how long a file can have its reader compute: some seconds. openssl uses 2048.
const maxIterations = 10_000_000

type (
	encryptedKey struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	pbes2Params struct {
		Derivation, Cipher pkix.AlgorithmIdentifier
	}
	pbkdf2Params struct {
		Salt       []byte
		Iterations int
		KeyLength  int                      `asn1:"optional"`
		Hash       pkix.AlgorithmIdentifier `asn1:"optional"`
	}
	pkcs8Cipher struct {
		size int
		of   func(key []byte) (cipher.Block, error)
	}
	pkcs8 struct {
		derivation pbkdf2Params
		hash       func() hash.Hash
		cipher     pkcs8Cipher
		iv, data   []byte
	}
)

const (
	pbes2OID  = "1.2.840.113549.1.5.13"
	pbkdf2OID = "1.2.840.113549.1.5.12"
)

// Algorithms by their object identifiers (RFC 8018, appendix C; RFC 3565 for AES). "" is what is meant where none is named.
var (
	pkcs8Hashes = map[string]func() hash.Hash{
		"": sha1.New, "1.2.840.113549.2.7": sha1.New, "1.2.840.113549.2.8": sha256.New224, "1.2.840.113549.2.9": sha256.New,
		"1.2.840.113549.2.10": sha512.New384, "1.2.840.113549.2.11": sha512.New,
	}
	pkcs8Ciphers = map[string]pkcs8Cipher{
		"2.16.840.1.101.3.4.1.2": {16, aes.NewCipher}, "2.16.840.1.101.3.4.1.22": {24, aes.NewCipher}, "2.16.840.1.101.3.4.1.42": {32, aes.NewCipher},
		"1.2.840.113549.3.7": {24, des.NewTripleDESCipher},
	}
)

// readPKCS8 reads a key that is encrypted so. It fails where that is by other algorithms than those of RFC 8018 with AES or 3DES.
func readPKCS8(der []byte) (*pkcs8, error) {
	var key encryptedKey
	var params pbes2Params
	p := &pkcs8{}
	switch {
	case !whole(der, &key), key.Algorithm.Algorithm.String() != pbes2OID, !whole(key.Algorithm.Parameters.FullBytes, &params),
		params.Derivation.Algorithm.String() != pbkdf2OID, !whole(params.Derivation.Parameters.FullBytes, &p.derivation),
		!whole(params.Cipher.Parameters.FullBytes, &p.iv):
		return nil, errors.New("it is encrypted in another way than PBES2 with PBKDF2; change that with ssh-keygen -p")
	}
	d := p.derivation
	p.hash, p.cipher, p.data = pkcs8Hashes[d.Hash.Algorithm.String()], pkcs8Ciphers[params.Cipher.Algorithm.String()], key.Data
	if p.hash == nil || p.cipher.of == nil || d.Iterations < 1 || d.Iterations > maxIterations || d.KeyLength != 0 && d.KeyLength != p.cipher.size {
		return nil, errors.New("it is encrypted with an algorithm that is not known; change that with ssh-keygen -p")
	}
	return p, nil
}

// whole reads all of a DER value.
func whole(der []byte, v any) bool {
	rest, err := asn1.Unmarshal(der, v)
	return err == nil && len(rest) == 0
}

// open decrypts the key. A wrong passphrase is ErrPassphrase.
func (p *pkcs8) open(passphrase []byte) (ssh.Signer, error) {
	derived, err := pbkdf2.Key(p.hash, string(passphrase), p.derivation.Salt, p.derivation.Iterations, p.cipher.size)
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	block, err := p.cipher.of(derived)
	if err != nil {
		return nil, err
	}
	if size := block.BlockSize(); len(p.iv) != size || len(p.data) == 0 || len(p.data)%size != 0 {
		return nil, errors.New("the key is not whole")
	}
	plain := make([]byte, len(p.data))
	defer clear(plain)
	cipher.NewCBCDecrypter(block, p.iv).CryptBlocks(plain, p.data)
	n := int(plain[len(plain)-1]) // the bytes of padding are their number
	if n == 0 || n > block.BlockSize() {
		return nil, ErrPassphrase
	}
	key, err := x509.ParsePKCS8PrivateKey(plain[:len(plain)-n])
	if err != nil {
		return nil, ErrPassphrase
	}
	return ssh.NewSignerFromKey(key)
}
