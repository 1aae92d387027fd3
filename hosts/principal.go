package hosts

import (
	"errors"
	"strings"
)

// The roles that a principal may have.
const (
	RoleAgent    = "agent"
	RoleOperator = "operator"
	RoleProgram  = "program"
)

// RoleOf returns the role in the name of a principal, which is what stands before the slash: agent/mcp, operator/ada.
// Whoever has none of the roles is an agent.
func RoleOf(principal string) string {
	role, name, found := strings.Cut(principal, "/")
	if found && name != "" && (role == RoleOperator || role == RoleProgram) {
		return role
	}
	return RoleAgent
}

// CheckPrincipal says whether s is how an inventory names principals: a name such as agent/mcp, role=agent, or "*" for
// everybody. The error completes a sentence about it.
func CheckPrincipal(s string) error {
	if s == "*" {
		return nil
	}
	if role, ok := strings.CutPrefix(s, "role="); ok {
		if !isRole(role) {
			return errors.New("has a role that is not agent, operator or program")
		}
		return nil
	}
	role, name, _ := strings.Cut(s, "/")
	if !isRole(role) || name == "" || strings.ContainsAny(name, "*?/ ,") {
		return errors.New(`is not a name such as agent/mcp, nor role=agent, nor "*"`)
	}
	return nil
}

func isRole(s string) bool { return s == RoleAgent || s == RoleOperator || s == RoleProgram }

// standing says how closely s, which CheckPrincipal takes, names a principal: 3 by name, 2 by role, 1 as everybody, 0 not
// at all.
func standing(s, principal string) int {
	role, isRole := strings.CutPrefix(s, "role=")
	switch {
	case s == "*":
		return 1
	case isRole && role == RoleOf(principal):
		return 2
	case s == principal:
		return 3
	}
	return 0
}
