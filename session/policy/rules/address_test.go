package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// One word in a rule allows reads over the network by where they lead; what is not certain matches nothing.
func TestARuleAllowsByAddress(t *testing.T) {
	for conditions, commands := range map[string]map[string]string{
		"to: [loopback]": {
			"curl -s localhost/health":                    "allow",
			"curl -s http://127.0.0.1:8080/ | jq .status": "allow",
			"curl -sf 'http://[::1]:8080/' || echo down":  "allow",
			"curl -s app.localhost":                       "allow",
			"for i in 1 2 3; do curl -s localhost; done":  "allow",
			"timeout 5 curl -q -s localhost":              "allow",
			"ping -c 1 127.0.0.1":                         "allow",
			"nc -z -w 2 localhost 5432":                   "allow",
			"timeout 5 curl -s localhost":                 "ask", // not the function of the shell
			"wget -qO- localhost/health":                  "ask", // follows redirects
			"wget -qO- --max-redirect=0 localhost/health": "allow",
			"curl -sL localhost":                          "ask",
			"curl -s localhost example.com":               "ask",
			"curl -s localhost; curl -s example.com":      "ask",
			"curl -s 10.0.0.1":                            "ask",
			"curl -s http://localhost@evil/":              "ask",
			"curl -s http://127.1/":                       "ask",
			"curl -s http://2130706433/":                  "ask",
			"curl -s 'http://[::ffff:127.0.0.1]/'":        "ask",
			"curl -s http://0.0.0.0/":                     "ask",
			"curl -s localhost.":                          "ask",
			"curl -s localhost.example.com":               "ask",
			"curl -s \"localhost/$(cat f)\"":              "ask",
			"curl -s $URL":                                "ask",
			"curl -s -d x localhost":                      "ask",
			"curl -s localhost > f":                       "ask",
			"curl -s localhost; cat /etc/shadow":          "ask",
			"curl -s localhost; touch x":                  "ask",
			"curl -s localhost | sh":                      "deny",
			"docker exec web curl -q -s localhost":        "ask",
			"ssh web curl -q -s localhost":                "ask",
			"xargs curl -q -s localhost":                  "ask",
			"dig @127.0.0.1 example.com":                  "ask", // who answers for the name gets to know it
			"dig @127.0.0.1 localhost":                    "allow",
			"touch x":                                     "ask",
			"cat /etc/shadow":                             "ask",
			"ls":                                          "allow",
			"curl -s http://169.254.169.254/latest/":      "ask",
			"curl -s http://metadata.google.internal/":    "ask",
			"f() { curl -s localhost; }; f":               "allow",
			`f() { curl -s "$1"; }; f localhost`:          "allow",
			`f() { curl -s "$1"; }; f evil.example`:       "ask",
			`f() { curl -s "$1"; }; f localhost; f "$x"`:  "ask",
			"curl() { ls; }; curl -s localhost":           "ask",
			"curl() { touch x; }; curl -s localhost":      "ask",
			"curl -s localhost/{a,b}":                     "allow", // the shell makes two of it
			"curl -s 'localhost/{a,b}'":                   "ask",
			"http_proxy=http://evil curl -s localhost":    "ask",
		},
		"to: [private]": {
			"curl -s 10.1.2.3": "allow", "curl -s http://192.168.0.1/": "allow", "curl -s 172.16.0.1": "allow", "curl -s 'http://[fd12::1]/'": "allow",
			"curl -s localhost": "ask", "curl -s db": "ask", "curl -s 169.254.1.1": "ask", "curl -s 'http://[fe80::1]/'": "ask", "curl -s 'http://[fd00:ec2::254]/'": "ask",
			"curl -s 100.64.0.1": "ask", "curl -s 172.32.0.1": "ask", "curl -s 8.8.8.8": "ask",
		},
		"to: [10.1.0.0/16, db.example.com, '*.internal.example.com', 192.0.2.7]": {
			"curl -s 10.1.2.3": "allow", "curl -s 10.2.0.1": "ask", "ping -c 1 db.example.com": "allow", "curl -s x.internal.example.com": "allow",
			"curl -s a.b.INTERNAL.example.com": "allow", "curl -s internal.example.com": "ask", "curl -s xinternal.example.com": "ask", "curl -s 192.0.2.7": "allow",
			"curl -s 192.0.2.8": "ask", "dig db.example.com": "allow", "curl -s http://db.example.com.evil/": "ask",
		},
		"to: [0.0.0.0/0]": {"curl -s 8.8.8.8": "allow", "curl -s 169.254.169.254": "ask"},
		"to: [169.254.169.254], classes: [network-read, sensitive-read]": {"curl -s 169.254.169.254": "allow", "curl -s 169.254.169.253": "ask", "cat /etc/shadow": "ask", "cat /etc/shadow; curl -s 169.254.169.254": "ask"},
		"classes: [network-read]":                        {"curl -s example.com": "allow", "curl -sL example.com": "allow", "curl -s 169.254.169.254": "ask", "curl -d x y": "ask"},
		"programs: ['curl *']":                           {"curl -s example.com": "allow", "curl -s 169.254.169.254": "ask"},
		"programs: ['curl *'], to: [loopback]":           {"curl -s localhost": "allow", "ping -c 1 localhost": "ask", "curl -s example.com": "ask", "curl -s -d x localhost": "ask"},
		"classes: [network-read, write], to: [loopback]": {"curl -s localhost > f": "allow", "curl -s -d x localhost": "ask", "touch x": "ask"},
		"paths: ['/srv/**']":                             {"curl -s localhost > /srv/x": "ask"},
	} {
		f, err := rules.Parse([]byte(allowing(conditions)), "p.yaml")
		require.NoError(t, err, conditions)
		e := rules.New(rules.Config{User: f})
		for command, want := range commands {
			d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
			assert.Equal(t, want, d.Verdict.String(), "%s: %s: %+v", conditions, command, d)
		}
	}
}

