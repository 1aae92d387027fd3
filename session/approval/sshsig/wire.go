package sshsig

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// MaxArmored bounds an armored signature: one with RSA keys of 16384 bits has less.
const MaxArmored = 16 << 10

// The armor (PROTOCOL.sshsig, "Armored format").
const (
	begin     = "-----BEGIN SSH SIGNATURE-----\n"
	end       = "-----END SSH SIGNATURE-----\n"
	lineBytes = 70 // characters of base64 in a line, as ssh-keygen writes them
)

// blob is the format between the magic and the end.
type blob struct {
	Version   uint32
	Key       []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// binary is what the armor holds.
func (s *Signature) binary() []byte {
	return append([]byte(magic), ssh.Marshal(blob{version, s.key.Marshal(), s.namespace, "", s.hash, ssh.Marshal(s.sig)})...)
}

// Armor writes the signature as ssh-keygen does.
func (s *Signature) Armor() []byte {
	text := base64.StdEncoding.AppendEncode(nil, s.binary())
	out := []byte(begin)
	for len(text) > lineBytes {
		out = append(append(out, text[:lineBytes]...), '\n')
		text = text[lineBytes:]
	}
	out = append(append(out, text...), '\n')
	return append(out, end...)
}

// Parse reads an armored signature, and nothing beside it. Its error is an ErrFormat. Nothing is verified.
func Parse(armored []byte) (*Signature, error) {
	if len(armored) > MaxArmored {
		return nil, fmt.Errorf("%w: it has %d bytes, and %d is the limit", ErrFormat, len(armored), MaxArmored)
	}
	text, ok := bytes.CutPrefix(armored, []byte(begin))
	if ok {
		text, ok = bytes.CutSuffix(text, []byte(end))
	}
	if !ok {
		return nil, fmt.Errorf("%w: its first and last lines are missing", ErrFormat)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text)) // passes over newlines
	if err != nil {
		return nil, fmt.Errorf("%w: it is not in base64", ErrFormat)
	}
	s, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(s.Armor(), armored) {
		return nil, fmt.Errorf("%w: it is written in another form", ErrFormat)
	}
	return s, nil
}

// ParseBinary reads a signature without its armor, as Parse reads one that has it.
func ParseBinary(raw []byte) (*Signature, error) {
	if len(raw) > MaxArmored {
		return nil, fmt.Errorf("%w: it has %d bytes, and %d is the limit", ErrFormat, len(raw), MaxArmored)
	}
	s, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(s.binary(), raw) {
		return nil, fmt.Errorf("%w: it is written in another form", ErrFormat)
	}
	return s, nil
}

// parse reads what the armor holds.
func parse(raw []byte) (*Signature, error) {
	rest, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("%w: it does not begin with %s", ErrFormat, magic)
	}
	var b blob
	if err := ssh.Unmarshal(rest, &b); err != nil {
		return nil, fmt.Errorf("%w: its fields are torn", ErrFormat)
	}
	switch {
	case b.Version != version:
		return nil, fmt.Errorf("%w: it is of version %d, and %d is known", ErrFormat, b.Version, version)
	case b.Namespace == "":
		return nil, fmt.Errorf("%w: it has no namespace", ErrFormat)
	case b.Reserved != "":
		return nil, fmt.Errorf("%w: it says more than this program knows", ErrFormat)
	case b.Hash != SHA256 && b.Hash != SHA512:
		return nil, fmt.Errorf("%w: it hashes with %.20q", ErrFormat, b.Hash)
	}
	key, err := ssh.ParsePublicKey(b.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: its key cannot be read", ErrFormat)
	}
	if err := Usable(key); err != nil {
		return nil, err
	}
	sig := &ssh.Signature{}
	if err := ssh.Unmarshal(b.Signature, sig); err != nil {
		return nil, fmt.Errorf("%w: what the key made cannot be read", ErrFormat)
	}
	if err := formatFits(key, sig.Format); err != nil {
		return nil, err
	}
	if _, err := presence(key, sig); err != nil {
		return nil, err
	}
	return &Signature{namespace: b.Namespace, hash: b.Hash, key: key, sig: sig}, nil
}
