package sshconfig

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// tokens maps the letter after "%" to its text.
type tokens map[byte]string

// tokens returns those that depend on this side only.
func (l Loader) tokens() tokens {
	short, _, _ := strings.Cut(l.Hostname, ".")
	t := tokens{'d': l.Home, 'i': l.UID, 'l': l.Hostname, 'L': short, 'u': l.User}
	if l.User == "" {
		delete(t, 'u')
	}
	return t
}

// tokens returns all that OpenSSH expands in file names, for resolved settings.
func (s *Settings) tokens(l Loader) tokens {
	t := l.tokens()
	port := strconv.Itoa(int(s.Port.V))
	jump := ""
	if n := len(s.ProxyJump.V); n > 0 {
		jump = s.ProxyJump.V[n-1].Host
	}
	t['h'], t['n'], t['p'], t['r'], t['j'] = s.HostName.V, s.Alias, port, s.User.V, jump
	t['k'] = or(s.HostKeyAlias.V, s.Alias)
	sum := sha1.Sum([]byte(l.Hostname + s.HostName.V + port + s.User.V + jump)) // %C is defined as this hash
	t['C'] = hex.EncodeToString(sum[:])
	return t
}

// expand replaces "%x" by tokens and "${NAME}" by the environment. A nil env leaves "${" alone. Unknown tokens, unset
// variables and unfinished forms are errors, as in OpenSSH.
func expand(s string, t tokens, env func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '%':
			i++
			if i == len(s) {
				return "", fmt.Errorf("a lone %% at the end; write %%%% for the character itself")
			}
			if s[i] == '%' {
				b.WriteByte('%')
				continue
			}
			v, ok := t[s[i]]
			if !ok {
				return "", fmt.Errorf("the token %q is not known here; write %%%% for a percent sign", s[i-1:i+1])
			}
			b.WriteString(v)
		case env != nil && strings.HasPrefix(s[i:], "${"):
			name, _, ok := strings.Cut(s[i+2:], "}")
			if !ok || name == "" {
				return "", fmt.Errorf("${ without a name and a closing brace")
			}
			v, set := env(name)
			if !set {
				return "", fmt.Errorf("the environment variable %s is not set", name)
			}
			b.WriteString(v)
			i += len(name) + 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

// Expand replaces the tokens and variables in the path of a socket that is forwarded for a host, as ssh does; s are the settings that c
// gave for the host.
func (c *Config) Expand(s Settings, path string) (string, error) {
	return expand(path, s.tokens(c.local), c.local.LookupEnv)
}

// tilde replaces a leading "~" or "~user" by that home directory.
func (l Loader) tilde(path string) (string, error) {
	if !strings.HasPrefix(path, "~") {
		return path, nil
	}
	name, rest, _ := strings.Cut(path[1:], "/")
	home := l.Home
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return "", fmt.Errorf("there is no account %q on this machine", name)
		}
		home = u.HomeDir
	}
	return strings.TrimSuffix(home, "/") + "/" + rest, nil
}

// path expands a file name of the user's: first "~", then tokens and variables.
func (l Loader) path(s string, t tokens) (string, error) {
	s, err := l.tilde(s)
	if err != nil {
		return "", err
	}
	if s, err = expand(s, t, l.LookupEnv); err != nil {
		return "", err
	}
	return l.inDir(s), nil
}

// inDir is a file name as it leads from Dir.
func (l Loader) inDir(path string) string {
	if l.Dir == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.Dir, path)
}
