package cli

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestTheBinaryOfATestStartsNoKeeper(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	f := &cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }}
	_, err := keepers{f, func() []string { return nil }, &sync.Once{}}.Start(t.Context())
	require.ErrorContains(t, err, "the binary of a test")
	_, err = keepers{f, func() []string { return []string{"FAIRLEAD_DEFAULTS_USER=root"} }, &sync.Once{}}.Start(t.Context())
	assert.ErrorContains(t, err, "it reads inventories without FAIRLEAD_DEFAULTS_USER, which is set here")
}
