package sshconn_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestARevokedKeyIsRefusedHoweverWellItIsKnown(t *testing.T) {
	a := newAccount(t)
	server := accepting(t, a.key("id_ed25519", ""))
	a.knows(server)
	a.config("RevokedHostKeys ~/.ssh/revoked\nStrictHostKeyChecking no", server)
	other, bad := string(ssh.MarshalAuthorizedKey(newKey(t).PublicKey())), string(ssh.MarshalAuthorizedKey(server.HostKey()))
	a.write("revoked", "# none of this host\n\n"+other)
	c := dial(t, a.dialer(), web1)

	a.write("revoked", "# a comment\n"+other+bad)
	_, err := a.dialer().Dial(t.Context(), web1)
	require.ErrorIs(t, err, session.ErrHostKey)
	var revoked *knownhosts.RevokedError
	require.ErrorAs(t, err, &revoked)
	assert.Equal(t, 3, revoked.Known.Line)
	assert.ErrorContains(t, err, "is revoked by "+a.path("revoked")+":3")
	assert.ErrorAs(t, c.(*sshconn.Conn).CheckHostKey(), &revoked, "warm connections are not kept")

	for text, want := range map[string]string{"SSHKRL\n\x00": "the list is truncated or damaged", "junk\n": "revoked:1 holds no key"} {
		a.write("revoked", text)
		_, err = a.dialer().Dial(t.Context(), web1)
		require.ErrorIs(t, err, session.ErrHostKey)
		assert.ErrorContains(t, err, want)
	}
	require.NoError(t, os.Remove(a.path("revoked")))
	_, err = a.dialer().Dial(t.Context(), web1)
	assert.ErrorContains(t, err, "RevokedHostKeys: open ", "what is revoked is not known")
}
