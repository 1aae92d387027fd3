package rules_test

import (
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
			"f() { curl -s localhost; }; f":               "ask",
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
