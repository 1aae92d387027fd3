package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// allowed is a command that policy allows.
func allowed() store.NewCommand {
	return store.NewCommand{Command: store.Command{
		Host: "web01", Command: "uptime", Status: store.Approved, Verdict: "allow", Class: "read-only", RequestedBy: asker,
	}}
}

func TestACommandThatPolicyAllowsIsBegunInTheStepThatKeepsIt(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		n := allowed()
		n.Claim, n.Exact = keeperID, []byte("uptime")
		c, made, err := s.Create(t.Context(), n)
		require.NoError(t, err)
		assert.True(t, made)
		assert.Equal(t, keeperID, c.ClaimedBy)
		_, _, err = s.Begin(t.Context(), c.ID, keeperID)
		assert.ErrorIs(t, err, store.ErrClaimed)
		_, err = s.Exact(t.Context(), c.ID)
		assert.ErrorIs(t, err, store.ErrNotPending, "nothing waits, so nothing is sealed")
		_, err = s.Withdraw(t.Context(), c.ID, "canceled", "")
		assert.ErrorIs(t, err, store.ErrClaimed)
		_, err = s.Finalize(t.Context(), c.ID)
		assert.ErrorIs(t, err, store.ErrNotEnded)
		end := store.End{Status: store.Failed, Outcome: "unreachable", Reason: "connection refused"}
		_, err = s.Finish(t.Context(), c.ID, "keeper/two", end)
		assert.ErrorIs(t, err, store.ErrNotClaimed)
		c, err = s.Finish(t.Context(), c.ID, keeperID, end)
		require.NoError(t, err)
		assert.Nil(t, c.ExitCode)
		assert.Nil(t, c.Exec)
		assert.Equal(t, "connection refused", c.Reason)
		_, err = s.Finish(t.Context(), c.ID, keeperID, end)
		assert.ErrorIs(t, err, store.ErrNotClaimed, "an end stays what it is")
	})
}

func TestAnApprovedCommandIsBegunByOneKeeperWithoutAnAnswer(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c, _, err := s.Create(t.Context(), allowed())
		require.NoError(t, err)
		_, exact, err := s.Begin(t.Context(), c.ID, keeperID)
		require.NoError(t, err)
		assert.Nil(t, exact, "none were given")
		_, _, err = s.Begin(t.Context(), c.ID, "keeper/two")
		assert.ErrorIs(t, err, store.ErrClaimed)
		_, _, err = s.Begin(t.Context(), "c_none", keeperID)
		assert.ErrorIs(t, err, store.ErrNotFound)
	})
}

func TestWhatPolicyRefusesIsKeptAsRejected(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		n := allowed()
		n.Status, n.Verdict, n.Reason = store.Rejected, "deny", "forbidden for agents"
		c, _, err := s.Create(t.Context(), n)
		require.NoError(t, err)
		assert.Equal(t, store.OutcomeDenied, c.Outcome)
		assert.Equal(t, clock.Now(), c.Ended)
		_, err = s.Finalize(t.Context(), c.ID)
		assert.NoError(t, err)
	})
}

func TestWhatIsNoCommandIsRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		cfg.MaxOutput = 1000
		s := open(t, cfg)
		cases := map[string]struct {
			change func(*store.NewCommand)
			want   error
		}{
			"no host":                 {func(n *store.NewCommand) { n.Host = "" }, store.ErrInvalid},
			"a host and a list":       {func(n *store.NewCommand) { n.Hosts = []string{"a"} }, store.ErrInvalid},
			"an empty host in a list": {func(n *store.NewCommand) { n.Host, n.Hosts = "", []string{"a", ""} }, store.ErrInvalid},
			"nobody asks":             {func(n *store.NewCommand) { n.RequestedBy = "" }, store.ErrInvalid},
			"an end that ran":         {func(n *store.NewCommand) { n.Status = store.Executed }, store.ErrInvalid},
			"no status":               {func(n *store.NewCommand) { n.Status = "" }, store.ErrInvalid},
			"pending without bytes":   {func(n *store.NewCommand) { n.Exact = nil }, store.ErrInvalid},
			"pending, no document":    {func(n *store.NewCommand) { n.Document = nil }, store.ErrInvalid},
			"pending and begun":       {func(n *store.NewCommand) { n.Claim = keeperID }, store.ErrInvalid},
			"a NUL in a name":         {func(n *store.NewCommand) { n.Session = "a\x00b" }, store.ErrInvalid},
			"bad UTF-8 in a name":     {func(n *store.NewCommand) { n.Host = "\xff" }, store.ErrInvalid},
			"a sandbox that is none":  {func(n *store.NewCommand) { n.Sandbox = "b_none" }, store.ErrNotFound},
			"too large":               {func(n *store.NewCommand) { n.Exact = make([]byte, 1001) }, store.ErrTooLarge},
		}
		for name, tt := range cases {
			t.Run(name, func(t *testing.T) {
				n := pending()
				tt.change(&n)
				_, made, err := s.Create(t.Context(), n)
				assert.ErrorIs(t, err, tt.want)
				assert.False(t, made)
			})
		}
		n := pending()
		n.ID = "c_mine"
		_, _, err := s.Create(t.Context(), n)
		require.NoError(t, err)
		_, _, err = s.Create(t.Context(), n)
		assert.ErrorIs(t, err, store.ErrExists)
		_, err = s.Finish(t.Context(), "c_mine", keeperID, store.End{Status: store.Rejected, Outcome: "ok"})
		assert.ErrorIs(t, err, store.ErrInvalid)
		page, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{})
		require.NoError(t, err)
		assert.Len(t, page.Items, 1, "nothing half-written")
	})
}
