package keeper_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestAKeeperWhoseSocketWasRemovedCanBeReachedAgain(t *testing.T) {
	for name, remove := range map[string]func(dir, socket string) error{
		"runtime directory": func(dir, _ string) error { return os.RemoveAll(dir) },
		"removed and made again": func(dir, _ string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o700)
		},
		"socket": func(_, socket string) error { return os.Remove(socket) },
		"socket replaced by a file": func(_, socket string) error {
			if err := os.Remove(socket); err != nil {
				return err
			}
			return os.WriteFile(socket, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := keepertest.ChildPlace(t)
			first := keepertest.StartChild(t, dir, "")
			s := first.OpenSession("here", "kept")
			first.RunIn(first.Client, s.ID, "here=still")
			before, err := first.Health(t.Context())
			require.NoError(t, err)
			first.Client.Close()
			require.NoError(t, remove(filepath.Dir(first.Places.Socket), first.Places.Socket))

			second := keepertest.LaunchChild(t, dir, "") // as a command does that finds no keeper
			said, err := second.Lines.ReadString('\n')
			require.NoError(t, err)
			assert.Contains(t, said, "another one is running", "the one that lost its socket has it again")

			now, err := second.Health(t.Context())
			require.NoError(t, err)
			assert.Equal(t, before.PID, now.PID)
			assert.Equal(t, "still\n", second.RunIn(second.Client, s.ID, "echo $here").Stdout, "the session is the same")
			for path, mode := range map[string]os.FileMode{filepath.Dir(first.Places.Socket): 0o700, first.Places.Socket: 0o600} {
				st, err := os.Stat(path)
				require.NoError(t, err)
				assert.Equal(t, mode, st.Mode().Perm(), path)
			}
			assert.Len(t, keepertest.EntriesOf(t, dir, audit.KeeperSocket), 1)
			require.NoError(t, reach.Stop(t.Context(), first.Places))
			assert.NoFileExists(t, first.Places.Socket)
		})
	}
}

func TestAKeeperIsStoppedAlsoRightAfterItsSocketWasRemoved(t *testing.T) {
	t.Parallel()
	dir := keepertest.ChildPlace(t)
	c := keepertest.StartChild(t, dir, "")
	require.NoError(t, os.RemoveAll(filepath.Dir(c.Places.Socket)))
	require.NoError(t, reach.Stop(t.Context(), c.Places))
	_, _ = io.Copy(io.Discard, c.Lines)
	require.NoError(t, c.Cmd.Wait())
	assert.ErrorIs(t, reach.Stop(t.Context(), c.Places), reach.ErrNone)
}

func TestAKeeperThatCannotMakeItsSocketAgainEndsItsSessionsAndLeaves(t *testing.T) {
	t.Parallel()
	dir := keepertest.ChildPlace(t)
	c := keepertest.StartChild(t, dir, "")
	c.OpenSession("here", "")
	require.NoError(t, os.RemoveAll(filepath.Dir(c.Places.Socket)))
	require.NoError(t, os.WriteFile(filepath.Dir(c.Places.Socket), nil, 0o600)) // no directory can be made there
	rest, err := io.ReadAll(c.Lines)
	require.NoError(t, err)
	assert.Contains(t, string(rest), "no caller can reach it any more")
	require.Error(t, c.Cmd.Wait())
	ended := keepertest.EntriesOf(t, dir, audit.KeeperEnd)
	require.Len(t, ended, 1)
	assert.Contains(t, ended[0].Change, "was removed")
	assert.Contains(t, ended[0].Change, "sessions that the keeper ended: 1")

	require.NoError(t, os.Remove(filepath.Dir(c.Places.Socket)))
	keepertest.StartChild(t, dir, "").OpenSession("here", "")
}

// A keeper of another state directory, or of a version that knows nothing of claims, may have taken the place.
func TestAKeeperWhosePlaceAnotherHasTakenLeaves(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) { c.LookEvery(20 * time.Millisecond) })
	require.NoError(t, w.StopServing())
	over := make(chan error, 1)
	ready := make(chan struct{})
	go func() { over <- keeper.Serve(t.Context(), w.Cfg, w.Places, func() { close(ready) }) }()
	<-ready
	other := keepertest.Start(t, func(c *keeper.Config) { c.LookEvery(time.Hour) })
	require.NoError(t, os.Rename(other.Places.Socket, w.Places.Socket)) // in one step, or the first would make its socket again
	assert.ErrorIs(t, <-over, listen.ErrRunning)
	_, err := client.New(client.Config{Socket: w.Places.Socket}).Health(t.Context())
	assert.NoError(t, err, "its socket was left alone")
}

func TestTheSocketsOfAgentsAndAnswersAreMadeAgain(t *testing.T) {
	var door, answers string
	w := keepertest.Start(t, func(c *keeper.Config) {
		dir := filepath.Dir(c.Inventory)
		door, answers = filepath.Join(dir, "agents", "s"), filepath.Join(dir, "approvals")
		require.NoError(t, os.Mkdir(filepath.Dir(door), 0o700))
		c.AgentDoor = listen.AgentDoor{Socket: door, Name: "claude"}
		c.ApprovalsDir = answers
		c.LookEvery(20 * time.Millisecond)
	})
	here := func() bool {
		all, _ := filepath.Glob(filepath.Join(answers, "*.sock"))
		_, err := os.Lstat(door)
		return len(all) == 1 && err == nil
	}
	require.True(t, here())
	require.NoError(t, os.Remove(door))
	require.NoError(t, os.Rename(answers, answers+".moved")) // in one step: what is made again while it is removed would be removed too
	require.Eventually(t, here, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool { // it gets its mode once it is there
		st, err := os.Stat(door)
		return err == nil && st.Mode().Perm() == 0o660
	}, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool { return len(keepertest.EntriesOf(t, w.Dir, audit.KeeperSocket)) == 2 }, time.Minute, 50*time.Millisecond)
	for _, e := range keepertest.EntriesOf(t, w.Dir, audit.KeeperSocket) {
		assert.True(t, e.Subject == door || strings.HasPrefix(e.Subject, answers), e.Subject)
	}
	_, err := w.Open(t.Context(), wire.Open{Host: "here"})
	require.NoError(t, err)
}
