package trust

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// Bounds of a list of expected keys.
const (
	maxExpected      = 8 << 20
	maxExpectedLines = 100_000
)

// expectations are keys that hosts should show.
type expectations struct {
	db  *knownhosts.DB             // of lines with keys
	by  map[string]map[string]bool // fingerprints, by name in lower case
	any map[string]bool            // fingerprints that stand without a name
}

// readExpected reads a list of expected keys; "-" is in.
func readExpected(name string, in io.Reader) (*expectations, error) {
	what := name
	if name == "-" {
		what = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", reason.File(name, err))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxExpected+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--from: %w", reason.File(what, err))
	case len(data) > maxExpected:
		return nil, fmt.Errorf("--from: %s is larger than %d MiB: give the keys in parts", what, maxExpected>>20)
	}
	e := &expectations{by: map[string]map[string]bool{}, any: map[string]bool{}}
	var keys []knownhosts.StaticKey
	n := 0
	for line := range strings.Lines(string(data)) {
		if n++; n > maxExpectedLines {
			return nil, fmt.Errorf("--from: %s has more than %d lines: give the keys in parts", what, maxExpectedLines)
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if key, ok := keyLine(line); ok {
			keys = append(keys, key)
		} else if !e.sshfpLine(line) && !e.fingerprintLine(line) {
			return nil, fmt.Errorf("--from: %s:%d has neither a key nor a fingerprint such as SHA256:…", what, n)
		}
	}
	if len(keys) == 0 && len(e.by) == 0 && len(e.any) == 0 {
		return nil, fmt.Errorf("--from: %s names no key", what)
	}
	if e.db, err = knownhosts.Static(keys...); err != nil {
		return nil, fmt.Errorf("--from: %s: %w", what, err)
	}
	return e, nil
}

// keyLine reads a line of known_hosts or ssh-keyscan. Markers are for known_hosts alone.
func keyLine(line string) (knownhosts.StaticKey, bool) {
	names, rest, _ := strings.Cut(line, " ")
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(rest)))
	if err != nil || names[0] == '@' {
		return knownhosts.StaticKey{}, false
	}
	return knownhosts.StaticKey{Host: names, Key: key}, true
}

// fingerprintLine reads HOST SHA256:…, or what ssh-keygen -l prints.
func (e *expectations) fingerprintLine(line string) bool {
	print := ""
	var names []string
	for _, word := range strings.Fields(line) {
		switch {
		case strings.HasPrefix(word, "SHA256:"):
			print = word
		case strings.Trim(word, "0123456789") == "", word[0] == '(', strings.HasPrefix(word, "ssh-"), strings.HasPrefix(word, "ecdsa-"):
		default:
			if i := strings.LastIndexByte(word, '@'); i >= 0 {
				word = word[i+1:] // root@web1 is how the key of web1 is called
			}
			for name := range strings.SplitSeq(strings.ToLower(word), ",") {
				names = append(names, name)
			}
		}
	}
	if print == "" {
		return false
	}
	if len(names) == 0 {
		e.any[print] = true
	}
	for _, name := range names {
		if e.by[name] == nil {
			e.by[name] = map[string]bool{}
		}
		e.by[name][print] = true
	}
	return true
}

// has reports whether a host is expected to show a key.
func (e *expectations) has(s *seen, print string) bool {
	if e.any[print] {
		return true
	}
	for _, name := range []string{s.place.Name, s.host.Name, s.host.Addr} {
		if name == "" {
			continue
		}
		if e.by[strings.ToLower(name)][print] || e.db.Check(knownhosts.Query{Host: name, Alias: name}, plain(s.key)) == nil {
			return true
		}
	}
	return false
}
