package sshconn_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// printing writes a program that notes its arguments and runs a script.
func printing(t *testing.T, a *account, script string) (program, log string) {
	t.Helper()
	log = a.path("log")
	program = a.write("program", "#!/bin/sh\necho \"$@\" >>"+log+"\n"+script+"\n")
	require.NoError(t, os.Chmod(program, 0o700))
	return program, log
}

func TestKnownHostsCommandPrintsKeysBesideTheFiles(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	h := sessiontest.Host(t, "web1", server.Addr())
	name := knownhosts.Name(h.Addr, h.Port)
	line := name + " " + string(ssh.MarshalAuthorizedKey(server.HostKey()))
	program, log := printing(t, a, "printf '%s' '"+line+"'")
	a.config("KnownHostsCommand "+program+" %I %H %t %f %K %n %r # x", server)
	dial(t, a.dialer(), hosts.Host{Name: "web1", User: "me"})
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	blob := strings.Fields(line)[2]
	assert.Equal(t, "ORDER "+name+" NONE NONE NONE web1 me # x\n"+
		"HOSTNAME "+name+" ssh-ed25519 "+ssh.FingerprintSHA256(server.HostKey())+" "+blob+" web1 me # x\n", string(text))

	// A key that it revokes is revoked, whatever the files say.
	a.knows(server)
	_, _ = printing(t, a, "printf '%s' '@revoked "+line+"'")
	_, err = a.dialer().Dial(t.Context(), hosts.Host{Name: "web1", User: "me"})
	var revoked *knownhosts.RevokedError
	require.ErrorAs(t, err, &revoked)
	assert.Equal(t, "KnownHostsCommand", revoked.Known.File)

	// And another one is a changed one.
	other := newKey(t)
	require.NoError(t, os.Remove(a.path("known_hosts")))
	_, _ = printing(t, a, "printf '%s' '"+name+" "+string(ssh.MarshalAuthorizedKey(other.PublicKey()))+"'")
	_, err = a.dialer().Dial(t.Context(), hosts.Host{Name: "web1", User: "me"})
	var changed *knownhosts.ChangedError
	require.ErrorAs(t, err, &changed)
}

func TestWhereKnownHostsCommandFailsNoKeyIsTrusted(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.knows(server)
	for script, want := range map[string]string{
		"echo 'no \033[31mway' >&2; exit 3":  `config:5: KnownHostsCommand: the program ended with exit status 3; it says "no `,
		"kill -9 $$":                         "ended with signal: killed",
		"head -c 5000000 /dev/zero; sleep 9": "printed more than 4 MiB",
	} {
		program, _ := printing(t, a, script)
		a.config("KnownHostsCommand "+program, server)
		_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1", User: "me"})
		require.Error(t, err, script)
		assert.ErrorContains(t, err, "host keys cannot be checked: ")
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\033")
	}
	a.config("KnownHostsCommand /no/such/program", server)
	_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1", User: "me"})
	assert.ErrorContains(t, err, "KnownHostsCommand: the program cannot be started: no such file or directory")
	assert.False(t, errors.Is(err, os.ErrPermission))
}
