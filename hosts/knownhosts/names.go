package knownhosts

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

const (
	defaultPort = 22
	hashMagic   = "|1|" // HMAC-SHA1 with a salt of 20 bytes; the only scheme OpenSSH ever had
)

// Name returns how a host is written in a known_hosts file: lower case, as "[host]:port" unless the port is 22 or 0.
func Name(host string, port uint16) string {
	host = lower(host)
	if port == 0 || port == defaultPort {
		return host
	}
	return "[" + host + "]:" + strconv.Itoa(int(port))
}

// names is the first field of a line: a list of patterns, or one hashed name.
type names struct {
	patterns   []string // lower case
	salt, hash []byte
}

func parseNames(field string) (names, error) {
	rest, hashed := strings.CutPrefix(field, hashMagic)
	if !hashed {
		if field[0] == '|' {
			return names{}, errors.New("has a name hashed in an unknown way")
		}
		return names{patterns: strings.Split(lower(field), ",")}, nil
	}
	salt64, hash64, _ := strings.Cut(rest, "|")
	salt, err1 := base64.StdEncoding.DecodeString(salt64)
	hash, err2 := base64.StdEncoding.DecodeString(hash64)
	if err1 != nil || err2 != nil || len(salt) != sha1.Size || len(hash) != sha1.Size {
		return names{}, errors.New("has a broken hashed name")
	}
	return names{salt: salt, hash: hash}, nil
}

// match reports whether the line is about name, which is in lower case.
func (n names) match(name string) bool {
	if n.hash != nil {
		return isHashOf(n.hash, n.salt, name)
	}
	found := false
	for _, pat := range n.patterns {
		pat, negated := strings.CutPrefix(pat, "!")
		if wildcard.Match(name, pat) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

func nameHash(salt []byte, name string) []byte {
	mac := hmac.New(sha1.New, salt)
	mac.Write([]byte(name))
	return mac.Sum(nil)
}

// hashName returns the hashed form of a name with a fresh salt.
func hashName(name string) string {
	salt := make([]byte, sha1.Size)
	rand.Read(salt) // never fails
	enc := base64.StdEncoding.EncodeToString
	return hashMagic + enc(salt) + "|" + enc(nameHash(salt, name))
}

// checkName refuses what would read back as something else than one name.
func checkName(name string) error {
	if name == "" {
		return errors.New("knownhosts: the host name is empty")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) ||
		strings.ContainsAny(name, ",*?!|#@") {
		return fmt.Errorf("knownhosts: %q cannot be recorded as a host name", name)
	}
	return nil
}

// lower folds ASCII letters only: what else a name may hold is compared as it is.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
