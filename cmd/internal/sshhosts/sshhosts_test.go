package sshhosts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// book is that of an account of its own, with the path of its configuration.
func book(t *testing.T, text string) (*sshhosts.Book, string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, ".ssh", "config")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	if text != "" {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return &sshhosts.Book{Loader: sshconfig.Loader{Home: dir, User: "ada", UID: "1000", SystemDir: filepath.Join(dir, "etc")}}, file
}

func names(t *testing.T, inv *hosts.Inventory, err error) string {
	t.Helper()
	require.NoError(t, err)
	var all []string
	for h := range inv.All() {
		all = append(all, h.Name)
	}
	return strings.Join(all, " ")
}

func TestHostsAreTheNamesOfSSHConfig(t *testing.T) {
	b, file := book(t, "Host *\n  User deploy\nHost web1 web2 we?\n  Port 2222\nHost all 2001:db8::1\n")
	inv, err := b.Inventory("")
	assert.Equal(t, "web1 web2", names(t, inv, err), "and none that is not a name here")
	h, err := inv.Lookup("web2")
	require.NoError(t, err)
	assert.Equal(t, hosts.Host{Name: "web2", Source: hosts.Pos{File: file, Line: 3}}, h, "the rest is for ssh_config to say")
	_, err = inv.Lookup("web3")
	assert.EqualError(t, err, "hosts: no host named web3 (did you mean web1 or web2?)")
}

func TestHostsOfAFileOfTheirOwnAreResolvedByIt(t *testing.T) {
	b, _ := book(t, "Host mine\n")
	file := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(file, []byte("Host theirs\n"), 0o600))
	inv, err := b.Inventory(file)
	assert.Equal(t, "theirs", names(t, inv, err))
	h, _ := inv.Lookup("theirs")
	assert.Equal(t, file, h.SSHConfig)
	inv, err = b.Inventory("none")
	assert.Empty(t, names(t, inv, err))
	_, err = b.Inventory(filepath.Join(t.TempDir(), "nowhere"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestAChangedFileIsReadAgain(t *testing.T) {
	b, file := book(t, "")
	inv, err := b.Inventory("")
	assert.Empty(t, names(t, inv, err), "a missing file names no host")
	require.NoError(t, os.WriteFile(file, []byte("Host one\n"), 0o600))
	inv, err = b.Inventory("")
	assert.Equal(t, "one", names(t, inv, err))
	same, err := b.Inventory("")
	require.NoError(t, err)
	assert.Same(t, inv, same, "an unchanged one is not")
	require.NoError(t, os.WriteFile(file, []byte("Host one two\n"), 0o600))
	inv, err = b.Inventory("")
	assert.Equal(t, "one two", names(t, inv, err))
	require.NoError(t, os.WriteFile(file, []byte("Host \"\n"), 0o600))
	_, err = b.Inventory("")
	assert.ErrorContains(t, err, file+":1")
}
