package rules_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func limits(t *testing.T, list string) *rules.File { return parse(t, "version: 1\nprincipals:\n"+list) }

func TestWithoutAFileOnlyTheWidthOfAgentsIsLimited(t *testing.T) {
	e := rules.New(rules.Config{})
	assert.Equal(t, rules.Limits{MaxHosts: rules.DefaultMaxHosts}, e.Limits("agent/a"))
	assert.Equal(t, rules.Limits{MaxHosts: rules.DefaultMaxHosts}, e.Limits(""))
	assert.Equal(t, rules.Limits{}, e.Limits("operator/a"))
	assert.Equal(t, rules.Limits{}, e.Limits("program/a"))
}

func TestTheNarrowestNameHasTheLastWord(t *testing.T) {
	e := rules.New(rules.Config{User: limits(t, `
  - {name: agent/a, max_hosts: 0, shell: true, tools: [run]}
  - {name: "*", daily: 7, max_timeout: 1m}
  - {name: role=agent, max_hosts: 5, shell: false, strict: true, env: clean, max_output: 1MiB, rate: 5/s, programs: [], max_timeout: 2m}
`)})
	assert.Equal(t, rules.Limits{
		Tools: []string{"run"}, Programs: []string{}, Strict: true, CleanEnv: true,
		MaxOutput: 1 << 20, MaxTimeout: 2 * time.Minute, Rate: 5, RatePer: time.Second, Daily: 7,
	}, e.Limits("agent/a"))
	b := e.Limits("agent/b")
	assert.True(t, b.NoShell)
	assert.Equal(t, 5, b.MaxHosts)
	assert.Equal(t, rules.Limits{Daily: 7, MaxTimeout: time.Minute}, e.Limits("operator/a"))
}

func TestAUsersFileOnlyTightensTheSystemsLimits(t *testing.T) {
	e := rules.New(rules.Config{
		System: limits(t, "  - {name: role=agent, shell: false, tools: [look, run], max_timeout: 5m, rate: 60/m, daily: 100, programs: [ls, cat]}\n"),
		User:   limits(t, "  - {name: role=agent, shell: true, strict: true, tools: [run, job_start], max_timeout: 1h, max_output: 10, rate: 30/m, daily: 0, max_hosts: 100}\n"),
	})
	assert.Equal(t, rules.Limits{
		Tools: []string{"run"}, Programs: []string{"ls", "cat"}, NoShell: true, Strict: true, MaxTimeout: 5 * time.Minute,
		MaxOutput: 10, Rate: 30, RatePer: time.Minute, Daily: 100, MaxHosts: rules.DefaultMaxHosts,
	}, e.Limits("agent/a"))
}

func TestLimitsClampAndRefuse(t *testing.T) {
	l := rules.Limits{MaxTimeout: time.Minute, MaxOutput: 100, Tools: []string{"run"}, NoShell: true}
	assert.Equal(t, time.Minute, l.Timeout(0), "no timeout is more than any")
	assert.Equal(t, time.Minute, l.Timeout(time.Hour))
	assert.Equal(t, time.Second, l.Timeout(time.Second))
	assert.Equal(t, int64(100), l.Output(-1))
	assert.Equal(t, int64(7), l.Output(7))
	assert.NoError(t, l.Tool("run"))
	assert.ErrorIs(t, l.Tool("job_start"), rules.ErrLimit)
	assert.ErrorIs(t, l.Shell(), rules.ErrLimit)
	var none rules.Limits
	assert.Equal(t, time.Hour, none.Timeout(time.Hour))
	assert.Equal(t, int64(7), none.Output(7))
	assert.NoError(t, none.Tool("run"))
	assert.NoError(t, none.Shell())
}

func TestAHostThatIsNotForThePrincipalIsDenied(t *testing.T) {
	system := limits(t, "  - {name: role=agent, hosts: 'tier=dev'}\n")
	user := limits(t, "  - {name: agent/a, hosts: 'web*'}\n")
	for name, tt := range map[string]struct {
		cfg  rules.Config
		host hosts.Host
		who  string
		want policy.Verdict
	}{
		"in both":            {rules.Config{System: system, User: user}, hosts.Host{Name: "web1", Tier: "dev"}, "agent/a", policy.Allow},
		"in the user's only": {rules.Config{System: system, User: user}, hosts.Host{Name: "web1"}, "agent/a", policy.Deny},
		"in the system's":    {rules.Config{System: system, User: user}, hosts.Host{Name: "db1", Tier: "dev"}, "agent/a", policy.Deny},
		"another agent":      {rules.Config{System: system, User: user}, hosts.Host{Name: "db1", Tier: "dev"}, "agent/b", policy.Allow},
		"an operator":        {rules.Config{System: system, User: user}, hosts.Host{Name: "db1"}, "operator/a", policy.Allow},
		"without the system": {rules.Config{User: user}, hosts.Host{Name: "web1"}, "agent/a", policy.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(t, rules.New(tt.cfg), policy.Request{Principal: tt.who, Host: tt.host, Command: "ls"})
			assert.Equal(t, tt.want, d.Verdict, "%+v", d)
		})
	}
}

