package privatekey

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// The SSH library decrypts OpenSSH's own format with two of the ciphers that ssh-keygen -Z offers. Here are all of them.

const (
	openSSHType  = "OPENSSH PRIVATE KEY"
	openSSHMagic = "openssh-key-v1\x00"
)

// maxRounds bounds how long a file can have its reader compute: some minutes. ssh-keygen uses 16, or 24, without -a.
const maxRounds = 1 << 14

// openSSH is a key in OpenSSH's own format (PROTOCOL.key) that is encrypted.
type openSSH struct {
	public ssh.PublicKey
	file   openSSHFile
	salt   []byte
	rounds uint32
	cipher openSSHCipher
}

type openSSHFile struct {
	Cipher, KDF string
	Options     []byte
	Keys        uint32
	Public      []byte
	Private     []byte
	Tag         []byte `ssh:"rest"` // of a cipher that has one
}

// openSSHCipher decrypts the private part of a key.
type openSSHCipher struct {
	key, iv, block int
	decrypt        func(key, iv, text, tag []byte) ([]byte, error)
}

var openSSHCiphers = map[string]openSSHCipher{
	"3des-cbc":                      {24, 8, 8, cbc(des.NewTripleDESCipher)},
	"aes128-cbc":                    {16, 16, 16, cbc(aes.NewCipher)},
	"aes192-cbc":                    {24, 16, 16, cbc(aes.NewCipher)},
	"aes256-cbc":                    {32, 16, 16, cbc(aes.NewCipher)},
	"rijndael-cbc@lysator.liu.se":   {32, 16, 16, cbc(aes.NewCipher)},
	"aes128-ctr":                    {16, 16, 16, ctr},
	"aes192-ctr":                    {24, 16, 16, ctr},
	"aes256-ctr":                    {32, 16, 16, ctr},
	"aes128-gcm@openssh.com":        {16, 12, 16, gcm},
	"aes256-gcm@openssh.com":        {32, 12, 16, gcm},
	"chacha20-poly1305@openssh.com": {64, 0, 8, chacha},
}

// readOpenSSH reads a key in OpenSSH's own format; nil is one that is not encrypted.
func readOpenSSH(raw []byte) (*openSSH, error) {
	k := &openSSH{}
	rest, ok := bytes.CutPrefix(raw, []byte(openSSHMagic))
	if !ok || ssh.Unmarshal(rest, &k.file) != nil || k.file.Keys != 1 {
		return nil, ErrFormat
	}
	if k.file.Cipher == "none" && k.file.KDF == "none" {
		return nil, nil
	}
	var options struct {
		Salt   []byte
		Rounds uint32
	}
	var err error
	if k.public, err = ssh.ParsePublicKey(k.file.Public); err != nil {
		return nil, ErrFormat
	}
	k.cipher, ok = openSSHCiphers[k.file.Cipher]
	if !ok || k.file.KDF != "bcrypt" {
		return nil, fmt.Errorf("it is encrypted with %s, which is not supported; change that with ssh-keygen -p -Z aes256-ctr", printable.Heard(k.file.Cipher, 40))
	}
	if ssh.Unmarshal(k.file.Options, &options) != nil || len(options.Salt) == 0 || options.Rounds == 0 || len(k.file.Private)%k.cipher.block != 0 {
		return nil, ErrFormat
	}
	if options.Rounds > maxRounds {
		return nil, fmt.Errorf("its passphrase is made a key in %d rounds, and at most %d are supported; change that with ssh-keygen -p -a 100", options.Rounds, maxRounds)
	}
	k.salt, k.rounds = options.Salt, options.Rounds
	return k, nil
}

// open decrypts the key. A wrong passphrase is ErrPassphrase.
func (k *openSSH) open(passphrase []byte) (ssh.Signer, error) {
	if len(passphrase) == 0 {
		return nil, ErrPassphrase
	}
	derived := deriveKey(passphrase, k.salt, k.rounds, k.cipher.key+k.cipher.iv)
	defer clear(derived)
	plain, err := k.cipher.decrypt(derived[:k.cipher.key], derived[k.cipher.key:], k.file.Private, k.file.Tag)
	defer clear(plain)
	if err != nil || len(plain) < 8 || !bytes.Equal(plain[:4], plain[4:8]) {
		return nil, ErrPassphrase
	}
	// The library reads the rest, as that of a key without a passphrase.
	bare := append([]byte(openSSHMagic), ssh.Marshal(openSSHFile{Cipher: "none", KDF: "none", Keys: 1, Public: k.file.Public, Private: plain})...)
	defer clear(bare)
	text := pem.EncodeToMemory(&pem.Block{Type: openSSHType, Bytes: bare})
	defer clear(text)
	signer, err := ssh.ParsePrivateKey(text)
	switch {
	case err != nil:
		return nil, ErrFormat
	case !bytes.Equal(signer.PublicKey().Marshal(), k.file.Public):
		return nil, errors.New("its private and its public half do not belong together")
	}
	return signer, nil
}

func cbc(of func([]byte) (cipher.Block, error)) func(key, iv, text, tag []byte) ([]byte, error) {
	return func(key, iv, text, _ []byte) ([]byte, error) {
		block, err := of(key)
		if err != nil {
			return nil, err
		}
		plain := make([]byte, len(text))
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, text)
		return plain, nil
	}
}

func ctr(key, iv, text, _ []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(text))
	cipher.NewCTR(block, iv).XORKeyStream(plain, text)
	return plain, nil
}

func gcm(key, iv, text, tag []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return aead.Open(nil, iv, append(bytes.Clone(text), tag...), nil)
}

// chacha decrypts with the first half of the key: the other is for lengths of packets. The tag is not looked at: open compares the
// key that comes out with its public half.
func chacha(key, _, text, _ []byte) ([]byte, error) {
	c, err := chacha20.NewUnauthenticatedCipher(key[:32], make([]byte, chacha20.NonceSize))
	if err != nil {
		return nil, err
	}
	c.SetCounter(1)
	plain := make([]byte, len(text))
	c.XORKeyStream(plain, text)
	return plain, nil
}
