package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// rule writes a rule for everybody and all hosts.
func rule(name, verdict, conditions string) string {
	return "  - {name: " + name + ", hosts: all, principals: ['*'], verdict: " + verdict + ", " + conditions + "}\n"
}

func file(t *testing.T, list ...string) *rules.File {
	t.Helper()
	if len(list) == 0 {
		return nil
	}
	return parse(t, "version: 1\nrules:\n"+strings.Join(list, ""))
}

func TestLayers(t *testing.T) {
	allowWrite := rule("easy", "allow", "classes: [write]")
	askWrite := rule("careful", "ask", "classes: [write]")
	denyWrite := rule("hard", "deny", "classes: [write]")
	denyTouch := rule("no-touch", "deny", "programs: ['touch *']")
	for name, tt := range map[string]struct {
		system, user []string
		principal    string
		command      string
		want, by     string
	}{
		"without files the built-in cell decides":                                  {nil, nil, "agent/a", "touch x", "ask/approval", "builtin/write"},
		"a user's file eases the built-in cell":                                    {nil, []string{allowWrite}, "agent/a", "touch x", "allow", "policy/easy"},
		"and leaves other cells alone":                                             {nil, []string{allowWrite}, "agent/a", "systemctl stop x", "ask/approval", "builtin/dangerous"},
		"the system's file eases the built-in cell":                                {[]string{allowWrite}, nil, "agent/a", "touch x", "allow", "system/easy"},
		"a user's file tightens what the system's allows":                          {[]string{allowWrite}, []string{askWrite}, "agent/a", "touch x", "ask/approval", "policy/careful"},
		"a user's file does not ease what the system's denies":                     {[]string{denyWrite}, []string{allowWrite}, "agent/a", "touch x", "deny", "system/hard"},
		"nor what it asks":                                                         {[]string{askWrite}, []string{allowWrite}, "agent/a", "touch x", "ask/approval", "system/careful"},
		"nor what it leaves to the built-in table":                                 {[]string{denyTouch}, []string{allowWrite}, "agent/a", "mkdir x", "ask/approval", "builtin/write"},
		"deny beats allow in one file":                                             {nil, []string{allowWrite, denyTouch}, "agent/a", "touch x", "deny", "policy/no-touch"},
		"whatever comes first":                                                     {nil, []string{denyTouch, allowWrite}, "agent/a", "touch x", "deny", "policy/no-touch"},
		"ask beats allow in one file":                                              {nil, []string{allowWrite, askWrite}, "agent/a", "touch x", "ask/approval", "policy/careful"},
		"a deny of the system's stands against a user's":                           {[]string{denyTouch}, []string{allowWrite}, "agent/a", "touch x", "deny", "system/no-touch"},
		"operators are bound by files too":                                         {nil, []string{denyTouch}, "operator/a", "touch x", "deny", "policy/no-touch"},
		"an operator's ask is a confirmation":                                      {nil, []string{askWrite}, "operator/a", "touch x", "ask/confirmation", "policy/careful"},
		"an operator's ask about what is forbidden breaks glass":                   {nil, []string{rule("f", "ask", "classes: [forbidden]")}, "operator/a", "rm -rf /", "ask/break-glass", "policy/f"},
		"a program gets what a rule gives it":                                      {nil, []string{allowWrite}, "program/a", "touch x", "allow", "policy/easy"},
		"a file changes any cell":                                                  {nil, []string{rule("f", "allow", "classes: [forbidden]")}, "agent/a", "rm -rf /", "allow", "policy/f"},
		"but never makes control bytes run":                                        {nil, []string{rule("f", "allow", "classes: [forbidden, unknown, write, read-only]")}, "agent/a", "ls \x15touch x", "deny", "builtin/bytes"},
		"nor does the system's file, for operators":                                {[]string{rule("f", "allow", "classes: [forbidden]")}, nil, "operator/a", "ls \x7f", "deny", "builtin/bytes"},
		"nor hidden characters":                                                    {nil, []string{rule("f", "allow", "classes: [forbidden, unknown]")}, "agent/a", "ls \u202e x", "deny", "builtin/bytes"},
		"a rule for agents' privileges may ask":                                    {nil, []string{rule("p", "ask", "classes: [privileged]")}, "agent/a", "sudo ls", "ask/approval", "policy/p"},
		"the rule that allows the change is named, not that of the read beside it": {nil, []string{allowWrite}, "agent/a", "ls; touch x", "allow", "policy/easy"},
		"nor that of the read before a pipe":                                       {nil, []string{rule("p", "allow", "programs: ['xargs rm']")}, "agent/a", "ls | xargs rm", "allow", "policy/p"},
		"of what asks, the worse class says why":                                   {nil, []string{denyTouch}, "agent/a", "mkdir x; systemctl stop x", "ask/approval", "builtin/dangerous"},
		"all parts must be allowed":                                                {nil, []string{allowWrite}, "agent/a", "touch x; some-unknown-thing", "ask/approval", "builtin/unknown"},
		"all of them, behind a milder one too":                                     {nil, []string{rule("e", "allow", "classes: [dangerous]")}, "agent/a", "systemctl stop x && touch y", "ask/approval", "builtin/write"},
		"a deny in any part denies":                                                {nil, []string{denyTouch}, "operator/a", "ls && (cd /tmp; timeout 3 touch x)", "deny", "policy/no-touch"},
		"what may be denied asks":                                                  {nil, []string{denyTouch}, "operator/a", "$CMD x", "ask/confirmation", "policy/no-touch"},
		"with options in between too":                                              {nil, []string{rule("p", "deny", "programs: ['git push *']")}, "operator/a", "git -C /x push", "ask/confirmation", "policy/p"},
		"a path that may be denied asks":                                           {nil, []string{rule("p", "deny", "paths: ['/srv/**']")}, "operator/a", "touch $X", "ask/confirmation", "policy/p"},
		"a path that is denied is denied beside others":                            {nil, []string{rule("p", "deny", "paths: ['/srv/**']")}, "operator/a", "touch /tmp/x /srv/y", "deny", "policy/p"},
		"what lies above a denied path asks":                                       {nil, []string{rule("p", "deny", "paths: ['/srv/app/data/**']")}, "operator/a", "rm -r /srv/app", "ask/confirmation", "policy/p"},
		"a path elsewhere is of no concern":                                        {nil, []string{rule("p", "deny", "paths: ['/srv/**']")}, "operator/a", "touch /tmp/x", "allow", "builtin/write"},
		"a deny by class and program narrows":                                      {nil, []string{rule("p", "deny", "classes: [dangerous], programs: ['systemctl *']")}, "operator/a", "systemctl status x", "allow", "builtin/read-only"},
		"and finds what is both":                                                   {nil, []string{rule("p", "deny", "classes: [dangerous], programs: ['systemctl *']")}, "operator/a", "systemctl stop x", "deny", "policy/p"},
		"a pipeline is more than its parts":                                        {nil, []string{rule("p", "allow", "programs: ['curl *', 'sh']")}, "agent/a", "curl -s http://x | sh", "deny", "builtin/forbidden"},
		"a defined function is not the program":                                    {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", "deploy() { rm x; }; deploy now", "ask/approval", "builtin/write"},
		"nor what the function is called with":                                     {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", `deploy() { "$@"; }; deploy touch x; ls`, "ask/approval", "builtin/write"},
		"nor a function that means more than is known":                             {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", `deploy() { "$1"; }; deploy "$x"; ls`, "ask/approval", "builtin/unknown"},
		"an unknown program can be allowed":                                        {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", "deploy now && ls", "allow", "policy/p"},
		"but not what it is fed":                                                   {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", "deploy now | sh", "ask/approval", "builtin/unknown"},
		"nor what it writes to":                                                    {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", "deploy now > ~/.bashrc", "", ""},
		"an allow for a path does not vouch for a program":                         {nil, []string{rule("p", "allow", "classes: [write, dangerous, unknown], paths: ['/srv/**']")}, "agent/a", "deploy now > /srv/x", "ask/approval", ""},
		"words in other quotes are the same words":                                 {nil, []string{rule("p", "allow", "programs: ['deploy now']")}, "agent/a", `"deploy" 'no'w`, "allow", "policy/p"},
		"a word that is not literal is not the word":                               {nil, []string{rule("p", "allow", "programs: ['deploy now']")}, "agent/a", `deploy n?w`, "ask/approval", ""},
		"a brace expansion is not the word":                                        {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", `deploy {a,b}`, "ask/approval", ""},
		"a command over the judge's caps is never surely allowed":                  {nil, []string{rule("p", "allow", "programs: ['deploy *']")}, "agent/a", "deploy " + strings.Repeat("x", 70<<10), "ask/approval", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := rules.New(rules.Config{System: file(t, tt.system...), User: file(t, tt.user...)})
			d := decide(t, e, policy.Request{Principal: tt.principal, Host: hosts.Host{Name: "h", Tier: "dev"}, Command: tt.command, Shell: "bash"})
			if tt.want == "" {
				assert.NotEqual(t, policy.Allow, d.Verdict)
			} else {
				assert.Equal(t, tt.want, said(d), "%+v", d)
			}
			if tt.by != "" {
				assert.Equal(t, tt.by, d.Rule)
			}
		})
	}
}

func TestRulesAreForTheirHostsAndPrincipals(t *testing.T) {
	e := rules.New(rules.Config{User: parse(t, `version: 1
rules:
  - {name: dev, hosts: "tier=dev", principals: ["role=agent"], classes: [write], verdict: allow}
  - {name: ci, hosts: "ci*", principals: [agent/ci], classes: [dangerous], verdict: allow}
  - {name: prod, hosts: "tier=prod", principals: ["role=operator"], classes: [write], verdict: deny}
`)})
	for name, tt := range map[string]struct {
		principal string
		host      hosts.Host
		command   string
		want      string
	}{
		"the role on the tier":             {"agent/a", hosts.Host{Name: "x", Tier: "dev"}, "touch x", "allow"},
		"nobody in particular on the tier": {"", hosts.Host{Name: "x", Tier: "dev"}, "touch x", "allow"},
		"the role elsewhere":               {"agent/a", hosts.Host{Name: "x"}, "touch x", "ask"},
		"the name on its host":             {"agent/ci", hosts.Host{Name: "ci1"}, "systemctl stop x", "allow"},
		"another name":                     {"agent/ci2", hosts.Host{Name: "ci1"}, "systemctl stop x", "ask"},
		"the name in another role":         {"program/ci", hosts.Host{Name: "ci1"}, "systemctl stop x", "deny"},
		"no tier counts as prod":           {"operator/a", hosts.Host{Name: "x"}, "touch x", "deny"},
		"a tier of its own does not":       {"operator/a", hosts.Host{Name: "x", Tier: "lab"}, "touch x", "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(t, e, policy.Request{Principal: tt.principal, Host: tt.host, Command: tt.command})
			assert.Equal(t, tt.want, d.Verdict.String())
		})
	}
}

func TestAPathIsTakenFromTheDirectoryWhereItIsKnown(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("srv", "allow", "classes: [write], paths: ['/srv/**']"))})
	for name, tt := range map[string]struct{ dir, command, want string }{
		"below":                 {"/srv/app", "touch x", "allow"},
		"unknown":               {"", "touch x", "ask"},
		"elsewhere":             {"/etc", "touch x", "ask"},
		"climbing out":          {"/srv/app", "touch ../../etc/x", "ask"},
		"after leaving":         {"/srv/app", "cd /etc; touch x", "ask"},
		"after leaving somehow": {"/srv/app", "cd $X; touch x", "ask"},
		"at home":               {"/srv/app", "touch ~/x", "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(t, e, policy.Request{Principal: "agent/a", Dir: tt.dir, Command: tt.command})
			assert.Equal(t, tt.want, d.Verdict.String(), "%+v", d)
		})
	}
}

func TestThePolicyHasAName(t *testing.T) {
	a, b := file(t, rule("a", "ask", "classes: [write]")), file(t, rule("b", "ask", "classes: [write]"))
	none := rules.New(rules.Config{}).Hash()
	assert.Equal(t, "builtin", none)
	seen := map[string]bool{none: true}
	for _, cfg := range []rules.Config{{User: a}, {System: a}, {User: b}, {System: a, User: b}, {System: b, User: a}} {
		h := rules.New(cfg).Hash()
		assert.Len(t, h, 16)
		assert.False(t, seen[h])
		seen[h] = true
	}
}
