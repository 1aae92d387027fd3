package sshconn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// A command goes where ssh_config says now, also where a connection to where it led before is warm.
func TestAWarmConnectionTakesNoNewWorkOnceItsConfigurationLeadsElsewhere(t *testing.T) {
	first, second := sessiontest.OpenSSHD(t), sessiontest.OpenSSHD(t)
	a := newAccount(t)
	a.reaches(second, "")
	there, known := a.read("config"), a.read("known_hosts")
	a.reaches(first, "")
	a.write("known_hosts", a.read("known_hosts")+known)
	here := a.read("config")
	asked := a.path("asked")
	here = "Match exec \"echo x >>" + asked + "\"\n\tServerAliveInterval 60\n" + here
	a.write("config", here)
	p := a.pool()
	where := func(s runner) string {
		_, port, _ := strings.Cut(strings.TrimSpace(string(ran(t, s, "echo :${SSH_CONNECTION##* }").Stdout)), ":")
		return port
	}
	old, now := first.Addr[strings.LastIndex(first.Addr, ":")+1:], second.Addr[strings.LastIndex(second.Addr, ":")+1:]
	s := p.open(t)
	ran(t, s, "state=kept")
	require.Equal(t, old, where(p))
	times := a.read("asked")
	for range 3 {
		require.Equal(t, old, where(p))
	}
	assert.Equal(t, times, a.read("asked"), "programs run again though no file has changed")
	a.write("config", "# another text that says the same\n"+here)
	require.Equal(t, old, where(p))
	require.EqualValues(t, 1, p.Stats().Dialed)

	a.write("config", there)
	assert.Equal(t, now, where(p))
	assert.Equal(t, now, where(p.open(t)))
	assert.EqualValues(t, 2, p.Stats().Dialed)
	assert.Equal(t, old, where(s), "an open session stays where it is")
	assert.Equal(t, "kept\n", string(ran(t, s, "echo $state").Stdout))

	a.write("config", "Hosst web1\n")
	_, err := p.Run(t.Context(), session.Command{Script: "true"})
	assert.ErrorContains(t, err, "config")
	assert.Equal(t, old, where(s))
}

func (a *account) read(name string) string {
	a.t.Helper()
	text, err := os.ReadFile(a.path(name))
	require.NoError(a.t, err)
	return string(text)
}
