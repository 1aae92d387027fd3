package sshconfig_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

var (
	names    = []string{"web", "web1", "Web1", "db.example.com", "DB", "real", "a"}
	patterns = []string{"*", "web", "web?", "web*", "!web1", "Web1", "*.example.com", "db*", "DB", "real", "!real",
		"a", "??", "*e*", "!*.com", "w?b1", `"web1"`, "REAL"}
	values = map[string][]string{
		"HostName": {"real", "Real.Example.com", "%h.example.com", "10.0.0.1", "::1", "FE80::A", "fe80:0::A", "127.1", "010.0.0.0x9", "1.2.3", "real.", "%h", `"real"`, "a%%b"},
		"User":     {"bob", "carol", `"d e"`, "f\\ g", "x#y", "Z #c"},
		"Port":     {"22", "2222", "ssh", "+5", `"77"`, "65535"},
		"IdentityFile": {"~/.ssh/k1", "/k2", "%d/k3", `"/k 4"`, "~/k#5", "/k6 # c", "none", `'/k"7'`, `a\\b`, `c\ d`,
			"~/.ssh/%h-%r", "k8\t"},
		"CertificateFile":        {"~/c1", "/c2", "none"},
		"IdentitiesOnly":         {"yes", "no", "TRUE", "false"},
		"ProxyJump":              {"j1", "u@j1:2200", "j1,j2", "none", "[::1]:44", "ssh://u@j3:5", "j1 # c", "None", "j4#x"},
		"ProxyCommand":           {"none", "nc %h %p", `sh -c 'echo #x'`, `= nc "a b" #c`},
		"UserKnownHostsFile":     {"/kh1", "/kh1 ~/kh2", `"/k h" /c`, "none", "%d/kh-%h", "${HOME}/kh", "~/%n-%p-%r-%u-%i-%l-%L-%k", `"${HOME}/%C" /%%`},
		"GlobalKnownHostsFile":   {"/g1 /g2", "none", "~/g"},
		"HostKeyAlias":           {"Alias", "other", "%h"},
		"StrictHostKeyChecking":  {"yes", "no", "ask", "accept-new", "off", "Accept-New"},
		"HashKnownHosts":         {"yes", "no"},
		"CheckHostIP":            {"yes", "no"},
		"ConnectTimeout":         {"5", "1m", "none", "1h30", "1H2M3S", "0"},
		"ServerAliveInterval":    {"15", "1m", "none", "0"},
		"ServerAliveCountMax":    {"3", "0", "7"},
		"IgnoreUnknown":          {"Foo*,Bar", "baz"},
		"LogLevel":               {"INFO"},
		"AddressFamily":          {"any", "inet", "INET6"},
		"BindAddress":            {"127.0.0.1", "::1"},
		"BindInterface":          {"lo"},
		"ConnectionAttempts":     {"1", "3"},
		"PubkeyAuthentication":   {"yes", "no", "unbound", "host-bound"},
		"PasswordAuthentication": {"yes", "no"}, "KbdInteractiveAuthentication": {"no", "yes"}, "ChallengeResponseAuthentication": {"no"},
		"NumberOfPasswordPrompts":     {"1", "2", "5"},
		"PreferredAuthentications":    {"publickey", "password,publickey"},
		"RequiredRSASize":             {"2048", "1024"},
		"RekeyLimit":                  {"default", "1G", "500m 1h", "16 none"},
		"SetEnv":                      {"A=1", "A=1 A=2 B=3", "C=x"},
		"CanonicalizeHostname":        {"no", "yes", "always", "TRUE", "false"},
		"CanonicalDomains":            {"invalid", "a.invalid b-_.invalid.", "none", "X1.invalid"},
		"CanonicalizeMaxDots":         {"0", "1", "2"},
		"CanonicalizeFallbackLocal":   {"yes", "yes", "no"},
		"CanonicalizePermittedCNAMEs": {"none"},
		"SendEnv":                     {"LANG LC_*", "A B", "-L*", "A -?", "-LC_* LC_?"},
		"KnownHostsCommand":           {"/bin/true", `/bin/true "%H %t" a#b #c`, "none", "= /bin/x %% %h"},
		"UpdateHostKeys":              {"yes", "no", "TRUE", "ask", "Ask"},
		"ControlPath":                 {"~/%r@%h:%p", "/run/%n-%l-%L-%i-%u", "/run/%C", "~/%k-%n", "none", "${HOME}/c", `"/a b"`},
		"ControlMaster":               {"no", "auto", "autoask", "yes", "ask", "False"},
		"ForwardAgent":                {"yes", "no"},
		"IdentityAgent":               {"none", "~/a.sock", "%d/%u/a", "${HOME}/a", `"/a b/%%c"`, "/run/%h-%r-%p", "~/%C", "%k/%n/${HOME}", "SSH_AUTH_SOCK", "$SSH_AUTH_SOCK", "rel"},
		"RevokedHostKeys":             {"none", "/revoked", `"/r k"`},
		"BatchMode":                   {"no", "yes", "TRUE"},
		"RequestTTY":                  {"auto", "no", "YES", "force"},
		"RemoteCommand":               {"none", `echo %h:%p "a b" #c`, "= uname %% %n %r %k %L", "sh -c 'exit 3'"},
		"Ciphers":                     {"aes128-ctr,aes256-ctr", "aes256-gcm@openssh.com"},
		"MACs":                        {"hmac-sha2-256,hmac-sha2-512"},
		"KexAlgorithms":               {"curve25519-sha256", `"curve25519-sha256,ecdh-sha2-nistp256"`},
		"HostKeyAlgorithms":           {"ssh-ed25519", "ssh-ed25519,rsa-sha2-512"},
		"PubkeyAcceptedAlgorithms":    {"ssh-ed25519,rsa-sha2-256"}, "PubkeyAcceptedKeyTypes": {"ssh-ed25519"},
		"CASignatureAlgorithms": {"ssh-ed25519"},
		"Tunnel":                {"no"}, "LocalForward": {"8080 localhost:80", "[::1]:81 [::1]:80"}, "Compression": {"no", "yes"},
	}
	// Values that both must refuse; rare, because one spoils the whole file.
	broken = []string{"Port 0", "Port x", "Port 1 2", "User", `User "a`, "ConnectTimeout 5x", "IdentitiesOnly maybe",
		"ProxyJump a,,b", "Prot 22", "FooBar 1", "Match", "Match foo bar", "Match host", "Match all host a", `Host ""`,
		"HostName %q", "UserKnownHostsFile ${NOPE_NOT_SET}/x", "UserKnownHostsFile a none", "ProxyJump x:99999",
		"CanonicalDomains -a", "CanonicalDomains a..b", "CanonicalDomains a none", "CanonicalizeHostname maybe", "CanonicalizePermittedCNAMEs a",
		"SendEnv A=b", "IdentityAgent $", "IdentityAgent $A-B", "IdentityAgent a b", "IdentityAgent ${", "RevokedHostKeys", "Include", `Include ""`, "\fPort 22", "CanonicalDomains", "CanonicalizePermittedCNAMEs a:", "Match exec", `Match exec "%q"`}
	keywords = sortedKeys(values)
)

