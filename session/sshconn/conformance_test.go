package sshconn_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestTheServerInTheProcessKeepsTheContractOfATransport(t *testing.T) {
	server := sessiontest.Server(t, sshserver.Config{})
	d := static(t, server)
	sessiontest.RunTransport(t, func(t *testing.T) session.Transport {
		return dial(t, d, sessiontest.Host(t, "demo", server.Addr()))
	})
}

func TestOpenSSHKeepsTheContractOfATransport(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
	require.NoError(t, err)
	sessiontest.RunTransport(t, func(t *testing.T) session.Transport {
		return dial(t, d, sshd.Host(t, "sshd"))
	})
}
