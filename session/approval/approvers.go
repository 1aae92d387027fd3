package approval

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
)

// Limits of a file of approvers.
const (
	maxApproversFile = 256 << 10
	maxApprovers     = 256
	maxName          = 64
)

// Approver is somebody whose signature counts, with one key.
type Approver struct {
	Name  string        // "ada"; several keys may have the same one
	Key   ssh.PublicKey // of a kind that package sshsig takes
	Proof Proof         // what a signature with it proves
	File  string        // where its private key is, as an absolute path; "" if that is not known

	After, Before time.Time // when it counts; zero is no bound
	Line          int       // in its file, from 1; 0 is none
}

// Fingerprint is that of the key, as OpenSSH writes it.
func (a Approver) Fingerprint() string { return ssh.FingerprintSHA256(a.Key) }

// validAt says why the key does not count at a time.
func (a Approver) validAt(now time.Time) error {
	switch {
	case !a.After.IsZero() && now.Before(a.After):
		return fmt.Errorf("the key of %s counts from %s on", a.Name, a.After.UTC().Format(time.RFC3339))
	case !a.Before.IsZero() && now.After(a.Before):
		return fmt.Errorf("the key of %s has counted until %s: enroll a new one", a.Name, a.Before.UTC().Format(time.RFC3339))
	}
	return nil
}

func byKey(all []Approver, key ssh.PublicKey) (Approver, bool) {
	i := slices.IndexFunc(all, func(a Approver) bool { return bytes.Equal(a.Key.Marshal(), key.Marshal()) })
	if i < 0 {
		return Approver{}, false
	}
	return all[i], true
}

// ParseApprovers reads a file of approvers. It has the format of an allowed_signers file (ssh-keygen(1), "ALLOWED SIGNERS"),
// with less freedom: each line is
//
//	NAME namespaces="approve@fairlead" KEYTYPE BASE64 [proof=PROOF [key=FILE]]
//
// where valid-after="…" and valid-before="…" may follow the namespaces, behind commas, and any comment may stand in the place
// of proof=PROOF. Without that, security keys prove a touch and others nothing. Empty lines and lines that begin with # are
// passed over. name is what errors call the file; every mistake is told with its line, all of them joined.
func ParseApprovers(data []byte, name string) ([]Approver, error) {
	if len(data) > maxApproversFile {
		return nil, fmt.Errorf("approval: %s: the file has %d bytes, more than %d", name, len(data), maxApproversFile)
	}
	var all []Approver
	var errs []error
	number := 0
	for text := range strings.Lines(string(data)) {
		number++
		text = strings.TrimRight(text, "\n")
		if t := strings.Trim(text, " \t"); t == "" || t[0] == '#' {
			continue
		}
		a, err := parseApprover(text)
		if err == nil {
			if other, twice := byKey(all, a.Key); twice {
				err = fmt.Errorf("the key is that of line %d already", other.Line)
			} else if len(all) == maxApprovers {
				err = fmt.Errorf("more than %d approvers", maxApprovers)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("approval: %s:%d: %w", name, number, err))
			if len(errs) == 20 {
				break
			}
			continue
		}
		a.Line = number
		all = append(all, a)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return all, nil
}

func parseApprover(text string) (Approver, error) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
		return Approver{}, errors.New("it holds what cannot be seen, or is not UTF-8")
	}
	var f [4]string
	rest := text
	for i := range f {
		f[i], rest = word(rest)
	}
	a := Approver{Name: f[0]}
	if err := CheckName(a.Name); err != nil {
		return a, err
	}
	if err := a.options(f[1]); err != nil {
		return a, err
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(f[3])
	if err != nil || f[3] == "" {
		return a, errors.New("the key is missing, or is not in base64")
	}
	if a.Key, err = ssh.ParsePublicKey(raw); err != nil || !bytes.Equal(a.Key.Marshal(), raw) {
		return a, errors.New("the key cannot be read")
	}
	if a.Key.Type() != f[2] {
		return a, fmt.Errorf("the key is of type %s, and not of %.60q", a.Key.Type(), f[2])
	}
	if err := sshsig.Usable(a.Key); err != nil {
		return a, err
	}
	return a, a.comment(strings.Trim(rest, " \t"))
}

