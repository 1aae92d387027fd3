// Package hostkeys owns what says which keys a host may show: known_hosts files as they are now, the program of KnownHostsCommand,
// and the file of RevokedHostKeys.
package hostkeys

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// maxRevoked bounds a file of revoked keys.
const maxRevoked = 32 << 20

// Revoked is a file of keys that no host may show, as RevokedHostKeys names it.
type Revoked struct {
	File string // "" means none
	From string // where ssh_config says it
}

// Check returns nil for a key that is not in the file, else a *knownhosts.RevokedError. A file that cannot be used refuses every
// key, as with OpenSSH: what it revokes is not known.
func (r Revoked) Check(key ssh.PublicKey, host string) error {
	if r.File == "" {
		return nil
	}
	f, err := os.OpenFile(r.File, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without, opening a FIFO would block
	if err != nil {
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys: %w", r.From, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() && st.Mode()&fs.ModeCharDevice == 0 { // /dev/null revokes nothing
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys %s is not a regular file", r.From, r.File)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRevoked+1))
	switch {
	case err != nil:
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys: %w", r.From, err)
	case len(data) > maxRevoked:
		return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys %s is larger than %d MiB", r.From, r.File, maxRevoked>>20)
	}
	shown, authority := key, ssh.PublicKey(nil)
	if cert, ok := key.(*ssh.Certificate); ok {
		shown, authority = cert.Key, cert.SignatureKey
	}
	if bytes.HasPrefix(data, krlMagic) {
		revoked, byAuthority, err := revokedByKRL(data, key)
		switch {
		case err != nil:
			return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys %s: %w", r.From, r.File, err)
		case revoked:
			bad := shown
			if byAuthority {
				bad = authority
			}
			return revokedBy(host, shown, knownhosts.Known{File: r.File, Type: bad.Type(), Fingerprint: ssh.FingerprintSHA256(bad)}, byAuthority)
		}
		return nil
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
			return fmt.Errorf("host keys cannot be checked: %s: RevokedHostKeys %s:%d holds no key in a format that is known", r.From, r.File, n)
		}
		if keyring.Same(bad, shown) || keyring.Same(bad, authority) {
			return revokedBy(host, shown, knownhosts.Known{File: r.File, Line: n, Type: bad.Type(), Fingerprint: ssh.FingerprintSHA256(bad)}, keyring.Same(bad, authority))
		}
	}
	return nil
}

func revokedBy(host string, shown ssh.PublicKey, by knownhosts.Known, authority bool) error {
	return &knownhosts.RevokedError{
		Presented: knownhosts.Presented{Host: host, Key: shown, Type: shown.Type(), Fingerprint: ssh.FingerprintSHA256(shown)},
		Known:     by, Authority: authority,
	}
}
