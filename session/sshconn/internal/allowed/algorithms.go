// Package allowed owns what ssh_config allows for a host: algorithms, the sizes of keys, and the ways to log in.
package allowed

import (
	"crypto/rsa"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

// Algorithms is what ssh_config says about them for one host. A nil list is the default.
type Algorithms struct {
	HostKeys, Exchanges, Ciphers, Macs []string
	Signatures                         []string // to log in with, certificates by their own names
	authorities                        []string // that sign host certificates
	RsaBits                            int      // the least size of an RSA key; 0 is no limit
	authoritiesFrom, signaturesFrom    string   // for messages
	rsaBitsFrom                        string
}

// signatures are those that keys and certificates log in with.
var signatures = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoSKED25519v01, ssh.CertAlgoSKECDSA256v01, ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
	ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
}

// standard are algorithms that OpenSSH uses unasked and the SSH library lacks: to add one changes nothing.
var standard = []string{"sntrup761x25519-sha512*", "diffie-hellman-group18-sha512", "umac-*", "sk-*", "webauthn-*"}

// AlgorithmsOf is what ssh_config says about algorithms.
func AlgorithmsOf(s sshconfig.Settings) (a Algorithms, err error) {
	secure, insecure := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	for _, l := range []struct {
		to             *[]string
		keyword        string
		v              sshconfig.Value[string]
		usual, unusual []string
	}{
		{&a.HostKeys, "HostKeyAlgorithms", s.HostKeyAlgorithms, knownhosts.DefaultAlgorithms(), insecure.HostKeys},
		{&a.Exchanges, "KexAlgorithms", s.KexAlgorithms, secure.KeyExchanges, append(insecure.KeyExchanges, "curve25519-sha256@libssh.org")},
		{&a.Ciphers, "Ciphers", s.Ciphers, secure.Ciphers, insecure.Ciphers},
		{&a.Macs, "MACs", s.MACs, secure.MACs, insecure.MACs},
		{&a.Signatures, "PubkeyAcceptedAlgorithms", s.PubkeyAcceptedAlgorithms, signatures, []string{ssh.KeyAlgoRSA, ssh.CertAlgoRSAv01}},
		{&a.authorities, "CASignatureAlgorithms", s.CASignatureAlgorithms, secure.PublicKeyAuths, nil},
	} {
		if *l.to, err = list(l.keyword, l.v, l.usual, l.unusual); err != nil {
			return a, err
		}
	}
	a.signaturesFrom, a.authoritiesFrom = s.PubkeyAcceptedAlgorithms.Source(), s.CASignatureAlgorithms.Source()
	a.RsaBits, a.rsaBitsFrom = s.RequiredRSASize.V, s.RequiredRSASize.Source()
	return a, nil
}

// list evaluates a list of algorithms as OpenSSH does: the list itself, or with "+", "-" or "^" a change to what is usual. Names
// may be patterns. What the library lacks is left out of a list, which makes it shorter and never longer; what a "+" adds must
// be there, and so must something of the whole.
func list(keyword string, v sshconfig.Value[string], usual, unusual []string) ([]string, error) {
	spec := strings.TrimSpace(v.V)
	if spec == "" {
		return nil, nil
	}
	sign, listed := spec[0], strings.Split(strings.TrimLeft(spec, "+-^"), ",")
	all := slices.Concat(usual, unusual)
	var known []string
	for _, pattern := range listed {
		fits := slices.DeleteFunc(slices.Clone(all), func(a string) bool { return !wildcard.Match(a, pattern) })
		if sign == '+' && len(fits) == 0 && !slices.ContainsFunc(standard, func(s string) bool { return wildcard.Match(pattern, s) }) {
			return nil, fmt.Errorf("%s: %s %s: %q is not supported; remove it", v.Source(), keyword, spec, pattern)
		}
		known = append(known, fits...)
	}
	out := known
	switch sign {
	case '+':
		out = slices.Concat(usual, known)
	case '-':
		out = slices.DeleteFunc(slices.Clone(usual), func(a string) bool { return slices.Contains(known, a) })
	case '^':
		out = slices.Concat(known, usual)
	}
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(a string) bool {
		twice := seen[a]
		seen[a] = true
		return twice
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %s %s: none of these is supported; add one of %s", v.Source(), keyword, spec, strings.Join(usual, ","))
	}
	return out, nil
}

// ForKey returns the algorithms that a key or certificate may log in with, best first.
func (a Algorithms) ForKey(key ssh.PublicKey) (out []string) {
	cert, certified := key.(*ssh.Certificate)
	format := key.Type()
	if certified {
		format = cert.Key.Type()
	}
	names := [][2]string{{format, key.Type()}} // to sign with, and as ssh_config calls it
	if format == ssh.KeyAlgoRSA {
		names = [][2]string{{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA512}, {ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA256}, {ssh.KeyAlgoRSA, ssh.KeyAlgoRSA}}
		if certified {
			names[0][1], names[1][1], names[2][1] = ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.CertAlgoRSAv01
		}
	}
	for _, n := range names {
		if a.Signatures == nil && n[0] != ssh.KeyAlgoRSA || slices.Contains(a.Signatures, n[1]) {
			out = append(out, n[0])
		}
	}
	return out
}

// Unfit says why a key must not be offered; "" if it may.
func (a Algorithms) Unfit(key ssh.PublicKey) string {
	if len(a.ForKey(key)) == 0 {
		return fmt.Sprintf("PubkeyAcceptedAlgorithms (%s) does not allow %s", a.signaturesFrom, key.Type())
	}
	if bits := rsaBits(key); bits > 0 && bits < a.RsaBits {
		return fmt.Sprintf("it has %d bits, and RequiredRSASize is %d (%s)", bits, a.RsaBits, a.rsaBitsFrom)
	}
	return ""
}

// CheckHost says why a host's key must not be trusted, whoever knows it.
func (a Algorithms) CheckHost(key ssh.PublicKey) error {
	if bits := rsaBits(key); bits > 0 && bits < a.RsaBits {
		return fmt.Errorf("the host's key has %d bits, and RequiredRSASize is %d (%s)", bits, a.RsaBits, a.rsaBitsFrom)
	}
	return nil
}

// CheckAuthority says why a host's certificate does not count, though its authority is known. Its plain key may be known all the same.
func (a Algorithms) CheckAuthority(cert *ssh.Certificate) error {
	if a.authorities != nil && cert.Signature != nil && !slices.Contains(a.authorities, cert.Signature.Format) {
		return fmt.Errorf("it is signed with %s, which CASignatureAlgorithms (%s) does not allow", cert.Signature.Format, a.authoritiesFrom)
	}
	return nil
}

// rsaBits is the size of an RSA key, and 0 of another.
func rsaBits(key ssh.PublicKey) int {
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	if k, ok := key.(ssh.CryptoPublicKey); ok {
		if pub, ok := k.CryptoPublicKey().(*rsa.PublicKey); ok {
			return pub.N.BitLen()
		}
	}
	return 0
}

// AllowsHost reports whether ssh_config lets a host show a key of this kind.
func (a Algorithms) AllowsHost(key ssh.PublicKey) bool {
	usual := a.HostKeys
	if usual == nil {
		usual = knownhosts.DefaultAlgorithms()
	}
	if key.Type() == ssh.KeyAlgoRSA {
		return slices.Contains(usual, ssh.KeyAlgoRSASHA512) || slices.Contains(usual, ssh.KeyAlgoRSASHA256)
	}
	return slices.Contains(usual, key.Type())
}
