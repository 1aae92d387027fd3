package localpty_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestLocalShellKeepsTheContractOfATransport(t *testing.T) {
	sessiontest.RunTransport(t, func(t *testing.T) session.Transport {
		tr, err := localpty.New(localpty.Config{})
		require.NoError(t, err)
		return tr
	})
}
