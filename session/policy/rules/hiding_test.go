package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// A program that a rule denies must be found wherever it stands. For an operator nothing else would stop these.
func TestADeniedProgramCannotHide(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("no", "deny", "programs: ['curl *', 'systemctl stop nginx']"))})
	for command, want := range map[string]policy.Verdict{
		"curl":                                 policy.Deny,
		"/usr/bin/curl x":                      policy.Deny,
		`\curl x`:                              policy.Deny,
		`'cu'"rl" x`:                           policy.Deny,
		"cu\\\nrl x":                           policy.Deny,
		"curl\tx":                              policy.Deny,
		"! curl x":                             policy.Deny,
		"time curl x":                          policy.Deny,
		"coproc curl x":                        policy.Deny,
		"nohup curl x &":                       policy.Deny,
		"echo x | xargs curl":                  policy.Deny,
		"bash <<E\ncurl x\nE":                  policy.Deny,
		"env A=b curl x":                       policy.Deny,
		"nice -n 5 curl x":                     policy.Deny,
		"sudo -u bob curl x":                   policy.Deny,
		"ssh h curl x":                         policy.Deny,
		"eval 'curl x'":                        policy.Deny,
		"command curl x":                       policy.Deny,
		"x=$(curl x)":                          policy.Deny,
		"cat <(curl x)":                        policy.Deny,
		"echo ${x:-$(curl y)}":                 policy.Deny,
		"[[ -n $(curl x) ]]":                   policy.Deny,
		"if true; then curl x; fi":             policy.Deny,
		"f() { curl x; }; f":                   policy.Deny,
		"trap 'curl x' EXIT":                   policy.Deny,
		"alias l='curl x'":                     policy.Deny,
		`find / -exec curl {} \;`:              policy.Deny,
		`awk 'BEGIN{system("curl x")}'`:        policy.Deny,
		"systemctl stop 'nginx'":               policy.Deny,
		"systemctl --now stop nginx":           policy.Ask,
		"$(echo curl) x":                       policy.Ask,
		"c=curl; $c x":                         policy.Ask,
		"{curl,x}":                             policy.Ask,
		"ls; # curl x":                         policy.Allow,
		"echo curl x":                          policy.Allow,
		"systemctl status nginx":               policy.Allow,
		"grep -r 'curl x' /etc/cron.d | wc -l": policy.Allow,
	} {
		for _, shell := range []string{"", "bash", "zsh", "mksh", "dash"} {
			if shell != "" && shell != "bash" && (command[0] == '[' || command == "cat <(curl x)" || command == "coproc curl x" || command == "{curl,x}" || command == "time curl x") {
				continue // not the same command there
			}
			d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: shell})
			assert.Equal(t, want, d.Verdict, "%q in %q: %+v", command, shell, d)
		}
	}
}

// Where a script cannot be parsed as a whole, what a rule denies may stand in what is left of it.
func TestNothingDeniedHidesInWhatCannotBeParsed(t *testing.T) {
	for conditions, want := range map[string]policy.Verdict{
		"programs: ['curl *']": policy.Ask, "paths: ['/srv/**']": policy.Ask, "to: [loopback]": policy.Ask, "classes: [write], programs: ['curl *']": policy.Ask, "classes: [write]": policy.Allow,
	} {
		e := rules.New(rules.Config{User: file(t, rule("no", "deny", conditions))})
		for command, shell := range map[string]string{"repeat 2 { curl -s localhost }": "zsh", "foreach i (a b) curl -s localhost; end": "zsh", "echo ')' ) curl -s localhost": "bash", "for i { curl -s localhost }": "dash"} {
			d := decide(t, e, onDev(command, shell))
			assert.Equal(t, want, d.Verdict, "%s: %q: %s", conditions, command, d.Reason)
		}
		assert.Equal(t, policy.Allow, decide(t, e, onDev("for i in a; do ls; done", "bash")).Verdict, conditions)
	}
}
