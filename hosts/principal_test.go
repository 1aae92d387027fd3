package hosts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestWhoeverHasNoRoleIsAnAgent(t *testing.T) {
	for principal, want := range map[string]string{
		"operator/ada": "operator", "program/backup": "program", "agent/mcp": "agent", "": "agent", "operator": "agent",
		"operator/": "agent", "root/ada": "agent", "Operator/ada": "agent", " operator/ada": "agent",
	} {
		assert.Equal(t, want, hosts.RoleOf(principal), "%q", principal)
	}
}

func TestPrincipalsAreNamesOrRolesOrEverybody(t *testing.T) {
	for _, s := range []string{"agent/mcp", "operator/ada@example.com", "program/x", "role=agent", "role=operator", "role=program", "*"} {
		assert.NoError(t, hosts.CheckPrincipal(s), s)
	}
	for s, want := range map[string]string{
		"": "is not a name", "mcp": "is not a name", "agent/": "is not a name", "agent": "is not a name", "agent/*": "is not a name", "agent/a,agent/b": "is not a name",
		"agent/a b": "is not a name", "root/x": "is not a name", "agent/a/b": "is not a name", "role=": "has a role that is not", "role=root": "has a role that is not", "**": "is not a name",
	} {
		assert.ErrorContains(t, hosts.CheckPrincipal(s), want, "%q", s)
	}
}