// word cuts off the first word of a line.
func word(s string) (first, rest string) {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// CheckName refuses a name that could mean others to ssh-keygen, or hide what it is.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.HasPrefix(name, "-") || strings.HasPrefix(name, ".") || strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.@+", r))
	}) {
		return fmt.Errorf("the name %.80q must be letters, digits and . _ - @ + alone, at most %d", name, maxName)
	}
	return nil
}

// options reads what stands between the name and the key.
func (a *Approver) options(text string) error {
	seen := map[string]bool{}
	for option := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(option, "=")
		value, quoted := strings.CutPrefix(value, `"`)
		value, closed := strings.CutSuffix(value, `"`)
		if !quoted || !closed || seen[name] {
			return fmt.Errorf(`options: expected namespaces=%q before the key, and %.60q is there`, Namespace, text)
		}
		seen[name] = true
		var err error
		switch name {
		case "namespaces":
			if value != Namespace {
				err = fmt.Errorf("options: the namespace must be %q alone, and is %.60q", Namespace, value)
			}
		case "valid-after":
			a.After, err = moment(value)
		case "valid-before":
			a.Before, err = moment(value)
		default:
			err = fmt.Errorf("options: %.60q is not one of namespaces, valid-after, valid-before", name)
		}
		if err != nil {
			return err
		}
	}
	if !seen["namespaces"] {
		return fmt.Errorf("options: namespaces=%q is missing", Namespace)
	}
	return nil
}

// moment reads a time as ssh-keygen does: local, unless a Z follows.
func moment(text string) (time.Time, error) {
	digits, utc := strings.CutSuffix(text, "Z")
	place := time.Local
	if utc {
		place = time.UTC
	}
	for _, form := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(form) != len(digits) {
			continue
		}
		if t, err := time.ParseInLocation(form, digits, place); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("options: %.40q is no time such as 20270131 or 20270131235959Z", text)
}

// comment reads what follows the key.
func (a *Approver) comment(text string) error {
	hardware := sshsig.Hardware(a.Key)
	a.Proof = Unproven
	if hardware {
		a.Proof = Touch
	}
	said, rest := word(text)
	said, ours := strings.CutPrefix(said, "proof=")
	if !ours {
		return nil
	}
	p := Proof(said)
	switch {
	case !p.Known():
		return fmt.Errorf("proof=%.20s is not one of touch, passphrase, unproven", said)
	case hardware != (p == Touch):
		return fmt.Errorf("proof=%s does not fit a key of type %s: touch is what security keys prove, and they alone", p, a.Key.Type())
	}
	a.Proof = p
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" {
		return nil
	}
	file, ok := strings.CutPrefix(rest, "key=")
	if !ok || !filepath.IsAbs(file) {
		return fmt.Errorf("after proof=%s only key= and an absolute path may follow", p)
	}
	a.File = file
	return nil
}

// String is the line of an approver, without a newline. Parsed again it is the same approver.
func (a Approver) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s namespaces=%q", a.Name, Namespace)
	if !a.After.IsZero() {
		fmt.Fprintf(&b, ",valid-after=%q", a.After.UTC().Format("20060102150405Z"))
	}
	if !a.Before.IsZero() {
		fmt.Fprintf(&b, ",valid-before=%q", a.Before.UTC().Format("20060102150405Z"))
	}
	fmt.Fprintf(&b, " %s proof=%s", strings.TrimSpace(string(ssh.MarshalAuthorizedKey(a.Key))), a.Proof)
	if a.File != "" {
		b.WriteString(" key=" + a.File)
	}
	return b.String()
}
