package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
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
		". deploy":                   ". runs what a file or its input says",
		"frob '*'":                   "cannot name these words",
		"touch x":                    "policy/freeze decides",
	} {
		_, err := rules.New(rules.Config{User: denies}).Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: command})
		assert.ErrorContains(t, err, want, command)
	}
}

// What stands in a file or on standard input may change after the rule is there.
func TestNoRuleIsOfferedForWhatRunsFiles(t *testing.T) {
	names := strings.Fields(". source eval busybox toybox expect java make gmake ninja npm luajit R python3.12 lua5.4 pwsh nu pypy3 bun tclsh8.6")
	for _, name := range programs.Names() {
		if programs.Is(name, "shell") || programs.Is(name, "interpreter") {
			names = append(names, name)
		}
	}
	require.Greater(t, len(names), 40)
	for _, name := range names {
		for _, name := range []string{name, "/usr/bin/" + name} {
			_, err := rules.New(rules.Config{}).Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: name + " x"})
			assert.ErrorContains(t, err, "runs what a file or its input says", name)
		}
	}
}

// A wrapper before it, or a container around it, changes nothing about that.
func TestNoRuleIsOfferedForWhatRunsFilesBehindAWrapper(t *testing.T) {
	for _, command := range []string{"nice make", "timeout 5 make", "env make", "docker exec -it c sh", "docker exec c bash x", "xargs python3", "ssh web2 sh x", "nohup nice perl x"} {
		_, err := rules.New(rules.Config{}).Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: command})
		assert.ErrorContains(t, err, "runs what a file or its input says", command)
	}
	for _, command := range []string{"nice frobnicate", "docker exec c nginx -t", "timeout 5 touch x"} {
		_, err := rules.New(rules.Config{}).Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: command})
		assert.NoError(t, err, command)
	}
}

func TestARuleIsOfferedWhereAProgramHasAKnownPlace(t *testing.T) {
	e := rules.New(rules.Config{})
	for name, offered := range map[string]bool{
		"frobnicate": true, "/bin/frobnicate": true, "/usr/bin/frobnicate": true, "/usr/local/sbin/frobnicate": true,
		"/opt/frobnicate": false, "./frobnicate": false, "/frobnicate": false, "/usr/bin/x/frobnicate": false, "bin/frobnicate": false,
	} {
		_, err := e.Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: name + " now"})
		assert.Equal(t, offered, err == nil, "%s: %v", name, err)
	}
}

// What the rule says is exactly this, on this host or, where it has no name, its tier.
func TestTheTextOfTheRuleThatIsOffered(t *testing.T) {
	for _, tt := range []struct {
		host    hosts.Host
		command string
		want    string
	}{
		{hosts.Host{Name: "web1", Tier: "dev"}, "frobnicate --now", "version: 1\nrules:\n  - name: allow-frobnicate---now\n    hosts: \"web1\"\n    principals: [\"agent/mcp\"]\n    classes: [unknown]\n    programs:\n      - \"frobnicate --now\"\n    verdict: allow\n"},
		{hosts.Host{Tier: "dev"}, "touch a_B.9; touch b; touch b; cat /etc/shadow; ls", "version: 1\nrules:\n  - name: allow-touch-a_B.9\n    hosts: \"tier=dev\"\n    principals: [\"agent/mcp\"]\n    classes: [write, sensitive-read]\n    programs:\n      - \"touch a_B.9\"\n      - \"touch b\"\n      - \"cat /etc/shadow\"\n    verdict: allow\n"},
		{hosts.Host{Name: "a,,b"}, "touch Az09", "version: 1\nrules:\n  - name: allow-touch-Az09\n    hosts: \"tier=prod\"\n    principals: [\"agent/mcp\"]\n    classes: [write]\n    programs:\n      - \"touch Az09\"\n    verdict: allow\n"},
		{hosts.Host{}, "curl -s localhost 127.0.0.1; curl -s x.example", "version: 1\nrules:\n  - name: allow-curl--s-localhost-127.0.0.1\n    hosts: \"tier=prod\"\n    principals: [\"agent/mcp\"]\n    classes: [network-read]\n    programs:\n      - \"curl -s localhost 127.0.0.1\"\n      - \"curl -s x.example\"\n    to: [loopback, \"x.example\"]\n    verdict: allow\n"},
		{hosts.Host{}, "touch " + strings.Repeat("x", 50), "version: 1\nrules:\n  - name: allow-touch-" + strings.Repeat("x", 34) + "\n    hosts: \"tier=prod\"\n    principals: [\"agent/mcp\"]\n    classes: [write]\n    programs:\n      - \"touch " + strings.Repeat("x", 50) + "\"\n    verdict: allow\n"},
	} {
		text, err := rules.New(rules.Config{}).Offer(policy.Request{Principal: "agent/mcp", Host: tt.host, Command: tt.command})
		require.NoError(t, err, tt.command)
		assert.Equal(t, tt.want, text)
	}
	for command, want := range map[string]string{"ls": "nothing in it needs a rule of its own", "touch ''": "literal words without blanks", "touch 'a\tb'": "literal words without blanks", "touch 'a\nb'": "literal words without blanks", "touch \"'\"": "cannot name these words"} {
		_, err := rules.New(rules.Config{}).Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1"}, Command: command})
		assert.ErrorContains(t, err, want, command)
	}
}

// A rule in the user's file stands beside the others there; the system's file may stand in its way.
func TestTheRuleThatIsOfferedIsTriedInItsPlace(t *testing.T) {
	ask, allow, deny := file(t, rule("s", "ask", "classes: [write]")), file(t, rule("s", "allow", "classes: [unknown]")), file(t, rule("s", "deny", "programs: ['touch y']"))
	for name, tt := range map[string]struct {
		cfg  rules.Config
		want string
	}{
		"nothing else":          {rules.Config{}, ""},
		"a user's file":         {rules.Config{User: deny}, ""},
		"a user's own ask":      {rules.Config{User: ask}, "policy/s decides"},
		"the system's ask":      {rules.Config{System: ask}, "system/s decides"},
		"the system's other":    {rules.Config{System: allow}, "builtin/write decides"},
		"both":                  {rules.Config{System: allow, User: deny}, "builtin/write decides"},
		"the user's own denial": {rules.Config{User: file(t, rule("s", "deny", "programs: ['touch *']"))}, "policy/s decides"},
	} {
		_, err := rules.New(tt.cfg).Offer(policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1"}, Command: "touch x"})
		if tt.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, tt.want+", and a rule beside it does not change that", name)
		}
	}
}
