package knownhosts

import (
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// preference is OpenSSH's default order (ssh_config.5, HostKeyAlgorithms).
var preference = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
	ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
}

// DefaultAlgorithms returns the host key algorithms that x/crypto/ssh supports and considers secure, in OpenSSH's
// order.
func DefaultAlgorithms() []string {
	return inOrder(ssh.SupportedAlgorithms().HostKeys)
}

// inOrder puts algorithms in OpenSSH's order, and those that it does not name last.
func inOrder(algorithms []string) []string {
	var out []string
	for _, a := range preference {
		if slices.Contains(algorithms, a) {
			out = append(out, a)
		}
	}
	for _, a := range algorithms {
		if !slices.Contains(preference, a) {
			out = append(out, a)
		}
	}
	return out
}

// Algorithms returns the host key algorithms to offer for a host, for [ssh.ClientConfig]: those of keys that are known
// for it first, and all certificate algorithms first where a @cert-authority line covers it. The order is otherwise
// kept, and none is ever left out.
func (db *DB) Algorithms(q Query) []string {
	base := q.Algorithms
	if base == nil {
		base = DefaultAlgorithms()
	}
	name, other := q.name()
	types, ca := db.types(name)
	if len(types) == 0 && !ca && other != "" {
		types, ca = db.types(other)
	}
	var first, last []string
	for _, a := range base {
		keyType, cert := keyType(a)
		if types[keyType] || cert && ca {
			first = append(first, a)
		} else {
			last = append(last, a)
		}
	}
	return append(first, last...)
}

func (db *DB) types(name string) (types map[string]bool, ca bool) {
	types = map[string]bool{}
	for _, e := range db.lookup(name) {
		switch e.marker {
		case plain:
			types[e.Type] = true
		case authority:
			ca = true
		}
	}
	return types, ca
}

// keyType returns the type of the plain key that an algorithm works with, and whether it wants a certificate for it.
func keyType(algorithm string) (plainType string, cert bool) {
	plainType, _, cert = strings.Cut(algorithm, "-cert-v01@")
	if cert && strings.HasPrefix(plainType, "sk-") {
		plainType += "@openssh.com"
	}
	if plainType == ssh.KeyAlgoRSASHA256 || plainType == ssh.KeyAlgoRSASHA512 {
		plainType = ssh.KeyAlgoRSA
	}
	return plainType, cert
}
