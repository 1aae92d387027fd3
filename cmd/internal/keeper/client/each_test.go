package client_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestWhatIsRefusedDoesNotKeepTheRestFromBeingDone(t *testing.T) {
	var asked []string
	gone := errors.New("gone")
	do := func(id string) error {
		asked = append(asked, id)
		switch id {
		case "no", "never":
			return &wire.Problem{Detail: id}
		case "gone":
			return gone
		}
		return nil
	}
	refused, err := client.Each([]string{"a", "no", "b", "never"}, do)
	require.NoError(t, err)
	require.Equal(t, "no\nnever", refused.Error())
	require.Equal(t, []string{"a", "no", "b", "never"}, asked)

	asked = nil
	refused, err = client.Each([]string{"no", "gone", "b"}, do)
	require.ErrorIs(t, err, gone)
	require.NoError(t, refused)
	require.Equal(t, []string{"no", "gone"}, asked, "the rest is not asked of a keeper that is gone")

	refused, err = client.Each([]string{"a", "b"}, do)
	require.NoError(t, err)
	require.NoError(t, refused)
}
