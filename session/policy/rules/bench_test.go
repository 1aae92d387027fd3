package rules_test

import (
	"fmt"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func BenchmarkDecide(b *testing.B) {
	file, err := rules.Parse([]byte(whole), "p.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for name, cfg := range map[string]rules.Config{"builtin": {}, "file": {User: file}} {
		for _, fresh := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/fresh=%v", name, fresh), func(b *testing.B) {
				e := rules.New(cfg)
				req := policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1", Tier: "dev"}, Shell: "bash"}
				for i := 0; b.Loop(); i++ {
					req.Command = "grep -n error /var/log/syslog | tail -n 5"
					if fresh {
						req.Command = fmt.Sprintf("grep -n error%d /var/log/syslog | tail -n 5", i)
					}
					if _, err := e.Decide(b.Context(), req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
