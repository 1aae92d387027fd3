package hostkeys

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/ssh"
)

// krlMagic begins a Key Revocation List, the binary format of ssh-keygen -k. OpenSSH describes it in PROTOCOL.krl.
var krlMagic = []byte("SSHKRL\n\x00")

const (
	krlCertificates = 1
	krlKeys         = 2
	krlSHA1         = 3
	krlSignature    = 4
	krlSHA256       = 5

	krlSerials = 0x20
	krlRange   = 0x21
	krlBitmap  = 0x22
	krlIDs     = 0x23
)

var errKRL = errors.New("the list is truncated or damaged")

// krl reads what a list consists of. After an error everything is empty.
type krl struct {
	rest []byte
	err  error
}

func (k *krl) take(n int) []byte {
	if k.err != nil || n > len(k.rest) {
		k.rest, k.err = nil, errKRL
		return nil
	}
	p := k.rest[:n]
	k.rest = k.rest[n:]
	return p
}

func (k *krl) number() uint64 {
	if p := k.take(8); p != nil {
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

func (k *krl) text() []byte {
	p := k.take(4)
	if p == nil {
		return nil
	}
	n := binary.BigEndian.Uint32(p)
	if uint64(n) > uint64(len(k.rest)) {
		k.rest, k.err = nil, errKRL
		return nil
	}
	return k.take(int(n))
}

// list calls each for all texts in the rest.
func (k *krl) list(each func([]byte)) {
	for len(k.rest) > 0 {
		if p := k.text(); k.err == nil {
			each(p)
		}
	}
}

// revokedByKRL reports whether a list names a key, the key that a certificate is for, its authority, or the certificate by its number
// or its identity. All of a list is read: what it revokes is not known where a part of it is not.
func revokedByKRL(data []byte, key ssh.PublicKey) (revoked, authority bool, err error) {
	k := &krl{rest: data}
	k.take(len(krlMagic))
	if v := k.take(4); v != nil && binary.BigEndian.Uint32(v) != 1 {
		return false, false, fmt.Errorf("version %d of the format is not known", binary.BigEndian.Uint32(v))
	}
	k.number() // its own version, when it was made, and flags
	k.number()
	k.number()
	k.text() // reserved, and a comment
	k.text()
	cert, _ := key.(*ssh.Certificate)
	shown, ca := key.Marshal(), []byte(nil)
	if cert != nil {
		shown, ca = cert.Key.Marshal(), cert.SignatureKey.Marshal()
	}
	match := func(list *krl, of func([]byte) []byte) {
		list.list(func(p []byte) {
			revoked = revoked || bytes.Equal(p, of(shown))
			authority = authority || ca != nil && bytes.Equal(p, of(ca))
		})
	}
	for len(k.rest) > 0 && k.err == nil {
		kind := k.take(1)[0]
		section := &krl{rest: k.text(), err: k.err}
		switch kind {
		case krlKeys:
			match(section, func(p []byte) []byte { return p })
		case krlSHA1:
			match(section, func(p []byte) []byte { s := sha1.Sum(p); return s[:] })
		case krlSHA256:
			match(section, func(p []byte) []byte { s := sha256.Sum256(p); return s[:] })
		case krlCertificates:
			by := section.text() // none means any authority
			section.text()
			listed := section.certificate(cert)
			revoked = revoked || listed && (len(by) == 0 || bytes.Equal(by, ca))
		case krlSignature:
			section.err = errors.New("signed lists are not supported")
		default:
			section.err = fmt.Errorf("sections of type %d are not supported", kind)
		}
		k.err = section.err
	}
	return revoked || authority, authority, k.err
}

// certificate reports whether the rest, which is about certificates, names cert.
func (k *krl) certificate(cert *ssh.Certificate) (named bool) {
	serial := func(is func(uint64) bool) { // certificates without a number have 0
		named = named || cert != nil && cert.Serial != 0 && is(cert.Serial)
	}
	for len(k.rest) > 0 && k.err == nil {
		kind := k.take(1)[0]
		part := &krl{rest: k.text(), err: k.err}
		switch kind {
		case krlSerials:
			for len(part.rest) > 0 {
				n := part.number()
				serial(func(s uint64) bool { return part.err == nil && s == n })
			}
		case krlRange:
			low, high := part.number(), part.number()
			serial(func(s uint64) bool { return part.err == nil && low <= s && s <= high })
		case krlBitmap:
			from, bits := part.number(), new(big.Int).SetBytes(part.text())
			serial(func(s uint64) bool {
				return s >= from && s-from < uint64(bits.BitLen()) && bits.Bit(int(s-from)) == 1
			})
		case krlIDs:
			var ids [][]byte
			part.list(func(p []byte) { ids = append(ids, p) })
			named = named || cert != nil && slices.ContainsFunc(ids, func(p []byte) bool { return string(p) == cert.KeyId })
		default:
			part.err = fmt.Errorf("certificates listed by the type %d are not supported", kind)
		}
		k.err = part.err
	}
	return named
}
