package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

const proofs = `version: 1
approvals:
  proof:
    prod: {write: unproven, dangerous: touch, "*": passphrase}
    dev: unproven
    "*": {dangerous: passphrase}
`

func asked(t *testing.T, e *rules.Engine, tier, command string) policy.Decision {
	t.Helper()
	d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/x", Host: hosts.Host{Name: "h", Tier: tier}, Command: command})
	require.NoError(t, err)
	return d
}

func TestTheLeastProofIsThatOfTheTierAndOfTheStrictestClass(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, proofs)})
	for name, tt := range map[string]struct {
		tier, command string
		want          policy.Proof
	}{
		"a class of the tier":              {"prod", "touch /srv/x", policy.Unproven},
		"the strictest class":              {"prod", "touch /srv/x; systemctl stop nginx", policy.Touch},
		"any class of the tier":            {"prod", "nobody-knows-this", policy.Passphrase},
		"no tier counts as prod":           {"", "systemctl stop nginx", policy.Touch},
		"any class of another tier":        {"dev", "systemctl stop nginx", policy.Unproven},
		"a class of any tier":              {"staging", "systemctl stop nginx", policy.Passphrase},
		"what the file does not say":       {"staging", "touch /srv/x", ""},
		"and beside it what the file does": {"staging", "touch /srv/x; systemctl stop nginx", policy.Passphrase},
		"what does not ask":                {"prod", "ls", ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, asked(t, e, tt.tier, tt.command).LeastProof)
		})
	}
	d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/x", Host: hosts.Host{Tier: "prod"}, Command: "python3", Interactive: true, Input: "text"})
	require.NoError(t, err)
	assert.Equal(t, policy.Passphrase, d.LeastProof, "what is typed is of the class unknown")
	d, err = e.Decide(t.Context(), policy.Request{Principal: "operator/ada", Host: hosts.Host{Tier: "prod"}, Command: "systemctl stop nginx"})
	require.NoError(t, err)
	assert.Equal(t, policy.NeedsConfirmation, d.Needs)
	assert.Empty(t, d.LeastProof, "a second thought is not an approval")
}

func TestABareYesForOneClassIsNoneForAnother(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, "version: 1\napprovals: {proof: {prod: {write: unproven}}}\n")})
	assert.Equal(t, policy.Unproven, asked(t, e, "prod", "touch /srv/x").LeastProof)
	assert.Empty(t, asked(t, e, "prod", "systemctl stop nginx").LeastProof)
	assert.Empty(t, asked(t, e, "prod", "touch /srv/x; systemctl stop nginx").LeastProof, "it is left to whoever is asked")
}

func TestAUsersFileOnlyTightensTheProofOfTheSystems(t *testing.T) {
	for name, tt := range map[string]struct {
		system, user string
		want         policy.Proof
	}{
		"nothing is said":               {"", "", ""},
		"the system's alone":            {"touch", "", policy.Touch},
		"a bare yes of both":            {"unproven", "unproven", policy.Unproven},
		"a bare yes of the user":        {"", "unproven", ""},
		"the user's is weaker":          {"touch", "passphrase", policy.Touch},
		"the user's is stronger":        {"passphrase", "touch", policy.Touch},
		"the user's says more":          {"unproven", "passphrase", policy.Passphrase},
		"the system says it is nothing": {"unproven", "", policy.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			file := func(proof string) *rules.File {
				if proof == "" {
					return parse(t, "version: 1\n")
				}
				return parse(t, "version: 1\napprovals: {proof: {prod: "+proof+"}}\n")
			}
			e := rules.New(rules.Config{System: file(tt.system), User: file(tt.user)})
			assert.Equal(t, tt.want, asked(t, e, "prod", "touch /srv/x").LeastProof)
		})
	}
	alone := rules.New(rules.Config{User: parse(t, "version: 1\napprovals: {proof: {prod: unproven}}\n")})
	assert.Equal(t, policy.Unproven, asked(t, alone, "prod", "touch /srv/x").LeastProof, "without a system's file the user's is the policy")
	assert.Empty(t, asked(t, rules.New(rules.Config{}), "prod", "touch /srv/x").LeastProof)
}

