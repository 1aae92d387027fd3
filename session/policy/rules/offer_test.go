package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestTheRuleThatIsOfferedAllowsThisAndNothingWider(t *testing.T) {
	req := policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: hosts.Prod}}
	for command, others := range map[string][]string{
		"systemctl restart nginx":                   {"systemctl restart nginx mysql", "systemctl restart", "systemctl stop nginx", "touch x"},
		"ls; touch a; systemctl reload nginx":       {"touch b", "systemctl restart nginx"},
		"frobnicate --now":                          {"frobnicate", "frobnicate --now -v"},
		"cat /etc/shadow":                           {"cat /etc/gshadow", "head /etc/shadow"},
		"mkdir -p /srv/app && chown www /srv/app/x": {"mkdir -p /srv/app2"},
	} {
		t.Run(command, func(t *testing.T) {
			req := req
			req.Command = command
			text, err := rules.New(rules.Config{}).Offer(req)
			require.NoError(t, err)
			f, err := rules.Parse([]byte(text), "p.yaml")
			require.NoError(t, err, text)
			e := rules.New(rules.Config{User: f})
			verdict := func(r policy.Request) policy.Verdict {
				d, err := e.Decide(t.Context(), r)
				require.NoError(t, err)
				return d.Verdict
			}
			assert.Equal(t, policy.Allow, verdict(req), text)
			for _, other := range others {
				r := req
				r.Command = other
				assert.NotEqual(t, policy.Allow, verdict(r), other)
			}
			elsewhere, another := req, req
			elsewhere.Host.Name, another.Principal = "web2", "agent/other"
			assert.NotEqual(t, policy.Allow, verdict(elsewhere))
			assert.NotEqual(t, policy.Allow, verdict(another))
		})
	}
}

func TestWhereNoRuleShouldAllowACommandOneIsToldWhy(t *testing.T) {
	denies, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: freeze, hosts: all, principals: ['*'], classes: [write], verdict: deny}\n"), "p.yaml")
	require.NoError(t, err)
	for command, want := range map[string]string{
		"rm -rf /":                   "forbidden",
		"sudo id":                    "another account's rights",
		"touch $x":                   "literal words",
		"touch 'a b'":                "literal words without blanks",
		"for f in a; do rm $f; done": "more than simple commands",
		"bash deploy.sh":             "bash runs what a file or its input says",
		"python3 -c 'x'":             "python3 runs what",
		"./deploy":                   "what this path leads to",
		"frob '*'":                   "cannot name these words",
		"touch x":                    "policy/freeze decides",
	} {
		_, err := rules.New(rules.Config{User: denies}).Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: command})
		assert.ErrorContains(t, err, want, command)
	}
}
