package sshconn

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// maxRevoked bounds a file of revoked keys.
const maxRevoked = 32 << 20

// revokedKeys is a file of keys that no host may show, as RevokedHostKeys names it.
type revokedKeys struct {
	file string // "" means none
	from string // where ssh_config says it
}

// check returns nil for a key that is not in the file, else a *knownhosts.RevokedError. A file that cannot be used refuses every
// key, as with OpenSSH: what it revokes is not known.
func (r revokedKeys) check(key ssh.PublicKey, host string) error {
	if r.file == "" {
		return nil
	}
	f, err := os.Open(r.file)
	if err != nil {
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys: %w", r.from, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRevoked+1))
	switch {
	case err != nil:
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys: %w", r.from, err)
	case len(data) > maxRevoked:
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys %s is larger than %d MiB", r.from, r.file, maxRevoked>>20)
	case bytes.HasPrefix(data, []byte("SSHKRL\n")):
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys %s is in the binary format, which is not supported; list the keys in a text file", r.from, r.file)
	}
	shown, authority := key, ssh.PublicKey(nil)
	if cert, ok := key.(*ssh.Certificate); ok {
		shown, authority = cert.Key, cert.SignatureKey
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		bad, _, _, _, err := ssh.ParseAuthorizedKey(line)
		if err != nil {
			return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys %s:%d holds no key in a format that is known", r.from, r.file, n)
		}
		if same(bad, shown) || same(bad, authority) {
			return &knownhosts.RevokedError{
				Presented: knownhosts.Presented{Host: host, Key: shown, Type: shown.Type(), Fingerprint: ssh.FingerprintSHA256(shown)},
				Known:     knownhosts.Known{File: r.file, Line: n, Type: bad.Type(), Fingerprint: ssh.FingerprintSHA256(bad)},
				Authority: same(bad, authority),
			}
		}
	}
	return nil
}
