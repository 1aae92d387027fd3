package knownhosts

import (
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Presented is the key a host showed.
type Presented struct {
	Host        string        // as it is or would be recorded: "host", "[host]:port" or the alias
	Key         ssh.PublicKey // the plain key, also where the host showed a certificate for it
	Type        string
	Fingerprint string // "SHA256:…"
}

func (p Presented) String() string { return p.Type + " " + p.Fingerprint }

// UnknownError reports that nothing is known about a host's key. Whether to record it is a question a person may be
// asked; see [Append].
type UnknownError struct {
	Presented
	Files []string // where was looked
	// Certificate says why a certificate of a known authority was not accepted; nil where there was none.
	Certificate error
	// Near holds other keys known for the same host on port 22. One of them being expected is a reason for care.
	Near []Known
	// Skipped holds lines about this host that could not be used. The key may stand in one of them, so do not accept
	// the presented one without asking while there are any.
	Skipped []Warning
	// Command is what records the key, for the message; "" names none.
	Command string
}

func (e *UnknownError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "knownhosts: the key of %s is not known: it shows %s", e.Host, e.Presented)
	if e.Certificate != nil {
		fmt.Fprintf(&b, "; its certificate does not count, because %v", e.Certificate)
	}
	for _, k := range e.Near {
		fmt.Fprintf(&b, "; for port 22 %s has %s %s", k.place(), k.Type, k.Fingerprint)
	}
	for _, w := range e.Skipped {
		fmt.Fprintf(&b, "; %s:%d is about this host but %s", w.File, w.Line, w.Reason)
	}
	b.WriteString("; compare the fingerprint with one you got in another way, then record the key")
	if e.Command != "" {
		b.WriteString(": " + e.Command)
	}
	return b.String()
}

// ChangedError reports that a host shows another key than the recorded one. It is never a yes-or-no question: somebody
// has to find out why, and then remove the old key.
type ChangedError struct {
	Presented
	Known       []Known // recorded keys of the host, at least one; those of the presented type first
	Certificate error   // as in UnknownError
}

func (e *ChangedError) Error() string {
	k := e.Known[0]
	var b strings.Builder
	fmt.Fprintf(&b, "knownhosts: the key of %s HAS CHANGED: it shows %s, but %s has %s %s", e.Host, e.Presented, k.place(),
		k.Type, k.Fingerprint)
	if n := len(e.Known); n > 1 {
		fmt.Fprintf(&b, " and %d more", n-1)
	}
	if e.Certificate != nil {
		fmt.Fprintf(&b, "; its certificate does not count, because %v", e.Certificate)
	}
	b.WriteString("; someone may be listening in, or the host was set up anew: ask who runs it, and only when the new" +
		" fingerprint is confirmed remove the old key")
	if k.File != "" {
		fmt.Fprintf(&b, " with: ssh-keygen -f %s -R %s", quote(k.File), quote(e.Host))
	}
	return b.String()
}

// RevokedError reports that a host shows a key, or a certificate of an authority, that is marked @revoked.
type RevokedError struct {
	Presented
	Known     Known // the @revoked line, or that of a file of revoked keys
	Authority bool  // the line is about the authority that signed the host's certificate
}

func (e *RevokedError) Error() string {
	what := "the key of " + e.Host
	if e.Authority {
		what = "the authority that certified " + e.Host
	}
	return fmt.Sprintf("knownhosts: %s is revoked by %s (%s %s); give the host a new key before you connect", what,
		e.Known.place(), e.Known.Type, e.Known.Fingerprint)
}

func (k Known) place() string {
	if k.File == "" {
		return "the program's own list"
	}
	if k.Line == 0 { // a list of revoked keys in the binary format
		return k.File
	}
	return fmt.Sprintf("%s:%d", k.File, k.Line)
}

// quote writes s so that a shell takes it as one word.
func quote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@%+") == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
