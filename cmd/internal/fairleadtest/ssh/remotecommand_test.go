package ssh_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// RemoteCommand and RequestTTY of a file have the effect that they have with ssh.
func TestTheProgramOfAConfigurationRunsAsWithSSH(t *testing.T) {
	t.Parallel()
	inPlaceOfSSH(t, func(a *asSSH) {
		client, err := exec.LookPath("ssh")
		if err != nil {
			needs.Part(t, "ssh is not installed")
		}
		bare, err := os.ReadFile(a.sshd.Config)
		require.NoError(t, err)
		configured := func(lines string) {
			require.NoError(t, os.WriteFile(a.sshd.Config, fmt.Appendf(nil, "%s\n%s", lines, bare), 0o600))
		}
		// same runs both programs, and wants the same of them.
		same := func(code int, out string, args ...string) (r fairleadtest.Outcome) {
			t.Helper()
			want := a.run("", client, append([]string{"-F", a.sshd.Config}, args...)...)
			r = a.run("", a.ssh, args...)
			assert.Equal(t, code, want.Code, "ssh: %s", want.Err)
			assert.Equal(t, code, r.Code, r.Err)
			assert.Regexp(t, out, want.Out)
			assert.Regexp(t, out, r.Out)
			return r
		}
		configured("RemoteCommand echo \"%n as %r%%\"; tty; exit 4 # all of it")
		same(4, "^sshd as "+a.sshd.User+"%\nnot a tty\n$", "sshd")
		assert.Contains(t, same(255, "^$", "sshd", "true").Err, a.sshd.Config+":1: RemoteCommand and a command exclude each other; -o RemoteCommand=none runs the command")
		same(0, "^other\n$", "-o", "RemoteCommand=none", "sshd", "echo other")
		same(0, "^mine\n$", "-o", "RemoteCommand=echo mine", "sshd")
		same(0, "^mine sshd 100%\n$", "-o", "RemoteCommand=echo mine %n 100%%", "sshd")
		same(4, "/dev/", "-tt", "sshd")
		r := a.run("", a.fairlead(), "run", "sshd", "--", "true")
		assert.Equal(t, 3, r.Code)
		assert.Contains(t, r.Err, "fairlead ssh runs it")

		configured("RequestTTY force\nRemoteCommand none")
		same(0, "/dev/", "sshd", "tty")
		same(1, "not a tty", "-T", "sshd", "tty")
		same(1, "not a tty", "-o", "RequestTTY=auto", "sshd", "tty")
		configured("RequestTTY no")
		same(0, "/dev/", "-tt", "sshd", "tty")
	})
}

// As with ssh, programs that ssh_config names run where the caller is, whoever starts them.
func TestProgramsOfTheConfigurationRunWhereTheCallerIs(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		bare, err := os.ReadFile(a.sshd.Config)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(a.sshd.Config, append([]byte("Match exec \"test -f elsewhere\"\n\tPort 1\nMatch all\n"), bare...), 0o600))
		top, sub := a.dir, filepath.Join(a.dir, "sub")
		require.NoError(t, os.Mkdir(sub, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(sub, "elsewhere"), nil, 0o600))
		for range 2 {
			a.dir = top
			assert.Equal(t, "here\n", a.ok(a.ssh, "sshd", "echo here"))
			a.dir = sub
			assert.Contains(t, a.run("", a.ssh, "sshd", "echo here").Err, "connection refused")
			assert.Equal(t, 3, a.run("", filepath.Join(top, "bin", "fairlead"), "run", "sshd", "--", "echo here").Code)
		}
	})
}

// shell opens the account's shell on a terminal, and says so where the configuration wants something else.
func TestAShellIsRefusedWhereTheConfigurationWantsAnotherProgram(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		bare, err := os.ReadFile(a.sshd.Config)
		require.NoError(t, err)
		shell := func(typed []string, more ...string) (int, string) {
			cmd := exec.Command(a.fairlead(), append([]string{"shell"}, more...)...)
			cmd.Env, cmd.Dir = a.env, a.dir
			screen := fairleadtest.SitAt(t, cmd, typed)
			return cmd.ProcessState.ExitCode(), screen
		}
		prompt := "$ "
		if os.Getuid() == 0 {
			prompt = "# "
		}
		typed := []string{prompt, "echo =$((40+2))=; tty; exit\r"}
		for lines, want := range map[string]string{
			"RemoteCommand touch ran": ":1: RemoteCommand: shell opens the account's shell and no other program; run it: fairlead ssh sshd; or open the shell: fairlead shell -o RemoteCommand=none sshd",
			"\nRequestTTY no":         ":2: RequestTTY no, and shell needs a terminal; without one: fairlead ssh sshd; with one all the same: fairlead ssh -t sshd",
		} {
			require.NoError(t, os.WriteFile(a.sshd.Config, fmt.Appendf(nil, "%s\n%s", lines, bare), 0o600))
			code, screen := shell(nil, "sshd")
			assert.Equal(t, 2, code, screen)
			assert.Equal(t, "fairlead: "+a.sshd.Config+want+"\n", screen)
		}
		require.NoError(t, os.WriteFile(a.sshd.Config, fmt.Appendf(nil, "RemoteCommand touch ran\n%s", bare), 0o600))
		code, screen := shell(typed, "-o", "RemoteCommand=none", "sshd")
		assert.Zero(t, code, screen)
		assert.Contains(t, screen, "=42=\n/dev/")
		for _, lines := range []string{"RequestTTY force", "RequestTTY auto", "RemoteCommand none"} {
			require.NoError(t, os.WriteFile(a.sshd.Config, fmt.Appendf(nil, "%s\n%s", lines, bare), 0o600))
			code, screen := shell(typed, "sshd")
			assert.Zero(t, code, screen)
			assert.Contains(t, screen, "=42=\n/dev/")
		}
	})
}
