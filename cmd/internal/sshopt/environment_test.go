package sshopt_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestNoMoreOfTheEnvironmentIsTakenAlongThanCounts(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(file, []byte("Host key\n\tIdentityFile ${KEYS}/k\nHost through\n\tProxyJump proxied\nHost proxied\n\tProxyCommand nc %h %p\n\tCertificateFile ${GONE}\nHost near\n\tUserKnownHostsFile known\n"), 0o600))
	environ := []string{"KEYS=/keys", "SECRET=x", "TERM=xterm", "PWD=/here", "LANG=C", "SSH_AUTH_SOCK=/agent", "NEWLINE=a\nb\xff"}
	of := func(hs ...hosts.Host) sshopt.Environment {
		for i := range hs {
			hs[i].SSHConfig = file
		}
		lookup := func(name string) (hosts.Host, bool) { return hosts.Host{Name: "proxied"}, name == "gate" }
		return sshopt.EnvironmentFor(hs, lookup, sshconfig.Loader{Home: dir, User: "ada", UID: "1", Hostname: "desk"}, environ)
	}
	all := sshopt.Environment{All: true, Vars: []string{"GONE", "KEYS=/keys", "LANG=C", "NEWLINE=a\nb\xff", "SECRET=x"}}
	assert.Zero(t, of(hosts.Host{Name: "plain"}))
	assert.Zero(t, of(hosts.Host{Name: "proxied", Transport: hosts.Local}), "it is not reached over SSH")
	assert.Equal(t, sshopt.Environment{Vars: []string{"KEYS=/keys"}}, of(hosts.Host{Name: "plain"}, hosts.Host{Name: "key"}))
	assert.Equal(t, sshopt.Environment{Vars: []string{"PWD=/here"}}, of(hosts.Host{Name: "near"}), "its file is in this directory")
	assert.Equal(t, all, of(hosts.Host{Name: "proxied"}))
	assert.Equal(t, all, of(hosts.Host{Name: "through"}), "jump hosts count")
	assert.Equal(t, all, of(hosts.Host{Name: "plain", Via: []string{"gate"}}), "and those of the inventory")

	for _, e := range []sshopt.Environment{{}, all, of(hosts.Host{Name: "key"})} {
		word, err := e.Word()
		require.NoError(t, err)
		back, err := sshopt.ParseEnvironment(word)
		require.NoError(t, err)
		assert.Equal(t, e, back)
	}
	large := make([]string, 4000)
	for i := range large {
		large[i] = fmt.Sprintf("V%d=%x", i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	_, err := sshopt.Environment{All: true, Vars: large}.Word()
	assert.ErrorIs(t, err, sshopt.ErrEnvironment)
}

func TestAnEnvironmentGoesBeforeThatOfTheProcess(t *testing.T) {
	own := func(name string) (string, bool) {
		if name == "NOWHERE" {
			return "", false
		}
		return "own", true
	}
	some := sshopt.Environment{Vars: []string{"A=1", "B"}}.Over(own)
	all := sshopt.Environment{All: true, Vars: []string{"A=1", "B"}}.Over(own)
	for name, want := range map[string][2]string{"A": {"1", "1"}, "B": {"", ""}, "C": {"own", ""}, "NOWHERE": {"", ""}} {
		s, _ := some(name)
		a, _ := all(name)
		assert.Equal(t, want, [2]string{s, a}, name)
	}
	assert.Nil(t, sshopt.Environment{Vars: []string{"A=1"}}.Environ(), "programs get the process's own")
	assert.Equal(t, []string{"A=1"}, sshopt.Environment{All: true, Vars: []string{"A=1", "B"}}.Environ())
	assert.NotNil(t, sshopt.Environment{All: true}.Environ(), "an empty one is one")
}
