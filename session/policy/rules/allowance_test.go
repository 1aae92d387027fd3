package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestAnAllowanceAnswersWhatItIsFor(t *testing.T) {
	exact := rules.Allowance{Approval: "a_1", Principal: "agent/a", Host: "h", Command: "touch x"}
	inDir := rules.Allowance{Approval: "a_1", Principal: "agent/a", Host: "h", Dir: "/srv", Command: "touch x"}
	prefix := rules.Allowance{Approval: "a_1", Principal: "agent/a", Host: "h", Prefix: []string{"systemctl", "restart"}}
	sudo := rules.Allowance{Approval: "a_1", Principal: "agent/a", Host: "h", Command: "sudo ls"}
	for name, tt := range map[string]struct {
		give rules.Allowance
		req  policy.Request
		want string
	}{
		"the exact command":             {exact, policy.Request{Command: "touch x"}, "allow"},
		"with a space more":             {exact, policy.Request{Command: "touch x "}, "ask"},
		"anywhere":                      {exact, policy.Request{Command: "touch x", Dir: "/etc"}, "allow"},
		"in its directory":              {inDir, policy.Request{Command: "touch x", Dir: "/srv"}, "allow"},
		"in another":                    {inDir, policy.Request{Command: "touch x", Dir: "/etc"}, "ask"},
		"for another":                   {exact, policy.Request{Principal: "agent/b", Command: "touch x"}, "ask"},
		"elsewhere":                     {exact, policy.Request{Host: hosts.Host{Name: "i"}, Command: "touch x"}, "ask"},
		"the same words":                {prefix, policy.Request{Command: "systemctl restart nginx"}, "allow"},
		"no more words":                 {prefix, policy.Request{Command: "systemctl restart"}, "allow"},
		"another word":                  {prefix, policy.Request{Command: "systemctl stop nginx"}, "ask"},
		"a word that only begins alike": {prefix, policy.Request{Command: "systemctl restarter nginx"}, "ask"},
		"a word in another case":        {prefix, policy.Request{Command: "SYSTEMCTL restart nginx"}, "ask"},
		"and something else":            {prefix, policy.Request{Command: "systemctl restart nginx; touch x"}, "ask"},
		"and something in it":           {prefix, policy.Request{Command: "systemctl restart $(touch x)"}, "ask"},
		"and somewhere":                 {prefix, policy.Request{Command: "systemctl restart nginx > x"}, "ask"},
		"a denial stays one":            {sudo, policy.Request{Command: "sudo ls"}, "deny"},
	} {
		t.Run(name, func(t *testing.T) {
			base := rules.New(rules.Config{})
			e, err := base.WithAllowance(tt.give)
			require.NoError(t, err)
			req := tt.req
			if req.Principal == "" {
				req.Principal = "agent/a"
			}
			if req.Host.Name == "" {
				req.Host.Name = "h"
			}
			d := decide(t, e, req)
			assert.Equal(t, tt.want, d.Verdict.String(), "%+v", d)
			if d.Verdict == policy.Allow {
				assert.Equal(t, "a_1", d.Approval)
			}
			assert.NotEqual(t, policy.Allow, decide(t, base, req).Verdict, "the engine it was made from stays as it is")
		})
	}
}

func TestAnAllowanceNeverAnswersForAnOperatorsSecondThought(t *testing.T) {
	e, err := rules.New(rules.Config{}).WithAllowance(rules.Allowance{Approval: "a", Principal: "operator/a", Host: "h", Command: "rm -rf /"})
	require.NoError(t, err)
	d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h"}, Command: "rm -rf /"})
	assert.Equal(t, "ask/break-glass", said(d))
}

func TestAllowancesThatAreNotGiven(t *testing.T) {
	who := rules.Allowance{Approval: "a", Principal: "agent/a", Host: "h"}
	with := func(prefix ...string) rules.Allowance { a := who; a.Prefix = prefix; return a }
	both := with("ls", "-l")
	both.Command = "ls"
	for name, a := range map[string]rules.Allowance{
		"of nothing":              who,
		"of both":                 both,
		"for nobody":              {Approval: "a", Host: "h", Command: "x"},
		"for nowhere":             {Approval: "a", Principal: "agent/a", Command: "x"},
		"without approval":        {Principal: "agent/a", Host: "h", Command: "x"},
		"a program alone":         with("systemctl"),
		"an interpreter":          with("python3", "x.py"),
		"with its version":        with("python3.11", "x.py"),
		"a shell":                 with("bash", "-c"),
		"a wrapper":               with("timeout", "5"),
		"git":                     with("git", "log"),
		"sudo":                    with("sudo", "systemctl"),
		"a path":                  with("/bin/systemctl", "restart"),
		"a program that runs all": with("find", "."),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rules.New(rules.Config{}).WithAllowance(a)
			assert.ErrorIs(t, err, rules.ErrAllowance)
		})
	}
}
