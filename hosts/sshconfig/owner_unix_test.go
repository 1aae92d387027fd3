//go:build unix

package sshconfig_test

import (
	"os/user"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestTheGroupOfOneAccountHasItsNumberAndItsName(t *testing.T) {
	ada := &user.User{Uid: "1000", Gid: "1000", Username: "ada"}
	for want, groups := range map[bool][]user.Group{
		true:  {{Gid: "1000", Name: "ada"}},
		false: {{Gid: "1000", Name: "staff"}, {Gid: "1001", Name: "ada"}, {}},
	} {
		for _, g := range groups {
			assert.Equal(t, want, sshconfig.OwnGroup(ada, &g), "%+v", g)
		}
	}
}
