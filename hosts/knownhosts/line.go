package knownhosts

import (
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/ssh"
)

// keyAlgoDSA stays readable, so that a host that still has such a key is told apart from one that lost it.
const keyAlgoDSA = "ssh-dss"

type marker int

const (
	plain marker = iota
	authority
	revoked
)

// entry is one usable line. With key nil it is a line about some hosts whose key cannot be read.
type entry struct {
	Known
	marker marker
	names  names
	key    ssh.PublicKey
	wire   string // key in wire form, to compare by
}

// Known is a key recorded in a file.
type Known struct {
	File        string // "" for keys given to Static
	Line        int    // from 1; 0 in a file without lines
	Type        string // as in the file: "ssh-ed25519", "ssh-rsa" …
	Fingerprint string // "SHA256:…"
}

// parseLine reads one line. ok is false for lines that cannot be used; why says so, or is "" for empty lines and
// comments. When only the key is unusable, e.names is set.
func parseLine(s string) (e entry, why string, ok bool) {
	s = strings.Trim(s, " \t\r")
	if s == "" || s[0] == '#' {
		return e, "", false
	}
	if s[0] == '@' {
		word, rest := cutField(s)
		switch word {
		case "@cert-authority":
			e.marker = authority
		case "@revoked":
			e.marker = revoked
		default:
			return e, "has an unknown marker", false
		}
		if s = rest; strings.HasPrefix(s, "@") {
			return e, "has two markers", false
		}
	}
	field, rest := cutField(s)
	typ, rest := cutField(rest)
	blob, _ := cutField(rest)
	if typ == "" || typ[0] == '#' {
		return e, "has no key", false
	}
	n, err := parseNames(field)
	if err != nil {
		return e, err.Error(), false
	}
	if strings.Trim(typ, "0123456789") == "" {
		return e, "holds a key of SSH protocol 1", false
	}
	e.names, e.Type = n, typ
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || blob == "" {
		return e, "holds no readable key", false
	}
	key, err := ssh.ParsePublicKey(raw)
	switch {
	case err != nil && knownType(typ):
		return e, "holds no readable key", false
	case err != nil:
		return e, "holds a key of an unknown type", false
	case key.Type() != typ:
		return e, "holds a key of another type than it says", false
	}
	e.setKey(key)
	return e, "", true
}

func (e *entry) setKey(key ssh.PublicKey) {
	e.key, e.wire = key, string(key.Marshal())
	e.Type, e.Fingerprint = key.Type(), ssh.FingerprintSHA256(key)
}

func cutField(s string) (field, rest string) {
	rest = strings.TrimLeftFunc(s, func(r rune) bool { return r != ' ' && r != '\t' })
	return s[:len(s)-len(rest)], strings.TrimLeft(rest, " \t")
}

func knownType(typ string) bool {
	switch typ {
	case ssh.KeyAlgoRSA, keyAlgoDSA, ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384,
		ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return true
	}
	return false
}