func TestARateLetsSomeThroughAtOnceAndThenOneByOne(t *testing.T) {
	e := rules.New(rules.Config{User: limits(t, "  - {name: role=agent, rate: 3/m}\n")})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 3 {
		require.NoError(t, e.Admit("agent/a", now))
	}
	err := e.Admit("agent/a", now)
	var quota *rules.QuotaError
	require.ErrorAs(t, err, &quota)
	assert.Equal(t, "rate", quota.What)
	assert.Equal(t, now.Add(20*time.Second), quota.Retry.UTC())
	assert.EqualError(t, err, "rules: agent/a has used up its rate limit (3 per minute); try again after 2026-01-02T03:04:25Z")
	assert.NoError(t, e.Admit("agent/b", now), "everybody has a count of their own")
	assert.Error(t, e.Admit("agent/a", now.Add(-time.Hour)), "a clock that goes back gives nothing back")
	assert.Error(t, e.Admit("agent/a", now.Add(19*time.Second)))
	assert.NoError(t, e.Admit("agent/a", now.Add(20*time.Second)))
	assert.Error(t, e.Admit("agent/a", now.Add(20*time.Second)))
	for range 3 {
		require.NoError(t, e.Admit("agent/a", now.Add(time.Hour)))
	}
	assert.Error(t, e.Admit("agent/a", now.Add(time.Hour)), "what is not used is not kept beyond the burst")
	assert.NoError(t, e.Admit("operator/a", now))
}

func TestADayEndsAtMidnight(t *testing.T) {
	e := rules.New(rules.Config{User: limits(t, "  - {name: agent/a, daily: 2}\n")})
	now := time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC)
	require.NoError(t, e.Admit("agent/a", now))
	require.NoError(t, e.Admit("agent/a", now))
	var quota *rules.QuotaError
	require.ErrorAs(t, e.Admit("agent/a", now), &quota)
	assert.Equal(t, "daily", quota.What)
	assert.Equal(t, time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), quota.Retry.UTC())
	require.NoError(t, e.Admit("agent/a", now.Add(time.Hour)))
	require.NoError(t, e.Admit("agent/a", now), "the new day goes on")
	require.Error(t, e.Admit("agent/a", now))
}

// What was taken comes back bit by bit, and a refusal says when there is enough.
func TestARateComesBackBitByBit(t *testing.T) {
	e := rules.New(rules.Config{User: limits(t, "  - {name: role=agent, rate: 2/m}\n")})
	now := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	require.NoError(t, e.Admit("agent/a", now))
	require.NoError(t, e.Admit("agent/a", now))
	for _, after := range []int{0, 10, 15, 29} {
		var quota *rules.QuotaError
		require.ErrorAs(t, e.Admit("agent/a", now.Add(time.Duration(after)*time.Second)), &quota)
		assert.WithinDuration(t, now.Add(30*time.Second), quota.Retry, time.Millisecond, "after %d seconds", after)
	}
	require.NoError(t, e.Admit("agent/a", now.Add(30*time.Second)))
	require.Error(t, e.Admit("agent/a", now.Add(30*time.Second)))
}

func TestTheMeterIsBounded(t *testing.T) {
	e := rules.New(rules.Config{User: limits(t, "  - {name: role=agent, daily: 1}\n")})
	now := time.Unix(1e9, 0)
	for i := range 30_000 {
		require.NoError(t, e.Admit(fmt.Sprintf("agent/%d", i), now))
		assert.LessOrEqual(t, e.Metered(), 10_000)
		if i >= 9_999 {
			assert.GreaterOrEqual(t, e.Metered(), 5_000, "nobody is forgotten without need")
		}
	}
	require.NoError(t, e.Admit("agent/29999", now.Add(24*time.Hour)))
	require.Error(t, e.Admit("agent/29999", now.Add(24*time.Hour)))
	for i := range 4_000 {
		require.NoError(t, e.Admit(fmt.Sprintf("agent/next-%d", i), now.Add(24*time.Hour)))
	}
	require.Error(t, e.Admit("agent/next-3999", now.Add(24*time.Hour)))
	require.Error(t, e.Admit("agent/29999", now.Add(24*time.Hour)), "those of days gone by are forgotten first")
}

