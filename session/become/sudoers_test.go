package become_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// What sudoers and PAM may say, for each account.
func TestSudoersDecideWhoseAndWhat(t *testing.T) {
	p := &person{}
	all := maps.Clone(files)
	all["sudoers.d/fairlead-test"] = `
Defaults:flpass targetpw
Defaults:flother passprompt="Enter it"
Defaults:flother passprompt_override, requiretty, lecture=always, passwd_tries=1
flpass ALL=(ALL) ALL
flnone ALL=(ALL) NOEXEC: ALL
flother ALL=(ALL) ALL
flfree ALL=(ALL) NOPASSWD: ALL
`
	m := newMachineWith(t, all, p.ask)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := func(user, become, password, script string) (asked string, r session.Result, err error) {
		p.reset(password)
		h := m.as(t, user, "sudo")
		h.Become.User = become
		r, err = m.pool.Run(ctx, h, session.Command{Script: script})
		for _, q := range p.questions() {
			asked += q.Prompt()
		}
		return asked, r, err
	}

	t.Run("the target's password", func(t *testing.T) {
		asked, r, err := run("flpass", "flnone", "none-pw-3", "id -un")
		require.NoError(t, err)
		assert.Equal(t, "sudo password for flnone on web1: ", asked)
		assert.Equal(t, "flnone\n", string(r.Stdout))
		_, _, err = run("flpass", "flnone", "pass-pw-2", "id -un")
		require.ErrorIs(t, err, become.ErrWrongPassword)
		assert.ErrorContains(t, err, "the password of flnone")
	})
	t.Run("a prompt, a lecture and one try", func(t *testing.T) {
		asked, _, err := run("flother", "root", "other-pw-4", "id -un")
		require.NoError(t, err)
		assert.Equal(t, "sudo password for flother on web1: ", asked)
		_, _, err = run("flother", "root", "no", "id -un")
		assert.ErrorIs(t, err, become.ErrWrongPassword)
	})
	t.Run("no programs", func(t *testing.T) {
		_, r, err := run("flnone", "root", "none-pw-3", "id -un")
		require.ErrorIs(t, err, become.ErrNotAllowed)
		assert.Equal(t, session.StatusAuth, r.Status)
		assert.ErrorContains(t, err, "NOEXEC")
		assert.NotContains(t, err.Error(), "login shell")
	})
	t.Run("a password that has to be changed", func(t *testing.T) {
		_, _, err := run("flfree", "root", "", "chage -d 0 flother")
		require.NoError(t, err)
		_, _, err = run("flother", "root", "other-pw-4", "id -un")
		require.ErrorIs(t, err, become.ErrNotAllowed)
		assert.ErrorContains(t, err, "Account or password is expired")
		assert.ErrorContains(t, err, "ssh -t web1 passwd")
		assert.NotContains(t, err.Error(), "other-pw-4")
	})
}

// A password that one host has taken, and that has to be changed there, is sent to the other hosts.
func TestAPasswordThatHasToBeChangedIsNotAWrongOne(t *testing.T) {
	p := &person{}
	m := newMachine(t, p.ask)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, err := m.pool.Run(ctx, m.as(t, "flfree", "sudo"), session.Command{Script: "chage -d 0 flpass"})
	require.NoError(t, err)
	p.reset("pass-pw-2")
	for h, r := range m.pool.Each(ctx, m.many(t, 3), session.Command{Script: "id -un"}) {
		assert.Equal(t, session.StatusAuth, r.Status)
		assert.ErrorIs(t, r.Err, become.ErrNotAllowed, h.Name)
	}
	assert.Len(t, p.questions(), 1)
}

// PAM refuses an account that is locked before it asks for anything.
func TestAnAccountThatIsLockedIsSaidToBe(t *testing.T) {
	p := &person{password: "pass-pw-2"}
	all := maps.Clone(files)
	all["pam.d/sudo"] = "auth requisite pam_deny.so\naccount required pam_permit.so\n"
	m := newMachineWith(t, all, p.ask)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	h := m.as(t, "flpass", "sudo")
	h.Become = hosts.Become{User: "root", Method: "sudo"}
	_, err := m.pool.Run(ctx, h, session.Command{Script: "id -un"})
	require.ErrorIs(t, err, become.ErrNotAllowed)
	assert.ErrorContains(t, err, "asked for no password")
	assert.Empty(t, p.questions())
}

// PAM may say that an account is locked, and ask for its password all the same. A password that it refuses then is not wrong.
func TestAnAccountThatIsSaidToBeLockedDoesNotMakeAPasswordWrong(t *testing.T) {
	if matches, _ := filepath.Glob("/lib*/*/security/pam_echo.so"); len(matches) == 0 {
		needs.Part(t, "pam_echo is not installed")
	}
	p := &person{password: "other-pw-4"}
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("The account is locked due to 3 failed logins.\n(10 minutes left to unlock)\n"), 0o644))
	all := maps.Clone(files)
	all["pam.d/su"] = "auth optional pam_echo.so file=" + text + "\nauth required pam_unix.so\nauth required pam_deny.so\naccount required pam_permit.so\n"
	m := newMachineWith(t, all, p.ask)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var hs []hosts.Host
	for _, name := range []string{"web1", "web2"} {
		h := m.as(t, "flnone", "su")
		h.Name, h.Become.User = name, "flother"
		hs = append(hs, h)
	}
	for h, r := range m.pool.Each(ctx, hs, session.Command{Script: "id -un"}) {
		require.ErrorIs(t, r.Err, become.ErrNotAllowed, h.Name)
		assert.ErrorContains(t, r.Err, "locked due to 3 failed logins. (10 minutes left to unlock)")
	}
}