func TestARuleDeniesByAddress(t *testing.T) {
	for command, want := range map[string]string{
		"curl -s 10.0.0.1":      "deny",
		"curl -s -d x 10.0.0.1": "deny",
		"nc 10.0.0.1 80":        "deny",
		"curl -s example.com":   "ask", // its address is not known
		"socat - TCP:x:80":      "ask",
		"curl -s 192.0.2.1":     "allow",
		"touch x":               "allow",
	} {
		f, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: a, hosts: all, principals: ['*'], verdict: deny, to: [private]}\n"), "p.yaml")
		require.NoError(t, err)
		d := decide(t, rules.New(rules.Config{User: f}), policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
		assert.Equal(t, want, d.Verdict.String(), "%s: %+v", command, d)
	}
}

func TestExamplesOfAddresses(t *testing.T) {
	_, err := rules.Parse([]byte(allowing("to: [loopback], match: ['curl -s localhost'], not_match: ['curl -s example.com', 'touch x']")), "p.yaml")
	assert.NoError(t, err)
	_, err = rules.Parse([]byte(allowing("to: [loopback], match: ['curl -s example.com']")), "p.yaml")
	assert.ErrorContains(t, err, "it connects to example.com, which is not one of the rule's addresses")
	_, err = rules.Parse([]byte(allowing("to: [loopback], match: ['curl -sL localhost']")), "p.yaml")
	assert.ErrorContains(t, err, "Fairlead cannot determine all addresses that it connects to")
}

func TestTheRuleThatIsOfferedNamesTheAddress(t *testing.T) {
	for command, want := range map[string]string{
		"curl -s localhost/health": "    to: [loopback]\n",
		"ping -c 1 10.0.0.1":       "    to: [\"10.0.0.1\"]\n",
	} {
		text, err := rules.New(rules.Config{}).Offer(policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command})
		require.NoError(t, err)
		assert.Contains(t, text, want)
	}
}

func TestACRWithinQuotesIsReported(t *testing.T) {
	e := rules.New(rules.Config{})
	for command, reported := range map[string]bool{
		"echo a\r\necho b": false, "echo 'a\r\nb'": true, "echo \"a\r\nb\"": true, "cat <<X\r\na\r\nX\r\n": true, "echo 'a\nb'\r\n": false, "echo 'a\nb'": false,
	} {
		d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
		assert.Equal(t, reported, d.Hint != "", "%q: %+v", command, d)
	}
}