func TestManyHostsAreOneRequest(t *testing.T) {
	e := rules.New(rules.Config{})
	ask := func(n int, principal, command string) (policy.Decision, int) {
		reqs := make([]policy.Request, n)
		for i := range reqs {
			reqs[i] = policy.Request{Principal: principal, Host: hosts.Host{Name: fmt.Sprint("h", i), Tier: "dev"}, Command: command}
		}
		if n > 1 {
			reqs[n-1].Host.Tier = "prod"
		}
		all, d, err := e.JudgeMany(t.Context(), reqs)
		require.NoError(t, err)
		return d, len(all)
	}
	for name, tt := range map[string]struct {
		n                        int
		principal, command, want string
	}{
		"none":                          {0, "agent/a", "ls", "deny"},
		"as many as an agent may":       {20, "agent/a", "ls", "allow"},
		"one more":                      {21, "agent/a", "ls", "ask/approval"},
		"one more of what is denied":    {21, "agent/a", "sudo ls", "deny"},
		"operators may ask for all":     {100, "operator/a", "ls", "allow"},
		"the one on prod decides":       {3, "operator/a", "systemctl stop nginx", "ask/confirmation"},
		"a lone one of dev is as it is": {1, "operator/a", "systemctl stop nginx", "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			d, n := ask(tt.n, tt.principal, tt.command)
			assert.Equal(t, tt.want, said(d), "%+v", d)
			assert.Equal(t, tt.n, n)
		})
	}
	same := make([]policy.Request, 30)
	for i := range same {
		same[i] = policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Command: "ls"}
	}
	_, d, err := e.JudgeMany(t.Context(), same)
	require.NoError(t, err)
	assert.Equal(t, policy.Allow, d.Verdict, "one host is one host")
}

func TestStructuredMode(t *testing.T) {
	strict := rules.Limits{Strict: true}
	listed := rules.Limits{Programs: []string{"ls"}}
	for name, tt := range map[string]struct {
		program string
		args    []string
		limits  rules.Limits
		want    error
	}{
		"plain":                       {"ls", []string{"-l", "/srv"}, rules.Limits{}, nil},
		"exact words mean nothing":    {"echo", []string{"$(x)", "; rm", "a b", ""}, rules.Limits{}, nil},
		"no program":                  {"", nil, rules.Limits{}, rules.ErrStructured},
		"a path":                      {"/bin/ls", nil, rules.Limits{}, rules.ErrStructured},
		"a climb":                     {"..", nil, rules.Limits{}, rules.ErrStructured},
		"two words":                   {"ls -l", nil, rules.Limits{}, rules.ErrStructured},
		"an assignment":               {"A=b", nil, rules.Limits{}, rules.ErrStructured},
		"an option":                   {"-x", nil, rules.Limits{}, rules.ErrStructured},
		"a substitution":              {"$(x)", nil, rules.Limits{}, rules.ErrStructured},
		"a trailing space":            {"ls ", nil, rules.Limits{}, rules.ErrStructured},
		"a newline":                   {"ls\n", nil, rules.Limits{}, rules.ErrStructured},
		"a name in other letters":     {"lѕ", nil, rules.Limits{}, rules.ErrStructured},
		"NUL":                         {"ls", []string{"a\x00b"}, rules.Limits{}, rules.ErrStructured},
		"on the list":                 {"ls", nil, listed, nil},
		"not on the list":             {"cat", nil, listed, rules.ErrLimit},
		"no program is on no list":    {"ls", nil, rules.Limits{Programs: []string{}}, rules.ErrLimit},
		"strict and plain":            {"ls", []string{"-l", "/srv/a.b", "x=y", "a,b:c@d%e+f"}, strict, nil},
		"strict and two dots":         {"ls", []string{"/srv/../etc"}, strict, rules.ErrStructured},
		"strict and a semicolon":      {"ls", []string{";"}, strict, rules.ErrStructured},
		"strict and a dollar":         {"ls", []string{"$HOME"}, strict, rules.ErrStructured},
		"strict and a quote":          {"ls", []string{"a'b"}, strict, rules.ErrStructured},
		"strict and a backtick":       {"ls", []string{"`x`"}, strict, rules.ErrStructured},
		"strict and a star":           {"ls", []string{"*"}, strict, rules.ErrStructured},
		"strict and a home":           {"ls", []string{"~root"}, strict, rules.ErrStructured},
		"strict and a line":           {"ls", []string{"a\nb"}, strict, rules.ErrStructured},
		"strict and a control byte":   {"ls", []string{"a\x1bb"}, strict, rules.ErrStructured},
		"strict and bytes of no text": {"ls", []string{"a\xff"}, strict, rules.ErrStructured},
	} {
		t.Run(name, func(t *testing.T) {
			err := rules.Structured(tt.program, tt.args, tt.limits)
			assert.ErrorIs(t, err, tt.want)
		})
	}
}
