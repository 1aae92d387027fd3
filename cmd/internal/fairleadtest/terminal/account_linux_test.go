package terminal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// nameless runs fairlead as an account that this machine has no entry for, as some containers do.
func nameless(t *testing.T, env []string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("fairlead", args...)
	cmd.Env = append([]string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "FAIRLEAD_KEEPER=off", "SHELL=/bin/sh"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 54321, HostID: os.Getuid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		needs.Part(t, "no user namespace can be made: %v", err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestAnAccountWithoutAnEntryReachesHosts(t *testing.T) {
	t.Parallel()
	sshd := sessiontest.OpenSSHD(t)
	home := t.TempDir()
	text := fmt.Sprintf("version: 1\nhosts:\n  - {name: sshd, user: %s, ssh_config: %q, tier: dev}\n  - {name: web2, addr: 127.0.0.1, tier: dev}\n", sshd.User, sshd.Config)
	inventory := filepath.Join(home, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte(text), 0o600))

	said, code := nameless(t, []string{"HOME=" + home}, "-i", inventory, "run", "sshd", "--", "echo good")
	assert.Equal(t, "good\n", said)
	assert.Zero(t, code)
	said, code = nameless(t, []string{"HOME=" + home}, "-i", inventory, "run", "web2", "--", "true")
	assert.Contains(t, said, "this account has no name that could be the user on the host: set user")
	assert.Equal(t, 3, code)
	said, _ = nameless(t, []string{"XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home}, "-i", inventory, "run", "sshd", "--", "true")
	assert.Contains(t, said, "the account with the number 54321 is unknown to this machine, and HOME names no directory: set HOME")
}

// A umask that takes an account's own access away leaves nothing behind that it could not use.
func TestAUmaskThatTakesOnesOwnAccessIsRefused(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, mask := range []string{"777", "0100", "200", "400"} {
		cmd := exec.Command("sh", "-c", "umask "+mask+"; exec fairlead audit verify")
		cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home}
		out, _ := cmd.CombinedOutput()
		assert.Regexp(t, `^fairlead: the umask 0[0-7]{3} takes away this account's own access to what Fairlead creates\. Run: umask 077\n$`, string(out))
		assert.Equal(t, 2, cmd.ProcessState.ExitCode())
	}
	all, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Empty(t, all)
}