// A deny is sure where the address, or the name, is the rule's; it asks where the one may be the other, or nobody knows.
func TestWhatADenyOfAddressesStandsFor(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for conditions, commands := range map[string]map[string][]string{
		"to: [loopback]": {
			"deny":  {"curl -s localhost", "curl -s 127.0.0.2", "curl -s 'http://[::1]/'", "curl -s x.localhost", "curl -s 10.0.0.1 localhost", "curl -s 10.0.0.1; curl -s localhost", "sh -c 'curl -s localhost'"},
			"ask":   {"curl -s example.com", "curl -s $x", "curl -sL 10.0.0.1", "deploy " + long, "curl -s localhostx", "curl -s xlocalhost"},
			"allow": {"curl -s 10.0.0.1", "touch x", "ls", "deploy"},
		},
		"to: [db.example.com, '*.lab.example.com']": {
			"deny":  {"curl -s db.example.com", "curl -s DB.example.com", "curl -s a.lab.example.com", "curl -s a.b.lab.example.com"},
			"ask":   {"curl -s 10.0.0.1", "curl -s localhost 127.0.0.1", "curl -s $x"},
			"allow": {"curl -s example.com", "curl -s lab.example.com", "curl -s xlab.example.com", "curl -s a.db.example.com", "curl -s localhost", "ls"},
		},
		"to: [10.1.0.0/16, db.example.com]": {
			"deny":  {"curl -s 10.1.2.3", "curl -s db.example.com"},
			"ask":   {"curl -s 10.2.0.1", "curl -s example.com"},
			"allow": {"ls"},
		},
		"to: [169.254.169.254]":                     {"deny": {"curl -s 169.254.169.254"}, "allow": {"curl -s 10.0.0.1"}},
		"classes: [network-read], to: [loopback]":   {"deny": {"curl -s localhost"}, "allow": {"curl -s -d x localhost", "curl -s 10.0.0.1"}},
		"programs: ['curl *'], to: [loopback]":      {"deny": {"curl -s localhost"}, "ask": {"curl -s example.com"}, "allow": {"nc localhost 80", "curl -s 10.0.0.1"}},
		"paths: ['/srv/**'], to: [loopback]":        {"deny": {"curl -s localhost >/srv/x"}, "ask": {"curl -s example.com >/srv/x", "curl -s localhost >x"}, "allow": {"curl -s localhost", "curl -s localhost >/etc/motd", "touch /srv/x", "curl -s 10.0.0.1 >/srv/x"}},
		"programs: ['curl *'], paths: ['/srv/**']":  {"deny": {"curl -s localhost >/srv/x"}, "allow": {"curl -s localhost", "touch /srv/x"}},
		"programs: ['deploy *'], to: ['localhost']": {"deny": {"deploy; curl -s localhost"}, "ask": {"deploy; curl -s 127.0.0.1"}, "allow": {"deploy", "curl -s localhost"}},
	} {
		f, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: a, hosts: all, principals: ['*'], verdict: deny, "+conditions+"}\n"), "p.yaml")
		require.NoError(t, err, conditions)
		e := rules.New(rules.Config{User: f})
		for want, list := range commands {
			for _, command := range list {
				d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
				assert.Equal(t, want, d.Verdict.String(), "%s: %.80s: %+v", conditions, command, d.Reason)
			}
		}
	}
}

