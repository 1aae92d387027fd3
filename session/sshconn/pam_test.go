package sshconn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// withPAM returns an account that reaches web1, OpenSSH's server whose PAM lets in who types "right".
func withPAM(t *testing.T, config string, more ...string) *account {
	t.Helper()
	if matches, _ := filepath.Glob("/lib/*/security/pam_exec.so"); len(matches) == 0 {
		if matches, _ = filepath.Glob("/lib*/security/pam_exec.so"); len(matches) == 0 {
			needs.Part(t, "pam_exec is not installed")
		}
	}
	check := filepath.Join(t.TempDir(), "check")
	require.NoError(t, os.WriteFile(check, []byte("#!/bin/sh\nread -r p\n[ \"$p\" = right ]\n"), 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(check), 0o755))
	sshd := sessiontest.OpenSSHDWithPAM(t, fmt.Sprintf("auth required pam_exec.so quiet expose_authtok %s\naccount required pam_permit.so\nsession required pam_permit.so\n", check), more...)
	a := newAccount(t)
	h := sessiontest.Host(t, "", sshd.Addr)
	require.NoError(t, knownhosts.Append(a.path("known_hosts"), knownhosts.Name(h.Addr, h.Port), sshd.HostKey, knownhosts.AppendOptions{}))
	a.write("config", fmt.Sprintf("Host web1\n\tHostName %s\n\tPort %d\n\tUser %s\n\tIdentityFile %s\n%s\n", h.Addr, h.Port, sshd.User, sshd.KeyFile, config))
	return a
}

func TestOpenSSHWithPAMAsksItsQuestions(t *testing.T) {
	for name, tt := range map[string]struct {
		config, sshd string
		methods      []string // that are asked for
	}{
		"prompts":                 {"", "KbdInteractiveAuthentication yes\nPubkeyAuthentication no", []string{"keyboard-interactive"}},
		"password":                {"", "PasswordAuthentication yes\nPubkeyAuthentication no", []string{"password"}},
		"both, prompts first":     {"", "PasswordAuthentication yes\nKbdInteractiveAuthentication yes\nPubkeyAuthentication no", []string{"keyboard-interactive"}},
		"both, password is liked": {"PreferredAuthentications password,keyboard-interactive", "PasswordAuthentication yes\nKbdInteractiveAuthentication yes", []string{"password"}},
		"a key and prompts":       {"", "KbdInteractiveAuthentication yes\nAuthenticationMethods publickey,keyboard-interactive:pam", []string{"keyboard-interactive"}},
		"a key and a password":    {"", "PasswordAuthentication yes\nAuthenticationMethods publickey,password", []string{"password"}},
		"both switched off here":  {"PasswordAuthentication no\nKbdInteractiveAuthentication no", "KbdInteractiveAuthentication yes", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := withPAM(t, tt.config, tt.sshd)
			p := &person{says: func(q sshconn.Question) (sshconn.Answer, error) {
				if len(q.Prompts) == 0 {
					return sshconn.Answer{}, nil
				}
				return typing("right"), nil
			}}
			dial(t, a.asking(p), hosts.Host{Name: "web1"})
			var methods []string
			for _, q := range p.asked {
				if len(q.Prompts) > 0 {
					methods = append(methods, q.Method)
					assert.False(t, q.Prompts[0].Echo)
				}
			}
			assert.Equal(t, tt.methods, methods)
		})
	}
}

func TestOpenSSHWithPAMRefusesAWrongPassword(t *testing.T) {
	a := withPAM(t, "NumberOfPasswordPrompts 2", "KbdInteractiveAuthentication yes\nPubkeyAuthentication no")
	p := &person{says: func(q sshconn.Question) (sshconn.Answer, error) {
		if len(q.Prompts) == 0 {
			return sshconn.Answer{}, nil
		}
		return typing("hush"), nil
	}}
	_, err := a.asking(p).Dial(t.Context(), web1)
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "typed: keyboard-interactive (2 times)")
	assert.NotContains(t, err.Error(), "hush")
	_, err = a.dialer().Dial(t.Context(), web1)
	assert.ErrorContains(t, err, "not tried: keyboard-interactive (there is no person to ask: run this at a terminal)")
}

// What PAM says of an account that must not log in comes as a banner, after the key was accepted. Then sshd hangs up.
func TestAnAccountThatPAMRefusesIsToldWhatPAMSays(t *testing.T) {
	if found, _ := filepath.Glob("/lib*/*/security/pam_echo.so"); len(found) == 0 {
		needs.Part(t, "pam_echo is not installed")
	}
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("Your account has expired\n"), 0o644))
	require.NoError(t, os.Chmod(filepath.Dir(text), 0o755))
	rules := "account optional pam_echo.so file=" + text + "\naccount requisite pam_deny.so\n"
	sshd := sessiontest.OpenSSHDWithPAM(t, rules)
	_, err := dialerFor(t, sshd).Dial(t.Context(), sshd.Host(t, "web1"))
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, `may not log in, the server says "Your account has expired`)
	assert.ErrorContains(t, err, "which was accepted")
	assert.ErrorContains(t, err, "the log of the server says why")

	sshd = sessiontest.OpenSSHDWithPAM(t, "account requisite pam_deny.so\n")
	_, err = dialerFor(t, sshd).Dial(t.Context(), sshd.Host(t, "web1"))
	assert.ErrorContains(t, err, "the server hung up, after it had accepted the key: if it does so again, its log says why")
}
