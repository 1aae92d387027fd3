package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// A rule is for its hosts: what "*" stands for does not lead to others.
func TestTheRestOfAPatternLeadsNowhereElse(t *testing.T) {
	for _, tt := range []struct{ verdict, program, command, want string }{
		{"allow", "systemctl restart *", "systemctl restart nginx", "allow"},
		{"allow", "systemctl restart *", "systemctl restart --no-block nginx php-fpm", "allow"},
		{"allow", "systemctl restart *", "systemctl restart -H db9 nginx", "ask"},
		{"allow", "systemctl restart *", "systemctl restart -Hdb9 nginx", "ask"},
		{"allow", "systemctl restart *", "systemctl restart nginx --ho=db9", "ask"},
		{"allow", "systemctl restart *", "systemctl restart --root=/mnt nginx", "ask"},
		{"allow", "systemctl restart *", "systemctl restart nginx; systemctl restart -M c nginx", "ask"},
		{"allow", "systemctl *", "systemctl -H db9 restart nginx", "ask"},
		{"allow", "systemctl restart -H db9 *", "systemctl restart -H db9 nginx", "allow"},
		{"allow", "systemctl restart -H db9 *", "systemctl restart -H db9 -H db1 nginx", "ask"},
		{"allow", "systemctl restart -H *", "systemctl restart -H db9 nginx", "allow"},
		{"allow", "systemctl restart -H *", "systemctl restart -H db9 -H db1 nginx", "ask"},
		{"allow", "systemctl restart -H db9 nginx", "systemctl restart -H db9 nginx", "allow"},
		{"allow", "systemctl -H db9 restart *", "systemctl -H db9 restart nginx", "allow"},
		{"allow", "systemctl -H db9 restart *", "systemctl -H db9 restart nginx -H db1", "ask"},
		{"allow", "timeout *", "timeout 5 systemctl restart -H db9 nginx", "ask"},
		{"allow", "sudo systemctl restart *", "sudo systemctl restart -H db9 nginx", "deny"},
		{"allow", "sudo *", "sudo -h db9 systemctl restart nginx", "deny"},
		{"allow", "sudo *", "sudo systemctl restart nginx", "allow"},
		{"allow", "kubectl rollout restart *", "kubectl rollout restart deploy/x -n shop", "allow"},
		{"allow", "kubectl rollout restart *", "kubectl rollout restart deploy/x --context prod", "ask"},
		{"allow", "kubectl --context dev rollout restart *", "kubectl --context dev rollout restart deploy/x", "allow"},
		{"allow", "kubectl --context dev rollout restart *", "kubectl --context dev rollout restart deploy/x --context=prod", "ask"},
		{"allow", "docker *", "docker restart web", "allow"},
		{"allow", "docker *", "docker -H tcp://db9 restart web", "ask"},
		{"allow", "git push *", "git push -u --force-with-lease origin main", "allow"},
		{"allow", "git push *", "git push --receive-pack='touch x' origin", "ask"},
		{"allow", "git push *", "git push --exec=touch origin", "ask"},
		{"allow", "make *", "make -C /srv all", "allow"},
		{"deny", "systemctl restart *", "systemctl restart -H db9 nginx", "deny"},
		{"ask", "systemctl restart *", "systemctl restart -H db9 nginx", "ask"},
	} {
		f, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: free, hosts: '*', principals: ['*'], programs: ['"+tt.program+"'], verdict: "+tt.verdict+"}\n"), "p.yaml")
		require.NoError(t, err)
		d, err := rules.New(rules.Config{User: f}).Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: tt.command})
		require.NoError(t, err)
		assert.Equal(t, tt.want, d.Verdict.String(), "%s: %s: %s", tt.program, tt.command, d.Reason)
		if tt.command == "systemctl restart -H db9 nginx" && tt.program == "systemctl restart *" && tt.verdict == "allow" {
			assert.Contains(t, d.Reason, "; the rule free does not cover -H,--host, which leads to another host")
		}
	}
}
