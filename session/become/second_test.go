package become_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// withCode is a machine whose PAM has sudo ask for a code after the password, as those with a second factor do.
func withCode(t *testing.T, ask become.Ask) *machine {
	t.Helper()
	if matches, _ := filepath.Glob("/lib*/*/security/pam_exec.so"); len(matches) == 0 {
		needs.Part(t, "pam_exec is not installed")
	}
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	code := filepath.Join(dir, "code")
	require.NoError(t, os.WriteFile(code, []byte("#!/bin/sh\nprintf 'Verification code: ' >\"$PAM_TTY\"\nIFS= read -r code <\"$PAM_TTY\"\ntest \"$code\" = 271828\n"), 0o755))
	all := maps.Clone(files)
	all["pam.d/sudo"] = "auth required pam_unix.so\nauth [success=1 default=ignore] pam_exec.so quiet " + code + "\nauth requisite pam_deny.so\nauth required pam_permit.so\naccount required pam_permit.so\nsession required pam_permit.so\n"
	return newMachineWith(t, all, ask)
}

func TestASecondFactorIsPutToThePerson(t *testing.T) {
	answers := map[bool]string{}
	var asked []string
	m := withCode(t, func(_ context.Context, q become.Question) ([]byte, error) {
		asked = append(asked, q.Prompt())
		return []byte(answers[q.Says != ""]), nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	prompts := []string{"sudo password for flpass on web1: ", "sudo on web1 asks: Verification code: "}
	for _, tt := range []struct {
		user, password, code string
		want                 error
		asked                []string
	}{
		{"flfree", "", "", nil, nil},
		{"flpass", "pass-pw-2", "271828", nil, prompts},
		{"flpass", "pass-pw-2", "314159", become.ErrWrongPassword, prompts},
		{"flpass", "no", "271828", become.ErrWrongPassword, prompts},
	} {
		asked, answers = nil, map[bool]string{false: tt.password, true: tt.code}
		r, err := m.pool.Run(ctx, m.as(t, tt.user, "sudo"), session.Command{Script: "id -un"})
		assert.Equal(t, tt.asked, asked)
		if tt.want != nil {
			require.ErrorIs(t, err, tt.want)
			assert.ErrorContains(t, err, `sudo does not take the password of flpass, or what was typed for "Verification code:"`)
			assert.NotContains(t, err.Error(), tt.code)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "root\n", string(r.Stdout))
	}
}

func TestWithoutAPersonASecondFactorIsAnError(t *testing.T) {
	m := withCode(t, func(_ context.Context, q become.Question) ([]byte, error) {
		if q.Says != "" {
			return nil, errors.New("nobody knows it")
		}
		return []byte("pass-pw-2"), nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := m.pool.Run(ctx, m.as(t, "flpass", "sudo"), session.Command{Script: "id -un"})
	require.ErrorIs(t, err, become.ErrPasswordNeeded)
	assert.ErrorContains(t, err, `sudo asks "Verification code:" before flpass becomes root, and no answer was given (nobody knows it)`)
}
