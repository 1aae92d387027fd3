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
		"": "is no name", "mcp": "is no name", "agent/": "is no name", "agent": "is no name", "agent/*": "is no name", "agent/a,agent/b": "is no name",
		"agent/a b": "is no name", "root/x": "is no name", "agent/a/b": "is no name", "role=": "has a role that is none of", "role=root": "has a role that is none of", "**": "is no name",
	} {
		assert.ErrorContains(t, hosts.CheckPrincipal(s), want, "%q", s)
	}
}
