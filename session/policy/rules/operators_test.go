package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Operators install packages and hand over trees of data; what takes the host apart stays forbidden.
func TestWhatOperatorsDoToTheirHostsIsDangerous(t *testing.T) {
	e := rules.New(rules.Config{})
	for command, want := range map[string]struct{ operator, agent string }{
		"apt-get install -y nginx": {"dangerous ask/confirmation", "forbidden deny"},
		"apt install nginx":        {"dangerous ask/confirmation", "forbidden deny"},
		"apt-get -y upgrade":       {"dangerous ask/confirmation", "forbidden deny"},
		"dnf install -y nginx":     {"dangerous ask/confirmation", "forbidden deny"},
		"yum -y update":            {"dangerous ask/confirmation", "forbidden deny"},
		"apk add curl":             {"dangerous ask/confirmation", "forbidden deny"},
		"pacman -S nginx":          {"dangerous ask/confirmation", "forbidden deny"},
		"pip install requests":     {"dangerous ask/confirmation", "forbidden deny"},
		"npm install -g yarn":      {"dangerous ask/confirmation", "forbidden deny"},
		"dpkg -i x.deb":            {"dangerous ask/confirmation", "forbidden deny"},
		"DEBIAN_FRONTEND=noninteractive apt-get install -y nginx": {"dangerous ask/confirmation", "forbidden deny"},
		"timeout 60 apt-get install -y nginx":                     {"dangerous ask/confirmation", "forbidden deny"},
		"sudo apt-get install -y nginx":                           {"privileged ask/confirmation", "forbidden deny"},
		"for p in a b; do apt-get install -y $p; done":            {"dangerous ask/confirmation", "forbidden deny"},
		"apt-get install -y nginx; rm -rf /":                      {"forbidden ask/break-glass", "forbidden deny"},
		"chown -R www /srv":                                       {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chown -R www:www /srv/":                                  {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chown -R www /srv/*":                                     {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chown -R www \"/srv/$X\"":                                {"dangerous ask/confirmation", "dangerous ask/approval"},
		"cd / && chown -R www srv":                                {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chgrp -R staff /opt":                                     {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chown --recursive mysql /var/lib/mysql":                  {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chown -R bob:bob /home/bob":                              {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chmod -R g+w /srv":                                       {"dangerous ask/confirmation", "dangerous ask/approval"},
		"chmod -R 777 /home/bob":                                  {"forbidden ask/break-glass", "forbidden deny"},
		"chown -R www /":                                          {"forbidden ask/break-glass", "forbidden deny"},
		"chown -R www /etc":                                       {"forbidden ask/break-glass", "forbidden deny"},
		"chown -R www /srv /usr":                                  {"forbidden ask/break-glass", "forbidden deny"},
		"chown -R www /srv/../etc":                                {"forbidden ask/break-glass", "forbidden deny"},
		"chown -R www /home":                                      {"forbidden ask/break-glass", "forbidden deny"},
		"chown -R www /home/*":                                    {"forbidden ask/break-glass", "forbidden deny"},
		"chmod -R u+s /srv":                                       {"forbidden ask/break-glass", "forbidden deny"},
		"rm -rf /srv":                                             {"forbidden ask/break-glass", "forbidden deny"},
		"mv /srv /tmp/x":                                          {"forbidden ask/break-glass", "forbidden deny"},
	} {
		for who, want := range map[string]string{"operator/a": want.operator, "agent/a": want.agent} {
			d := decide(t, e, policy.Request{Principal: who, Host: hosts.Host{Name: "h", Tier: "prod"}, Command: command, Shell: "bash"})
			assert.Equal(t, want, string(d.Class)+" "+said(d), "%s for %s: %s", command, who, d.Reason)
		}
	}
	d := decide(t, e, policy.Request{Principal: "operator/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: "apt-get install -y nginx"})
	assert.Equal(t, policy.Allow, d.Verdict)
	d = decide(t, e, policy.Request{Principal: "someone", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: "apt-get install -y nginx"})
	assert.Equal(t, policy.Deny, d.Verdict, "a principal without a role counts as an agent")
}
