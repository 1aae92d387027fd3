package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func onDev(command, shell string) policy.Request {
	return policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: shell}
}

// Shells disagree about $"…" and $'…': the word is known only when it runs.
func TestADeniedProgramCannotHideInDollarQuotes(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("no", "deny", "programs: ['curl *']"))})
	for _, command := range []string{`$"curl" x`, `$'curl' x`, `$'\x63url' x`, `cu$"rl" x`, `c$'u'rl x`, `env $"curl" x`, `$"cu"$'rl' x`} {
		for _, shell := range []string{"", "bash", "zsh", "mksh"} {
			d := decide(t, e, onDev(command, shell))
			assert.Equal(t, policy.Ask, d.Verdict, "%q in %q: %s", command, shell, d.Reason)
		}
	}
}

// Bytes that are not what they look like are denied whatever a rule allows.
func TestNoRuleAllowsBytesThatDeceive(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("yes", "allow", "programs: ['/opt/x/deploy *']"))})
	agents := func(command string) policy.Decision {
		req := onDev(command, "bash")
		req.Principal = "agent/a"
		return decide(t, e, req)
	}
	assert.Equal(t, policy.Allow, agents("/opt/x/deploy now").Verdict, "a pattern may name a program by its path")
	assert.Equal(t, policy.Ask, agents("/opt/y/deploy now").Verdict)
	assert.Equal(t, policy.Ask, agents("deploy now").Verdict)
	for _, command := range []string{"/opt/x/deploy \u200b", "/opt/x/deploy \u202enow", "/opt/x/deploy now; /opt/x/deploy a\u200bb", "/opt/x/deploy $(/opt/x/deploy \u200b)"} {
		for _, d := range []policy.Decision{agents(command), decide(t, e, onDev(command, "bash"))} { // operators may override what is forbidden, but not this
			assert.Equal(t, policy.Deny, d.Verdict, "%q: %s", command, d.Reason)
		}
	}
}

// The slower of two rates counts, whatever the times that they are counted in; of equal ones that with the smaller burst.
func TestTheSlowerRateOfTwoFilesCounts(t *testing.T) {
	for name, tt := range map[string]struct {
		system, user string
		rate         int
		per          time.Duration
	}{
		"the user's is slower":       {"60/m", "30/m", 30, time.Minute},
		"the system's is slower":     {"1/m", "30/m", 1, time.Minute},
		"more, over a longer time":   {"2/s", "100/h", 100, time.Hour},
		"fewer, over a shorter time": {"100/h", "2/s", 100, time.Hour},
		"the same, in smaller steps": {"60/m", "1/s", 1, time.Second},
		"the same, in larger steps":  {"1/s", "60/m", 1, time.Second},
	} {
		e := rules.New(rules.Config{System: limits(t, "  - {name: role=agent, rate: "+tt.system+"}\n"), User: limits(t, "  - {name: role=agent, rate: "+tt.user+"}\n")})
		l := e.Limits("agent/a")
		assert.Equal(t, tt.rate, l.Rate, name)
		assert.Equal(t, tt.per, l.RatePer, name)
	}
	only := rules.New(rules.Config{System: limits(t, "  - {name: role=agent, daily: 7}\n"), User: limits(t, "  - {name: role=agent, rate: 5/m}\n")})
	assert.Equal(t, 5, only.Limits("agent/a").Rate)
	only = rules.New(rules.Config{System: limits(t, "  - {name: role=agent, rate: 5/m}\n"), User: limits(t, "  - {name: role=agent, daily: 7}\n")})
	assert.Equal(t, 5, only.Limits("agent/a").Rate)
}
