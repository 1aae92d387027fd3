package sshconn_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// As with ssh, the key that a connection has verified is good for all of it, whatever becomes of what vouched for it.
func TestAnExchangeOfKeysAsksNothingAboutTheVerifiedHostKey(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "RekeyLimit 1M")
	const volume = 8_000_000
	much := sshconn.Piped{Line: "head -c 8000000 /dev/zero"}

	t.Run("trusted for one connection", func(t *testing.T) {
		a := newAccount(t)
		a.reaches(sshd, "UserKnownHostsFile /dev/null")
		p := &person{says: func(sshconn.Question) (sshconn.Answer, error) { return sshconn.Answer{Trust: true}, nil }}
		out, _, _ := through(t, dial(t, a.asking(p), web1), much, "")
		assert.Len(t, out, volume)
		assert.Len(t, p.asked, 1)
	})
	t.Run("removed meanwhile", func(t *testing.T) {
		a := newAccount(t)
		a.reaches(sshd, "")
		c := dial(t, a.dialer(), web1)
		a.write("known_hosts", "")
		out, _, _ := through(t, c, much, "")
		assert.Len(t, out, volume)
	})
}

func TestAnotherHostKeyInAnExchangeOfKeysIsJudged(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	a := newAccount(t)
	a.reaches(sshd, "")
	settings, err := sshconn.Settings(a.dialer(), web1)
	require.NoError(t, err)
	require.NoError(t, settings.HostKeyCallback("", nil, sshd.HostKey))
	a.write("known_hosts", "")
	assert.NoError(t, settings.HostKeyCallback("", nil, sshd.HostKey))
	assert.Error(t, settings.HostKeyCallback("", nil, newKey(t).PublicKey()))
}
