package keeper_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
)

// A process that is stopped, or that hangs, still has its socket, and the system takes calls for it.
func TestAKeeperThatDoesNotAnswerIsNotWaitedForForEver(t *testing.T) {
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	places := listen.Places{Socket: filepath.Join(dir, "keeper.sock"), Log: filepath.Join(dir, "log")}
	l, err := net.Listen("unix", places.Socket)
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	_, err = reach.Dial(ctx, reach.Config{Places: places, Patience: 50 * time.Millisecond, Command: []string{"/bin/false"}})
	require.ErrorIs(t, err, reach.ErrStuck)
	assert.EqualError(t, err, fmt.Sprintf("keeper: the one that runs does not answer within 50ms: kill -9 %d ends it and what it holds", os.Getpid()))
	require.NoError(t, ctx.Err())
}
