package keyring

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/allowed"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// Wanted says where keys for a host come from.
type Wanted struct {
	Identities   []string        // private key files
	Explicit     map[string]bool // those that somebody named
	Certificates []string        // certificate files
	NoneBeside   bool            // no certificates but these, although there are none
	Only         bool            // nothing from the agent but what these files name
	Agent        string          // its socket; "" means none
	Silent       bool            // no person may be asked
	Algorithms   allowed.Algorithms
	Ask          func() func(ctx context.Context, keyfile string) ([]byte, error) // for a passphrase; returns nil where no person may be asked
	Forget       bool                                                             // a key that a passphrase has opened
}

// String tells one wanted from another.
func (w Wanted) String() string {
	return strings.Join([]string{w.Agent, fmt.Sprint(w.Only), strings.Join(w.Identities, "\x01"), strings.Join(w.Certificates, "\x01"),
		strings.Join(w.Algorithms.Signatures, "\x01"), fmt.Sprint(w.Algorithms.RsaBits, w.Silent, w.NoneBeside)}, "\x02")
}

// Ring puts the keys for a host into OpenSSH's order: certificates that were named, then keys of the agent that files
// name, then the agent's others unless "IdentitiesOnly", then the files that are left. The agent is told bound before it says its keys.
func (f *Files) Ring(clk *clock.Clock, w Wanted, bound *Binding) (*Ring, error) {
	b := &builder{w: w, ring: &Ring{}}
	for _, path := range w.Identities {
		k := f.key(path)
		if k.Missing {
			if w.Explicit[path] {
				b.ring.skip(path, k.Problem)
			}
			continue
		}
		b.files = append(b.files, k)
	}
	if w.Agent != "" {
		b.agent = dialAgent(clk, w.Agent, bound, b.ring)
	}
	for _, path := range w.Certificates {
		b.named(path)
	}
	for _, k := range b.agent.keys() {
		if b.inFiles(k.Public) {
			b.ring.Add(k)
		}
	}
	for _, k := range b.agent.keys() {
		if b.inFiles(k.Public) {
			continue
		}
		if w.Only {
			b.ring.skip(k.From, "IdentitiesOnly allows only keys that are named")
			continue
		}
		b.ring.Add(k)
	}
	for _, k := range b.files {
		b.file(k)
	}
	b.ring.unfit = w.Algorithms.Unfit
	b.ring.Identities = slices.DeleteFunc(b.ring.Identities, func(id Identity) bool {
		if id.Public == nil {
			return false
		}
		why := w.Algorithms.Unfit(id.Public)
		if why != "" {
			b.ring.skip(id.From, why)
		}
		return why != ""
	})
	return b.ring, nil
}

type builder struct {
	w     Wanted
	ring  *Ring
	files []*File
	agent *agentKeys // nil means none
}

// named adds a certificate of CertificateFile.
func (b *builder) named(path string) {
	cert, ok := readPublic(path).(*ssh.Certificate)
	if !ok {
		b.ring.skip(path, "it holds no certificate")
		return
	}
	b.certificate(path, cert, nil)
}

// certificate adds cert, signed with the key of file, else of the agent, else of any file.
func (b *builder) certificate(from string, cert *ssh.Certificate, file *File) {
	if why := Unfit(cert, time.Now()); why != "" {
		b.ring.skip(from, why)
		return
	}
	var open func(*clock.Clock) (ssh.Signer, error)
	for _, k := range b.files {
		if (file == nil || k == file) && k.Problem == "" && Same(k.Public, cert.Key) {
			open = b.opener(k)
			break
		}
	}
	for _, k := range b.agent.keys() { // rather than a file, which may want a passphrase
		if Same(k.Public, cert.Key) {
			open = k.Open
		}
	}
	if open == nil {
		b.ring.skip(from, "the private key of the certificate is not there")
		return
	}
	b.ring.Add(Identity{From: from, Public: cert, Open: open})
}

// file adds what k holds, unless the agent had it.
func (b *builder) file(k *File) {
	if k.Public != nil && !b.inRing(k.Public) {
		if k.Problem == "" {
			b.ring.Add(Identity{From: k.path, Public: k.Public, Open: b.opener(k)})
		} else {
			b.ring.skip(k.path, k.Problem)
		}
	} else if k.Public == nil && k.Problem == "" && (b.w.Silent || b.w.Ask() == nil) {
		b.ring.skip(k.path, hidden)
	} else if k.Public == nil && k.Problem == "" {
		b.ring.Identities = append(b.ring.Identities, Identity{From: k.path, Open: b.opener(k)})
	} else if k.Public == nil {
		b.ring.skip(k.path, k.Problem)
	}
	if k.Cert != nil && len(b.w.Certificates) == 0 && !b.w.NoneBeside && !b.inRing(k.Cert) {
		b.certificate(k.path+"-cert.pub", k.Cert, k)
	}
}

func (b *builder) opener(k *File) func(*clock.Clock) (ssh.Signer, error) {
	return func(clk *clock.Clock) (ssh.Signer, error) {
		return k.open(clk, b.w.Ask(), b.w.Forget)
	}
}

// inFiles reports whether a key file, or the certificate next to it, is key.
func (b *builder) inFiles(key ssh.PublicKey) bool {
	for _, k := range b.files {
		if Same(k.Public, key) || k.Cert != nil && Same(k.Cert, key) {
			return true
		}
	}
	return false
}

func (b *builder) inRing(key ssh.PublicKey) bool {
	for _, id := range b.ring.Identities {
		if Same(id.Public, key) {
			return true
		}
	}
	return false
}

func Same(a, b ssh.PublicKey) bool {
	return a != nil && b != nil && bytes.Equal(a.Marshal(), b.Marshal())
}

// Unfit says why a certificate is not worth offering; "" if it is.
func Unfit(cert *ssh.Certificate, now time.Time) string {
	at := uint64(max(now.Unix(), 0))
	switch {
	case cert.CertType != ssh.UserCert:
		return "the certificate is one for hosts"
	case at < cert.ValidAfter:
		return "the certificate is not valid before " + time.Unix(int64(cert.ValidAfter), 0).UTC().Format(time.RFC3339)
	case cert.ValidBefore != ssh.CertTimeInfinity && at >= cert.ValidBefore:
		return "the certificate expired at " + time.Unix(int64(cert.ValidBefore), 0).UTC().Format(time.RFC3339)
	}
	return ""
}

// Fingerprint names a key; of a certificate the key that it is about, as OpenSSH does.
func Fingerprint(key ssh.PublicKey) string {
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	return ssh.FingerprintSHA256(key)
}