func sortedKeys(m map[string][]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	// Map order would make seeds mean different files.
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

// generator writes random configurations.
type generator struct {
	*rand.Rand
	dir, me string
	files   int
}

func (g *generator) pick(from []string) string { return from[g.IntN(len(from))] }
func (g *generator) one(in int) bool           { return g.IntN(in) == 0 }

func (g *generator) file(depth int) string {
	var b strings.Builder
	if g.one(6) {
		b.WriteString("\n# comment\n  \t\n")
	}
	eol := "\n"
	if g.one(6) {
		eol = "\r\n"
	}
	for range g.IntN(4) {
		b.WriteString(g.directive() + eol)
	}
	for range 1 + g.IntN(6) {
		if g.one(3) {
			b.WriteString(g.match() + eol)
		} else {
			b.WriteString(g.host() + eol)
		}
		for range g.IntN(5) {
			b.WriteString("  " + g.directive() + eol)
		}
		if depth > 0 && g.one(6) {
			b.WriteString("Include " + g.include(depth-1) + eol)
		}
	}
	if g.one(30) {
		b.WriteString(g.pick(broken) + eol)
	}
	if g.one(3) {
		return strings.TrimSuffix(b.String(), eol) // no final newline
	}
	return b.String()
}

func (g *generator) directive() string {
	key := g.pick(keywords)
	value := g.pick(values[key])
	switch g.IntN(5) {
	case 0:
		key = strings.ToLower(key)
	case 1:
		key = strings.ToUpper(key)
	}
	return g.pick([]string{"", "", "\t", "  "}) + key + g.pick([]string{" ", " ", "\t", "=", " = ", "  ", "\t=\t"}) + value + g.pick([]string{"", "", "", " ", "\t"})
}

// options are directives of the command line. They go before those of files, the first one first.
func (g *generator) options() (lines []string) {
	if !g.one(3) {
		return nil
	}
	for range 1 + g.IntN(3) {
		lines = append(lines, g.directive())
	}
	return lines
}

func (g *generator) host() string {
	words := []string{g.pick([]string{"Host", "Host", "HOST", "host =", "Host="})}
	for range 1 + g.IntN(3) {
		words = append(words, g.pick(patterns))
	}
	line := strings.Join(words, g.pick([]string{" ", "\t", "  "}))
	if g.one(8) {
		line += " # " + g.pick(names)
	}
	return line
}

func (g *generator) match() string {
	if g.one(6) {
		return "Match " + g.pick([]string{"all", "ALL", "final all", "canonical all", "!all"})
	}
	words := []string{"Match"}
	for range 1 + g.IntN(3) {
		not := g.pick([]string{"", "", "", "!"})
		list := strings.ReplaceAll(g.pick(patterns), `"`, "")
		if g.one(3) {
			list += "," + strings.ReplaceAll(g.pick(patterns), `"`, "")
		}
		if g.one(5) {
			list = `"` + list + `"`
		}
		switch g.IntN(7) {
		case 0, 1:
			words = append(words, not+"host", list)
		case 2:
			words = append(words, not+"originalhost", list)
		case 3:
			words = append(words, not+"user", g.pick([]string{"bob", "carol,bob", "*", "!bob", g.me}))
		case 4:
			words = append(words, not+"localuser", g.pick([]string{g.me, "nobody-at-all", "*"}))
		case 5:
			words = append(words, not+g.pick([]string{"final", "canonical", "Final"}))
		case 6:
			words = append(words, not+"exec", g.pick([]string{"true", "false", `"exit 3"`, `"test %h = real"`, `"test '%n' = web1"`,
				`"case %p in 22) ;; *) false; esac"`, `"test %L-%i-%u-%l != x"`, `"test '%k' = web1"`, `"test %C-%d != x"`, `"echo out; echo err >&2; cat"`}))
		}
	}
	line := strings.Join(words, g.pick([]string{" ", " ", "\t"}))
	if g.one(8) {
		line = strings.Replace(line, " ", "=", 1)
	}
	if g.one(8) {
		line += " # " + g.pick(names)
	}
	return line
}

// include writes one or two files that a glob or their names find.
func (g *generator) include(depth int) string {
	g.files++
	sub := filepath.Join(g.dir, fmt.Sprintf("inc-%d-%d", g.Uint64(), g.files))
	_ = os.MkdirAll(sub, 0o700)
	names := []string{"10-a.conf", "20-b.conf", ".hidden.conf"}
	for _, n := range names[:1+g.IntN(3)] {
		_ = os.WriteFile(filepath.Join(sub, n), []byte(g.file(depth)), 0o600)
	}
	return g.pick([]string{sub + "/*.conf", sub + "/*", sub + "/10-a.conf " + sub + "/missing.conf", `"` + sub + `/1?-[a-c].conf"`,
		sub + "/[!2]*.conf"})
}
