package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// Whatever begins through a keeper that has a connection already is refused once the host's key is not trusted any more.
func TestAKeeperBeginsNothingOnAHostThatIsNotTrustedAnyMore(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		known, err := os.ReadFile(a.sshd.KnownHosts)
		require.NoError(t, err)
		file, ran := filepath.Join(a.dir, "file"), filepath.Join(a.dir, "ran")
		require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
		ways := [][]string{
			{a.fairlead(), "run", "sshd", "--", "touch " + ran},
			{a.fairlead(), "exec", "sshd", "--", "touch " + ran},
			{a.ssh, "sshd", "touch " + ran},
			{a.fairlead(), "cp", file, "sshd:" + ran},
			{a.fairlead(), "fetch", "sshd:" + file, ran},
			{a.fairlead(), "jobs", "start", "sshd", "--", "touch " + ran},
		}
		if slices.Contains(a.env, "FAIRLEAD_KEEPER=require") { // which keeps sessions
			ways = append(ways, []string{a.fairlead(), "exec", "-s", "named", "sshd", "--", "touch " + ran})
		}
		warm := ways[len(ways)-1]
		require.Zero(t, a.run("", warm[0], append(warm[1:len(warm)-1:len(warm)-1], "true")...).code)
		a.ok(a.fairlead(), "run", "sshd", "--", "true")
		other, err := sshserver.NewKey()
		require.NoError(t, err)
		for what, text := range map[string]string{
			"revoked": string(known) + "@revoked * " + string(ssh.MarshalAuthorizedKey(a.sshd.HostKey)),
			"changed": "* " + string(ssh.MarshalAuthorizedKey(other.PublicKey())),
			"removed": "",
		} {
			require.NoError(t, os.WriteFile(a.sshd.KnownHosts, []byte(text), 0o600))
			for _, words := range ways {
				r := a.run("", words[0], words[1:]...)
				assert.NotZero(t, r.code, "%s: %q: %s", what, words, r.out)
				assert.Regexp(t, map[string]string{"revoked": "is revoked", "changed": "(?i)has changed", "removed": "(?i)(unknown|not known)"}[what], r.err, "%q", words)
			}
			assert.NoFileExists(t, ran, what)
			require.NoError(t, os.WriteFile(a.sshd.KnownHosts, known, 0o600))
			a.ok(a.fairlead(), "run", "sshd", "--", "true")
		}
	})
}
