package dialer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestTheCommandThatTrustsAHostFindsIt(t *testing.T) {
	listed := hosts.Pos{File: "/inventory.yaml", Line: 3}
	for want, h := range map[string]hosts.Host{
		"fairlead hosts trust web1":                  {Name: "web1", Source: listed, User: "ada", Port: 22, SSHConfig: "/of/the/inventory"},
		"fairlead hosts trust ada@web1":              {Name: "web1", User: "ada"},
		"fairlead hosts trust ada@web1:2222":         {Name: "web1", User: "ada", Port: 2222, SSHOptions: []string{"Port=2222"}},
		"fairlead hosts trust 'ada@[::1]'":           {Name: "::1", User: "ada"},
		"fairlead hosts trust 'ada@[::1]:2222'":      {Name: "::1", User: "ada", Port: 2222},
		"fairlead hosts trust -F /my/config web1":    {Name: "web1", SSHConfig: "/my/config", Source: hosts.Pos{File: "/my/config", Line: 1}},
		"fairlead hosts trust -F '/a b' ada@gate":    {Name: "gate", User: "ada", SSHConfig: "/a b"},
		"fairlead hosts trust -o 'Port=2222' web1":   {Name: "web1", Source: listed, Port: 2222, SSHOptions: []string{"Port=2222", "SetEnv=PASSWORD=x", "ProxyCommand=nc -x secret"}},
		"fairlead hosts trust -o 'ProxyJump=g' web2": {Name: "web2", Source: listed, SSHOptions: []string{"ProxyJump=g"}},
	} {
		assert.Equal(t, want, dialer.TrustCommand(h))
		assert.Equal(t, strings.Replace(want, "trust", "forget", 1), dialer.ForgetCommand(h))
	}
}