func TestAReadThatAsksTakesItsOwnProof(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, "version: 1\nrules:\n"+rule("r", "ask", "classes: [read-only]")+"approvals: {proof: {prod: {read-only: touch, write: unproven}}}\n")})
	assert.Equal(t, policy.Touch, asked(t, e, "prod", "ls").LeastProof)
	assert.Equal(t, policy.Unproven, asked(t, e, "prod", "ls; touch /srv/x").LeastProof, "beside a write it counts for nothing")
}

func TestOneYesForManyHostsTakesTheStrongestProof(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, "version: 1\napprovals: {proof: {dev: unproven, lab: touch}}\n")})
	req := func(tier string) policy.Request {
		return policy.Request{Principal: "agent/x", Host: hosts.Host{Name: tier, Tier: tier}, Command: "touch /srv/x"}
	}
	for name, tt := range map[string]struct {
		reqs []policy.Request
		want policy.Proof
	}{
		"all alike":              {[]policy.Request{req("dev"), req("dev")}, policy.Unproven},
		"one stronger":           {[]policy.Request{req("dev"), req("lab"), req("prod")}, policy.Touch},
		"one that is not said":   {[]policy.Request{req("dev"), req("prod")}, ""},
		"one that is not, first": {[]policy.Request{req("prod"), req("dev")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, d, err := e.JudgeMany(t.Context(), tt.reqs)
			require.NoError(t, err)
			assert.Equal(t, tt.want, d.LeastProof)
		})
	}
}

// What runs as another account is privileged, also on many hosts.
func TestOneYesForManyHostsTakesTheProofOfAnotherAccount(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, "version: 1\napprovals: {proof: {dev: {write: unproven, privileged: touch}}}\n")})
	req := policy.Request{Principal: "agent/x", Host: hosts.Host{Name: "h", Tier: "dev", Become: hosts.Become{User: "app", Method: "sudo"}}, Command: "touch /srv/x"}
	d, err := e.Decide(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, policy.Ask, d.Verdict)
	assert.Equal(t, policy.Touch, d.LeastProof)
	_, d, err = e.JudgeMany(t.Context(), []policy.Request{req})
	require.NoError(t, err)
	assert.Equal(t, policy.Touch, d.LeastProof)
	assert.Equal(t, policy.Touch, e.LeastProof(req))
}

func TestTheLeastProofIsKnownOfWhatNeedsNoApproval(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, "version: 1\napprovals: {proof: {prod: touch}}\n")})
	assert.Equal(t, policy.Touch, e.LeastProof(policy.Request{Principal: "agent/x", Host: hosts.Host{Name: "h", Tier: "prod"}, Command: "ls"}))
	assert.Empty(t, e.LeastProof(policy.Request{Principal: "agent/x", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: "ls"}))
}

func TestEveryMistakeAboutProofIsToldWithItsLine(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a word":            {"approvals: touch", "p.yaml:2: approvals: expected a mapping"},
		"nothing":           {"approvals: {}", "p.yaml:2: approvals: needs proof"},
		"an unknown key":    {"approvals: {prof: {prod: touch}}", `p.yaml:2: unknown key "prof" in approvals; known: proof`},
		"one for all":       {"approvals: {proof: touch}", "p.yaml:2: proof: expected a mapping of tiers"},
		"no tier":           {"approvals: {proof: {}}", "p.yaml:2: proof: expected a mapping of tiers"},
		"no name of a tier": {"approvals: {proof: {'a b': touch}}", `p.yaml:2: proof: "a b" is not a tier`},
		"an unknown proof":  {"approvals: {proof: {prod: oath}}", `p.yaml:2: proof: "oath" is not one of touch, passphrase, unproven`},
		"no proof":          {"approvals: {proof: {prod: }}", "p.yaml:2: proof: a value is missing"},
		"an unknown class":  {"approvals:\n  proof:\n    prod: {writes: touch}", `p.yaml:4: proof: "writes" is not one of read-only,`},
		"no class":          {"approvals:\n  proof:\n    prod: {}", "p.yaml:4: proof: the mapping of prod is empty"},
		"a list of proofs":  {"approvals: {proof: {prod: [touch]}}", "p.yaml:2: proof: expected a single value"},
		"a tier twice":      {"approvals: {proof: {prod: touch, prod: touch}}", `p.yaml:2: "prod" is there twice`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rules.Parse([]byte("version: 1\n"+tt.text+"\n"), "p.yaml")
			require.ErrorContains(t, err, tt.want)
		})
	}
}