// Classes that a rule names beside addresses are allowed only for what connects, and only where all of it is known.
func TestAddressesBesideOtherClasses(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("p", "allow", "classes: [network-read, unknown, write], to: [loopback]"))})
	for command, want := range map[string]string{
		"curl -s localhost": "allow", "curl -s localhost >f": "allow", "curl -s localhost; deploy": "ask", "deploy": "ask", "touch x": "ask",
		"curl -s localhost; deploy " + strings.Repeat("x", 70<<10): "ask", "curl -s localhost; curl -s example.com": "ask", "(curl -s localhost; ls)": "allow",
	} {
		d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
		assert.Equal(t, want, d.Verdict.String(), "%.80s: %s", command, d.Reason)
	}
	// What only reads beside a metadata service's answer needs no rule that names its class.
	e = rules.New(rules.Config{User: file(t, rule("p", "allow", "classes: [network-read, sensitive-read], to: [169.254.169.254]"), rule("q", "allow", "classes: [read-only]"))})
	for command, want := range map[string]string{"curl -s 169.254.169.254 | jq .": "allow", "curl -s 169.254.169.254": "allow", "curl -s localhost | jq .": "deny", "ls": "allow"} {
		d := decide(t, e, policy.Request{Principal: "program/ci", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
		assert.Equal(t, want, d.Verdict.String(), "%s: %s", command, d.Reason)
	}
}

func TestAddressesOfARuleAreReadOrRefused(t *testing.T) {
	forms := "must be loopback, private, an address (192.0.2.7), a network (10.1.0.0/16), a name (db.example.com) or all names below one (*.example.com)"
	service := "is a metadata service, which returns credentials: name the classes network-read and sensitive-read"
	for address, want := range map[string]string{
		"loopback": "", "private": "", "192.0.2.7": "", "10.1.0.0/16": "", "db.example.com": "", "*.example.com": "", "::1": "", "fc00::/7": "", "2001:db8::/32": "", "10.1.2.3/32": "", "0.0.0.0/0": "", "*.google.internal": "", "*.metadata.google.internal": "", "169.0.0.0/8": "",
		"": "a value is missing", "*": forms, "*.": forms, "*.10.0.0.1": forms, "10.1.0.0/33": forms, "::ffff:10.0.0.0/104": forms, "a b": forms, "http://x": forms, "*.*.example.com": forms, "x/8": forms,
		"10.1.2.3/16": "has bits set behind the length of the network: write 10.1.0.0/16", "169.254.169.254": service, "169.254.0.0/16": service, "fe80::/10": service, "metadata.google.internal": service,
	} {
		text := "version: 1\nrules:\n  - {name: a, hosts: all, principals: ['*'], to: ['" + address + "'], verdict: "
		for verdict, want := range map[string]string{"allow": want, "deny": strings.TrimPrefix(want, service), "ask": strings.TrimPrefix(want, service)} {
			_, err := rules.Parse([]byte(text+verdict+"}\n"), "p")
			if want == "" {
				assert.NoError(t, err, "%s %s", verdict, address)
			} else {
				assert.ErrorContains(t, err, want, "%s %s", verdict, address)
			}
		}
	}
	for conditions, allows := range map[string]bool{
		"to: [loopback]": true, "classes: [network-read], to: [loopback]": true, "classes: [write, network-read], to: [loopback]": true, "classes: [write], to: [loopback]": false, "classes: [network-read, sensitive-read], to: [169.254.169.254]": true,
		"programs: ['curl *'], to: [loopback]": true, "programs: ['ls *', 'curl *'], to: [loopback]": true, "programs: ['ls *'], to: [loopback]": false, "programs: ['/usr/bin/curl *'], to: [loopback]": true, "programs: ['timeout 5 curl *'], to: [loopback]": true, "programs: ['nc -z *'], to: [loopback]": true,
	} {
		for _, verdict := range []string{"allow", "ask", "deny"} {
			_, err := rules.Parse([]byte("version: 1\nrules:\n"+rule("a", verdict, conditions)), "p")
			if allows || verdict != "allow" {
				assert.NoError(t, err, "%s %s", verdict, conditions)
			} else {
				assert.ErrorContains(t, err, "p:3: to: the rule can allow nothing", conditions)
			}
		}
	}
}

// What is run and not said may be what a rule denies.
func TestADenyAsksAboutWhatIsHidden(t *testing.T) {
	for conditions, never := range map[string]string{
		"programs: ['curl *']": "touch x", "programs: ['touch *'], paths: ['/srv/**']": "touch /tmp/x", "paths: ['/srv/**']": "touch /tmp/x",
		"to: [loopback]": "touch x", "classes: [dangerous], programs: ['rm *']": "rm x",
	} {
		e := rules.New(rules.Config{User: file(t, rule("p", "deny", conditions))})
		for _, command := range []string{`eval "$x"`, `sh -c "$x"`, `$x /srv/x`, `echo a | sh`, `trap "$x" EXIT`, `sudo $x`} {
			d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
			assert.Equal(t, policy.Ask, d.Verdict, "%s: %s", conditions, command)
			assert.Contains(t, d.Reason, "cannot determine", "%s: %s", conditions, command)
		}
		d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: never, Shell: "bash"})
		assert.Equal(t, policy.Allow, d.Verdict, "%s: %s", conditions, never)
	}
}
