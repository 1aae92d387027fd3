package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestWhatIsAllowedForItsMeaningWantsACleanShell(t *testing.T) {
	dev := hosts.Host{Name: "h", Tier: "dev"}
	free := file(t, rule("free", "allow", "classes: [read-only, write, unknown]"))
	narrow := file(t, rule("deploy", "allow", "programs: ['deploy *']"))
	careful := file(t, rule("no-curl", "deny", "programs: ['curl *']"))
	for name, tt := range map[string]struct {
		user      *rules.File
		principal string
		command   string
		clean     bool
	}{
		"an agent's read":                         {nil, "agent/a", "ls", true},
		"an agent's read where all is free":       {free, "agent/a", "ls", false},
		"what one rule allows an agent":           {narrow, "agent/a", "deploy now", true},
		"an operator's read":                      {nil, "operator/a", "ls", false},
		"whatever an operator's rules deny":       {careful, "operator/a", "ls", false},
		"what is asked about does not run at all": {nil, "agent/a", "touch x", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(t, rules.New(rules.Config{User: tt.user}), policy.Request{Principal: tt.principal, Host: dev, Command: tt.command})
			assert.Equal(t, tt.clean, d.Clean, "%+v", d)
		})
	}
}

func TestWhatRestsOnANameOfTheSessionAsks(t *testing.T) {
	e := rules.New(rules.Config{})
	req := policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Command: "ls", Set: []string{"ls"}}
	d := decide(t, e, req)
	assert.Equal(t, "ask/approval", said(d))
	assert.Equal(t, "builtin/session-name", d.Rule)
	assert.NotEmpty(t, d.Hint)

	req.Set = []string{"other"}
	assert.Equal(t, policy.Allow, decide(t, e, req).Verdict)
	req.Principal, req.Set = "operator/a", []string{"ls"}
	assert.Equal(t, policy.Allow, decide(t, e, req).Verdict, "an operator's session is the operator's own")

	req = policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Command: "touch x", Set: []string{"touch"}}
	d = decide(t, e, req)
	assert.Equal(t, "ask/approval", said(d))
	assert.Equal(t, "touch", d.Rests, "no approval that was given before says what it means now")
	req.Set = nil
	assert.Empty(t, decide(t, e, req).Rests)

	req = policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Command: `for f in *; do ls "$f"; done`, Set: []string{"f"}}
	assert.Equal(t, policy.Allow, decide(t, e, req).Verdict, "the loop sets the name itself")
	req.Command = `ls "$f"`
	assert.Equal(t, "ask/approval", said(decide(t, e, req)))
}

func TestWhatIsTypedIsUnknown(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, "version: 1\nprincipals:\n  - {name: agent/b, hosts: 'tier=dev'}\n")})
	for who, want := range map[string]string{
		"agent/a": "ask/approval", "agent/b": "deny", "operator/a": "allow", "program/a": "deny", "": "ask/approval",
	} {
		d := decide(t, e, policy.Request{Principal: who, Host: hosts.Host{Name: "h"}, Command: "cat", Input: "hello\n"})
		assert.Equal(t, want, said(d), who)
		assert.Equal(t, policy.Unknown, d.Class)
	}
}

func TestTheSessionIsToldWhatToSend(t *testing.T) {
	e := rules.New(rules.Config{})
	d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h"}, Command: "cd /srv\r\nX=1"})
	assert.Equal(t, "cd /srv\nX=1", d.Send)
	assert.True(t, d.Taints)
	assert.Contains(t, d.Sets, "X")
}
