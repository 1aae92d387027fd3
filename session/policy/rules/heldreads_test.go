package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// With reads: held, what only reads and needs no approval is held; what does not fit there runs as it is judged, alone.
func TestReadsAreHeldWhereThePolicySaysSo(t *testing.T) {
	e := rules.New(rules.Config{User: limits(t, "  - {name: role=agent, reads: held}\n  - {name: agent/free, reads: judged}\n  - {name: operator/ada, reads: held}\n")})
	decide := func(who, command string, set ...string) policy.Decision {
		t.Helper()
		d, err := e.Decide(t.Context(), policy.Request{Principal: who, Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: command, Set: set})
		require.NoError(t, err)
		return d
	}
	const (
		held  = "held"
		unfit = "runs as judged"

		sockets = "sockets"
		asks    = "asks"
		other   = "is not a read that is allowed"
	)
	for command, want := range map[string]string{
		"uptime":                              held,
		"cat /etc/hosts | sort":               held,
		"ss -tln":                             held,
		"cd /var/log && tail -n 3 dmesg":      held,
		"for f in a b; do cat $f; done":       held,
		"find / -name x":                      held,
		"id; uname -a":                        held,
		"systemctl status nginx":              sockets,
		"docker ps; systemctl is-failed":      sockets,
		"systemctl -H web status nginx":       other,
		"systemctl status; ss -p":             unfit,
		"cat /etc/hosts; docker ps":           held + " with " + sockets,
		"cat /etc/hosts; docker ps; w":        held + " with " + sockets,
		"docker ps; cat /etc/hosts; lsof -ni": asks,
		"ss -tlnp":                            unfit,
		"ss --proc":                           unfit,
		"ss -tlnp | grep :80 | head":          unfit,
		"timeout 5 lsof -ni":                  unfit,
		"/usr/bin/lsof -ni":                   unfit,
		"ls -l /proc/1/fd":                    unfit,
		"id ada":                              unfit,
		"hostname -f":                         other,
		"ulimit -n":                           unfit,
		"uptime; ulimit -n":                   asks,
		"cat /etc/hosts; ss -p":               asks,
		"x=$(cat /etc/hosts); lsof -ni":       asks,
		"touch x":                             other,
		"rm -rf /srv":                         other,
		"frobnicate":                          other,
	} {
		d, got := decide("agent/mcp", command), other
		switch {
		case d.Unheld != nil:
			if got = held; len(d.Sockets) > 0 {
				got = held + " with " + sockets
			}
			assert.Equal(t, policy.Allow, d.Verdict, command)
			assert.Equal(t, policy.Ask, d.Unheld.Verdict, command)
			assert.Equal(t, []string{rules.HeldRule, string(policy.NeedsApproval)}, []string{d.Unheld.Rule, string(d.Unheld.Needs)}, command)
		case d.Unfit != "":
			if got = unfit; len(d.Sockets) > 0 {
				got = sockets
			}
			assert.Equal(t, policy.Allow, d.Verdict, command)
		case d.Rule == rules.HeldRule:
			got = asks
			assert.Equal(t, policy.Ask, d.Verdict, command)
			assert.Contains(t, d.Reason, "by itself", command)
		}
		assert.Equal(t, want, got, "%s: %+v", command, d)
	}
	assert.Nil(t, decide("agent/free", "uptime").Unheld)
	assert.Nil(t, decide("operator/bob", "uptime").Unheld)
	d := decide("operator/ada", "uptime")
	require.NotNil(t, d.Unheld)
	assert.Equal(t, policy.NeedsApproval, d.Unheld.Needs, "an operator cannot confirm it alone")
	d = decide("operator/ada", "echo $x", "x")
	assert.Equal(t, "builtin/session-name", d.Rule, "a held shell does not have the session's variables")
	assert.Equal(t, policy.Allow, decide("operator/ada", "touch $x", "x").Verdict)
}

// Without a word about it, an agent's reads are held where the host can, and never ask for that; where the policy lets it shape its
// shell they run there.
func TestAnAgentsReadsAreHeldByDefault(t *testing.T) {
	free := parse(t, `version: 1
rules:
  - {name: free, hosts: all, principals: [role=agent], classes: [read-only, write, unknown, dangerous], verdict: allow, reason: "a test"}
  - {name: dig, hosts: all, principals: [agent/dns], classes: [network-read], verdict: allow, reason: "a test"}
`)
	const (
		hold    = "held"
		sockets = "held with sockets"
		unfit   = "not held"
		plain   = "nothing is said"
	)
	for _, c := range []struct {
		file                      *rules.File
		tighten                   bool
		who, command, how, reason string
	}{
		{who: "agent/a", command: "uptime", how: hold},
		{who: "mallory", command: "uptime", how: hold},
		{who: "agent/a", command: "cat /etc/hosts; x=1", how: hold}, // the session knows what it would lose
		{who: "agent/a", command: "cat /etc/hosts; docker ps", how: sockets},
		{who: "agent/a", command: "ss -tlnp", how: unfit, reason: "ss"},
		{who: "agent/a", command: "uptime; ss -tlnp", how: unfit, reason: "ss"},
		{who: "agent/a", command: "touch x", how: plain},
		{who: "operator/a", command: "uptime", how: plain},
		{who: "program/a", command: "uptime", how: plain},
		{file: limits(t, "  - {name: role=agent, reads: judged}\n"), who: "agent/a", command: "uptime", how: plain},
		{file: limits(t, "  - {name: agent/b, reads: judged}\n"), who: "agent/a", command: "uptime", how: hold},
		{file: limits(t, "  - {name: role=agent, reads: judged}\n"), tighten: true, who: "agent/a", command: "uptime", how: hold},
		{file: free, who: "agent/a", command: "uptime", how: plain},
		{file: free, who: "agent/dns", command: "dig @127.0.0.1 x", how: plain},
	} {
		cfg := rules.Config{User: c.file}
		if c.tighten {
			cfg.System = parse(t, "version: 1\n")
		}
		d, err := rules.New(cfg).Decide(t.Context(), policy.Request{Principal: c.who, Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: c.command})
		require.NoError(t, err)
		got := plain
		switch {
		case d.Hold && len(d.Sockets) > 0:
			got = sockets
		case d.Hold:
			got = hold
		case d.Unfit != "":
			got = unfit
		}
		assert.Equal(t, c.how, got, "%+v: %+v", c, d)
		assert.Contains(t, d.Unfit, c.reason)
		assert.Nil(t, d.Unheld, "it does not ask where the host cannot")
	}
}

// What the system's file wants held, the user's cannot set free.
func TestTheUsersFileCannotFreeReads(t *testing.T) {
	e := rules.New(rules.Config{
		System: limits(t, "  - {name: role=agent, reads: held}\n"),
		User:   limits(t, "  - {name: role=agent, reads: judged}\n"),
	})
	assert.True(t, e.Limits("agent/a").HeldReads)
}
