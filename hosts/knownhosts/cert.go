package knownhosts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// validate says why a certificate of a known authority does not count for a host. An empty list of principals covers
// every host, names in it are literal and case-sensitive, as in OpenSSH.
func (db *DB) validate(cert *ssh.Certificate, principal string) error {
	now := time.Now
	if db.now != nil {
		now = db.now
	}
	t := uint64(now().Unix())
	switch {
	case cert.Signature == nil:
		return fmt.Errorf("it is not signed")
	case cert.CertType != ssh.HostCert:
		return fmt.Errorf("it is not a host certificate")
	case t < cert.ValidAfter:
		return fmt.Errorf("it is not valid before %s", when(cert.ValidAfter))
	case t >= cert.ValidBefore: // never so of ssh.CertTimeInfinity
		return fmt.Errorf("it expired at %s", when(cert.ValidBefore))
	case len(cert.ValidPrincipals) > 0 && !slices.Contains(cert.ValidPrincipals, principal):
		return fmt.Errorf("it is for %s and not for %s", principals(cert.ValidPrincipals), principal)
	case cert.Signature.Format == ssh.KeyAlgoRSA || cert.Signature.Format == keyAlgoDSA:
		return fmt.Errorf("it is signed with SHA-1 (%s)", cert.Signature.Format)
	}
	checker := ssh.CertChecker{Clock: now}
	if err := checker.CheckCert(principal, cert); err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "ssh: "))
	}
	return nil
}

// lastTime is 9999-12-31T23:59:59Z: RFC 3339 has no years of five digits.
const lastTime = 253402300799

func when(t uint64) string {
	if t > lastTime {
		return "a time far ahead"
	}
	return time.Unix(int64(t), 0).UTC().Format(time.RFC3339)
}

// principals lists names a server sent, quoted and bounded.
func principals(list []string) string {
	const most = 5
	var out []string
	for _, p := range list[:min(len(list), most)] {
		if len(p) > 100 {
			p = p[:100] + "…"
		}
		out = append(out, fmt.Sprintf("%q", p))
	}
	if n := len(list) - most; n > 0 {
		out = append(out, fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, ", ")
}
