package knownhosts

import (
	"net"
	"slices"
	"strconv"

	"golang.org/x/crypto/ssh"
)

// Query says which host a key is checked for.
type Query struct {
	Host string // the name or address connected to, after ssh_config; not the address it resolved to
	Port uint16 // 0 means 22
	// Alias is what HostKeyAlias says: the name to look up instead, without a port, and the name certificates must
	// carry. "" means none.
	Alias string
	// Algorithms is the order to start from in DB.Algorithms. Nil means OpenSSH's default order of what x/crypto/ssh
	// supports and considers secure.
	Algorithms []string
	// Accept says why a certificate of a known authority does not count, beyond what makes it invalid. Nil accepts all.
	Accept func(*ssh.Certificate) error
}

// name is the first name looked up. other, where not "", is asked when nothing is known for it: OpenSSH lets a key that
// is recorded for the bare host stand for its other ports.
func (q Query) name() (name, other string) {
	if q.Alias != "" {
		return lower(q.Alias), ""
	}
	name = Name(q.Host, q.Port)
	if bare := lower(q.Host); bare != name {
		other = bare
	}
	return name, other
}

func (q Query) principal() string {
	if q.Alias != "" {
		return lower(q.Alias)
	}
	return lower(q.Host)
}

// lookup returns the lines about name.
func (db *DB) lookup(name string) []*entry {
	var out []*entry
	for _, i := range db.about.lines(name) {
		out = append(out, &db.entries[i])
	}
	return out
}

// Check decides about the key a host showed; it may be an [*ssh.Certificate]. The error is nil, [*UnknownError],
// [*ChangedError] or [*RevokedError]. x/crypto/ssh has verified by then that the host owns the key.
func (db *DB) Check(q Query, key ssh.PublicKey) error {
	name, other := q.name()
	lines := db.lookup(name)
	var bare []*entry
	if other != "" {
		bare = db.lookup(other)
	}
	var why error
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
		done, err := db.checkCertificate(q, cert, lines, bare)
		if done {
			return err
		}
		why = err
	}
	shown := Presented{Host: name, Key: key, Type: key.Type(), Fingerprint: ssh.FingerprintSHA256(key)}
	wire := string(key.Marshal())
	if e := find(lines, revoked, wire); e != nil {
		return &RevokedError{Presented: shown, Known: e.Known}
	}
	if find(lines, plain, wire) != nil {
		return nil
	}
	if known := all(lines, plain, shown.Type); len(known) > 0 {
		return &ChangedError{Presented: shown, Known: known, Certificate: why}
	}
	if e := find(bare, revoked, wire); e != nil {
		return &RevokedError{Presented: shown, Known: e.Known}
	}
	if find(bare, plain, wire) != nil {
		return nil
	}
	return &UnknownError{Presented: shown, Files: db.names(), Certificate: why, Near: all(bare, plain, shown.Type),
		Skipped: db.skippedFor(name, other)}
}

// checkCertificate decides about a certificate. done is false where its plain key is to be checked instead: no
// authority is known, or err says why the certificate does not count.
func (db *DB) checkCertificate(q Query, cert *ssh.Certificate, lines, bare []*entry) (done bool, err error) {
	key, ca := string(cert.Key.Marshal()), string(cert.SignatureKey.Marshal())
	name, _ := q.name()
	for _, set := range [][]*entry{lines, bare} {
		for _, wire := range []string{key, ca} {
			if e := find(set, revoked, wire); e != nil {
				shown := Presented{Host: name, Key: cert.Key, Type: cert.Key.Type(), Fingerprint: ssh.FingerprintSHA256(cert.Key)}
				return true, &RevokedError{Presented: shown, Known: e.Known, Authority: wire == ca}
			}
		}
		if find(set, authority, ca) != nil {
			err := db.validate(cert, q.principal())
			if err == nil && q.Accept != nil {
				err = q.Accept(cert)
			}
			return err == nil, err
		}
	}
	return false, nil
}

func find(lines []*entry, m marker, wire string) *entry {
	for _, e := range lines {
		if e.marker == m && e.wire == wire {
			return e
		}
	}
	return nil
}

// all returns the keys with a marker, those of one type first.
func all(lines []*entry, m marker, first string) []Known {
	var same, others []Known
	for _, e := range lines {
		switch {
		case e.marker != m:
		case e.Type == first:
			same = append(same, e.Known)
		default:
			others = append(others, e.Known)
		}
	}
	return append(same, others...)
}

func (db *DB) skippedFor(names ...string) []Warning {
	var lines []int
	for _, name := range names {
		if name != "" {
			lines = append(lines, db.without.lines(name)...)
		}
	}
	slices.Sort(lines)
	var out []Warning
	for _, i := range slices.Compact(lines) {
		if e := &db.skipped[i]; e.marker == plain {
			out = append(out, Warning{File: e.File, Line: e.Line, Reason: db.why[i]})
		}
	}
	return out
}

// Callback returns a callback for [ssh.ClientConfig] that checks keys for q and pays no attention to the address of the
// connection, which may be a pipe. With an empty q.Host it takes host and port from the address that was dialed.
func (db *DB) Callback(q Query) ssh.HostKeyCallback {
	return func(addr string, _ net.Addr, key ssh.PublicKey) error {
		q := q
		if q.Host == "" {
			q.Host = addr
			if host, port, err := net.SplitHostPort(addr); err == nil {
				if n, err := strconv.ParseUint(port, 10, 16); err == nil {
					q.Host, q.Port = host, uint16(n)
				}
			}
		}
		return db.Check(q, key)
	}
}
