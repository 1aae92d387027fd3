package place_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestWhatCannotBeTakenAlongToTheKeeperIsDoneWithoutIt(t *testing.T) {
	mode := config.Auto
	keeper := client.New(client.Config{Socket: "/nowhere"})
	defer keeper.Close()
	c := place.Chooser{
		Mode:        func() (config.KeeperMode, error) { return mode, nil },
		Keeper:      func(context.Context) (*client.Client, error) { return keeper, nil },
		Environment: func([]hosts.Host) (string, error) { return "", sshopt.ErrEnvironment },
	}
	hs := []hosts.Host{{Name: "web1"}}
	got, err := c.For(t.Context(), hs)
	require.NoError(t, err)
	assert.Nil(t, got, "from here programs get all of it")
	mode = config.Require
	_, err = c.For(t.Context(), hs)
	var usage *cmdutil.UsageError
	assert.ErrorAs(t, err, &usage)
	_, err = c.With(keeper, hs[0])
	assert.ErrorIs(t, err, sshopt.ErrEnvironment)

	c.Environment = func([]hosts.Host) (string, error) { return "", nil }
	got, err = c.For(t.Context(), hs)
	require.NoError(t, err)
	assert.Same(t, keeper, got)
	c.Environment = func([]hosts.Host) (string, error) { return "word", nil }
	got, err = c.For(t.Context(), hs)
	require.NoError(t, err)
	assert.NotSame(t, keeper, got)
}
