package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// runs keeps a command that keeperID has begun.
func runs(t *testing.T, s *store.Store) store.Command {
	t.Helper()
	n := allowed()
	n.Claim, n.Enforcement = keeperID, "checked"
	c, _, err := s.Create(t.Context(), n)
	require.NoError(t, err)
	return c
}

// inSession are the commands that the list has of a session.
func inSession(t *testing.T, s *store.Store, session string) []string {
	t.Helper()
	page, err := s.Commands(t.Context(), store.CommandFilter{Session: session}, store.Paging{})
	require.NoError(t, err)
	var ids []string
	for _, c := range page.Items {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestACommandIsFoundByTheSessionThatItRunsInWhileItRunsAndLater(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c, other := runs(t, s), runs(t, s)
		assert.Equal(t, "checked", c.Enforcement)
		clock.Add(time.Second)
		require.NoError(t, s.Enter(t.Context(), c.ID, keeperID, "s_mine", "kernel"))
		assert.Equal(t, []string{c.ID}, inSession(t, s, "s_mine"))
		got, err := s.Command(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, "kernel", got.Enforcement)
		assert.Equal(t, clock.Now(), got.Updated)

		got, err = s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Failed, Outcome: "timeout"})
		require.NoError(t, err)
		assert.Equal(t, "s_mine", got.Session, "its end does not take it away")
		got, err = s.Finish(t.Context(), other.ID, keeperID, store.End{Status: store.Failed, Outcome: "timeout", Session: "s_other"})
		require.NoError(t, err)
		assert.Equal(t, "s_other", got.Session)
		assert.Equal(t, "checked", got.Enforcement)
		assert.Equal(t, []string{other.ID}, inSession(t, s, "s_other"))
	})
}

func TestOnlyWhoRunsACommandSaysWhereItRuns(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		waits := wait(t, s, nil)
		assert.ErrorIs(t, s.Enter(t.Context(), waits.ID, keeperID, "s_1", ""), store.ErrNotClaimed)
		c := runs(t, s)
		assert.ErrorIs(t, s.Enter(t.Context(), c.ID, "keeper/two", "s_1", ""), store.ErrNotClaimed)
		assert.ErrorIs(t, s.Enter(t.Context(), c.ID, keeperID, "", ""), store.ErrInvalid)
		assert.ErrorIs(t, s.Enter(t.Context(), "c_none", keeperID, "s_1", ""), store.ErrNotFound)
		_, err := s.Leave(t.Context(), keeperID)
		require.NoError(t, err)
		assert.ErrorIs(t, s.Enter(t.Context(), c.ID, keeperID, "s_1", ""), store.ErrNotClaimed, "it was told as lost")
	})
}

func TestWhatWasBegunAndRefusedEndsAsRejected(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		code := 1
		c := runs(t, s)
		for name, end := range map[string]store.End{
			"it has run":       {Status: store.Rejected, Outcome: store.OutcomeDenied, ExitCode: &code},
			"nobody denied it": {Status: store.Rejected, Outcome: "timeout"},
		} {
			_, err := s.Finish(t.Context(), c.ID, keeperID, end)
			assert.ErrorIs(t, err, store.ErrInvalid, name)
		}
		c, err := s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Rejected, Outcome: store.OutcomeDenied, Reason: "the sandbox is gone"})
		require.NoError(t, err)
		assert.Equal(t, store.Rejected, c.Status)
		assert.Equal(t, store.OutcomeDenied, c.Outcome)
		assert.Equal(t, clock.Now(), c.Ended)
	})
}

func TestRowsFromBeforeSessionsWereKeptAreFoundByTheirs(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		ends := map[string]string{
			`{"host":"web01","session":"s_old","stdout":"\"session\":\"s_forged\" \u0000 \ud800"}`: "s_old",
			`{"host":"web01","session":""}`: "",
			`no JSON "session":"s_x"`:       "",
			``:                              "",
		}
		old := map[string]string{}
		for exec, session := range ends {
			c := runs(t, s)
			_, err := s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Failed, Outcome: "lost", Exec: []byte(exec)})
			require.NoError(t, err)
			old[c.ID] = session
		}
		waits := wait(t, s, nil)
		_, err := s.CreateSandbox(t.Context(), store.Sandbox{ID: "b_1", Owner: asker, Host: "web01", Path: "/srv", Active: true})
		require.NoError(t, err)
		for _, text := range []string{"ALTER TABLE commands DROP COLUMN enforcement", "ALTER TABLE sandboxes DROP COLUMN network", "ALTER TABLE commands DROP COLUMN token_id", "DELETE FROM fairlead_schema WHERE version >= 2"} {
			require.NoError(t, s.Exec(t.Context(), text))
		}
		require.NoError(t, s.Close())

		s = open(t, cfg)
		for id, session := range old {
			c, err := s.Command(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, session, c.Session)
			assert.Empty(t, c.Enforcement)
		}
		assert.Len(t, inSession(t, s, "s_old"), 1)
		boxes, err := s.Sandboxes(t.Context(), store.SandboxFilter{}, store.Paging{})
		require.NoError(t, err)
		require.NotEmpty(t, boxes.Items)
		for _, b := range boxes.Items {
			assert.Empty(t, b.Network, "an old sandbox has the account's network")
		}
		c, err := s.Command(t.Context(), waits.ID)
		require.NoError(t, err)
		assert.Equal(t, "s_1", c.Session, "what was known stays")
	})
}
