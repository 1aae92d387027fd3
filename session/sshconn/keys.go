package sshconn

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// wanted says where keys for a host come from.
type wanted struct {
	identities   []string        // private key files
	explicit     map[string]bool // those that somebody named
	certificates []string        // certificate files
	only         bool            // nothing from the agent but what these files name
	agent        string          // its socket; "" means none
	silent       bool            // no person may be asked
	algorithms   algorithms
	host, user   string // for questions
}

// wanted merges what h and ssh_config name. Keys of the command line come first, and then a host's own, as with ssh -i, and then the files that ssh
// would try unasked are not tried; nor are those that ssh_config names where the host takes no others.
func (f *files) wanted(h hosts.Host, s sshconfig.Settings) wanted {
	if h.IdentityOnly {
		s.IdentitiesOnly.V, s.IdentityFiles, s.CertificateFiles = true, nil, nil
	}
	w := wanted{explicit: map[string]bool{}, only: s.IdentitiesOnly.V, agent: s.IdentityAgent.V, certificates: values(s.CertificateFiles)}
	for _, v := range s.IdentityFiles {
		if v.OnCommandLine() {
			w.identities, w.explicit[v.V] = append(w.identities, v.V), true
		}
	}
	for _, path := range h.Identity {
		path = f.expand(path)
		w.identities = append(w.identities, path)
		w.explicit[path] = true
	}
	for _, v := range s.IdentityFiles {
		named := v.From.File != ""
		if !v.OnCommandLine() && (named || len(h.Identity) == 0) {
			w.identities = append(w.identities, v.V)
			w.explicit[v.V] = w.explicit[v.V] || named
		}
	}
	return w
}

// String tells one wanted from another.
func (w wanted) String() string {
	return strings.Join([]string{w.agent, fmt.Sprint(w.only), strings.Join(w.identities, "\x01"), strings.Join(w.certificates, "\x01"),
		strings.Join(w.algorithms.signatures, "\x01"), fmt.Sprint(w.algorithms.rsaBits, w.silent)}, "\x02")
}

// keyring puts the keys for a host into OpenSSH's order: certificates that were named, then keys of the agent that files
// name, then the agent's others unless "IdentitiesOnly", then the files that are left.
func (f *files) keyring(clk *clock, w wanted) (*keyring, error) {
	b := &builder{f: f, w: w, ring: &keyring{}}
	for _, path := range w.identities {
		k := f.key(path)
		if k.missing {
			if w.explicit[path] {
				b.ring.skip(path, k.problem)
			}
			continue
		}
		b.files = append(b.files, k)
	}
	if w.agent != "" {
		b.agent = dialAgent(clk, w.agent, b.ring)
	}
	for _, path := range w.certificates {
		b.named(path)
	}
	for _, k := range b.agent.keys() {
		if b.inFiles(k.public) {
			b.ring.add(k)
		}
	}
	for _, k := range b.agent.keys() {
		if b.inFiles(k.public) {
			continue
		}
		if w.only {
			b.ring.skip(k.from, "IdentitiesOnly allows only keys that are named")
			continue
		}
		b.ring.add(k)
	}
	for _, k := range b.files {
		b.file(k)
	}
	b.ring.identities = slices.DeleteFunc(b.ring.identities, func(id identity) bool {
		why := w.algorithms.unfit(id.public)
		if why != "" {
			b.ring.skip(id.from, why)
		}
		return why != ""
	})
	return b.ring, nil
}

type builder struct {
	f     *files
	w     wanted
	ring  *keyring
	files []*keyFile
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
func (b *builder) certificate(from string, cert *ssh.Certificate, file *keyFile) {
	if why := unfit(cert, time.Now()); why != "" {
		b.ring.skip(from, why)
		return
	}
	var open func(*clock) (ssh.Signer, error)
	for _, k := range b.files {
		if (file == nil || k == file) && k.problem == "" && same(k.public, cert.Key) {
			open = b.opener(k)
			break
		}
	}
	for _, k := range b.agent.keys() { // rather than a file, which may want a passphrase
		if same(k.public, cert.Key) {
			open = k.open
		}
	}
	if open == nil {
		b.ring.skip(from, "the private key of the certificate is not there")
		return
	}
	b.ring.add(identity{from: from, public: cert, open: open})
}

// file adds what k holds, unless the agent had it.
func (b *builder) file(k *keyFile) {
	if k.public != nil && !b.inRing(k.public) {
		if k.problem == "" {
			b.ring.add(identity{from: k.path, public: k.public, open: b.opener(k)})
		} else {
			b.ring.skip(k.path, k.problem)
		}
	} else if k.public == nil {
		b.ring.skip(k.path, k.problem)
	}
	if k.cert != nil && len(b.w.certificates) == 0 && !b.inRing(k.cert) {
		b.certificate(k.path+"-cert.pub", k.cert, k)
	}
}

func (b *builder) opener(k *keyFile) func(*clock) (ssh.Signer, error) {
	return func(clk *clock) (ssh.Signer, error) {
		return k.open(clk, b.f.passphrase(b.w), b.f.cfg.Forget)
	}
}

// inFiles reports whether a key file, or the certificate next to it, is key.
func (b *builder) inFiles(key ssh.PublicKey) bool {
	for _, k := range b.files {
		if same(k.public, key) || k.cert != nil && same(k.cert, key) {
			return true
		}
	}
	return false
}

func (b *builder) inRing(key ssh.PublicKey) bool {
	for _, id := range b.ring.identities {
		if same(id.public, key) {
			return true
		}
	}
	return false
}

func same(a, b ssh.PublicKey) bool {
	return a != nil && b != nil && bytes.Equal(a.Marshal(), b.Marshal())
}

// unfit says why a certificate is not worth offering; "" if it is.
func unfit(cert *ssh.Certificate, now time.Time) string {
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
