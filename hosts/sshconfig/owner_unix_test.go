//go:build unix

package sshconfig_test

import (
	"os/user"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestWhoseFilesAreTrusted(t *testing.T) {
	const root, me, other = 0, 1000, 1001
	assert.False(t, sshconfig.Strange(root, root))
	assert.False(t, sshconfig.Strange(root, me))
	assert.False(t, sshconfig.Strange(me, me))
	assert.True(t, sshconfig.Strange(other, me))
	assert.True(t, sshconfig.Strange(me, root), "root would obey a file that another account can change")
}

func TestAGroupMayWriteAFileOnlyWhereItIsTheOwnersAlone(t *testing.T) {
	for _, private := range []bool{false, true} {
		assert.False(t, sshconfig.Writable(0o755, private))
		assert.Equal(t, !private, sshconfig.Writable(0o664, private))
		assert.True(t, sshconfig.Writable(0o646, private))
	}
}

func TestWhomThisMachineDoesNotKnowHasNoGroupOfItsOwn(t *testing.T) {
	const nobody = 1<<31 - 7
	assert.False(t, sshconfig.PrivateGroup(nobody, 0))
	assert.False(t, sshconfig.PrivateGroup(0, nobody))
	if g, err := user.LookupGroupId("0"); err == nil && g.Name == "root" {
		assert.True(t, sshconfig.PrivateGroup(0, 0))
	}
}

func TestAnAccountWithoutAnEntryNeedsAHome(t *testing.T) {
	u, err := sshconfig.Nameless(12345, "/home/of/nobody")
	assert.NoError(t, err)
	assert.Equal(t, &user.User{Uid: "12345", HomeDir: "/home/of/nobody"}, u)
	for _, home := range []string{"", "relative"} {
		_, err = sshconfig.Nameless(12345, home)
		assert.EqualError(t, err, "sshconfig: the account with the number 12345 is unknown to this machine, and HOME names no directory: set HOME")
	}
}

func TestAFileOfAnotherAccountLiesInItsHome(t *testing.T) {
	root, err := user.Lookup("root")
	require.NoError(t, err)
	s := must(t, "IdentityFile ~root/k\n", "web")
	assert.Equal(t, strings.TrimSuffix(root.HomeDir, "/")+"/k", s.IdentityFiles[0].V)
}
