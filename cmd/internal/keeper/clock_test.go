package keeper_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// What two keepers share is over by the clock of their database, however far their machine's is from it.
func TestWhatKeepersShareIsOverByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"ahead": 5 * time.Hour, "behind": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			url := keepertest.Postgres.Ahead(t, ahead)
			one := func(id string, timeout time.Duration) *keepertest.World {
				return keepertest.Start(t, func(c *keeper.Config) {
					st, err := store.Open(t.Context(), store.Config{URL: url, Key: []byte(strings.Repeat("k", 32))})
					require.NoError(t, err)
					t.Cleanup(func() { st.Close() })
					c.Store, c.ID, c.ApprovalTimeout = st, id, timeout
					c.SweepEvery(100 * time.Millisecond)
				})
			}
			a, b := one("k1", time.Hour), one("k2", 200*time.Millisecond)
			box, dir := a.Box("there")
			about := func(at time.Time) {
				t.Helper()
				assert.WithinDuration(t, time.Now().Add(ahead), at, 5*time.Minute)
			}

			_, c := a.Post(wire.NewCommand{Sandbox: box.ID, Command: "touch made"})
			require.Equal(t, "pending", c.Status)
			about(c.Created)
			for _, w := range []*keepertest.World{a, b} { // each lists it, until it is over by the database's clock
				require.Eventually(t, func() bool {
					all, err := w.Approvals(t.Context())
					return err == nil && len(all) == 1
				}, time.Minute, 50*time.Millisecond)
				all, err := w.Approvals(t.Context())
				require.NoError(t, err)
				require.Len(t, all, 1)
				about(*all[0].Asked)
				about(all[0].Expires.Add(-time.Hour))
			}
			var got wire.Command
			status, p := b.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &got)
			require.Equal(t, http.StatusOK, status, p.Detail)
			assert.Equal(t, "executed", got.Status, got.Reason)

			_, c = b.Post(wire.NewCommand{Sandbox: box.ID, Command: "touch late"})
			require.Eventually(t, func() bool {
				a.API("agent/claude", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
				return got.Outcome == "expired"
			}, time.Minute, 50*time.Millisecond)

			// What a session asks lies at the same desk.
			agent := a.As("agent/claude")
			s, err := agent.Open(t.Context(), wire.Open{Host: "there", CWD: dir})
			require.NoError(t, err)
			x, err := agent.Start(t.Context(), s.ID, wire.Run{Command: "touch made"}, "")
			require.NoError(t, err)
			var all []wire.Approval
			require.Eventually(t, func() bool {
				all, err = a.Approvals(t.Context())
				return err == nil && len(all) == 1 && all[0].Exec == x.Exec
			}, time.Minute, 50*time.Millisecond)
			about(*all[0].Asked)
			about(all[0].Expires.Add(-time.Hour))
			doc, err := a.Approval(t.Context(), all[0].ID)
			require.NoError(t, err)
			require.NoError(t, a.Answer(t.Context(), all[0].ID, true, wire.Answer{Digest: doc.Digest}))
			r, err := agent.Wait(t.Context(), x.Exec)
			require.NoError(t, err)
			assert.Equal(t, "ok", r.Status)
		})
	}
}

// A token is good for as long as it was made for, by the database's clock.
func TestATokenEndsByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"ahead": 5 * time.Hour, "behind": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			url := keepertest.Postgres.Ahead(t, ahead)
			r := keepertest.StartTCP(t, func(c *keeper.Config) {
				st, err := store.Open(t.Context(), store.Config{URL: url, Key: []byte(strings.Repeat("k", 32))})
				require.NoError(t, err)
				t.Cleanup(func() { st.Close() })
				c.Store = st
				c.SweepEvery(100 * time.Millisecond)
			})
			var tok wire.Token
			status, p := r.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "operator/bob", Role: "operator", TTLS: 3600}, &tok)
			require.Equal(t, http.StatusCreated, status, p.Detail)
			assert.WithinDuration(t, time.Now().Add(ahead+time.Hour), *tok.Expires, 5*time.Minute)
			status, p = r.Over("GET", "/v1/sessions", tok.Secret, "")
			assert.Equal(t, http.StatusOK, status, p.Detail)
			_, short := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator", TTLS: 2})
			assert.Contains(t, keepertest.Rest(t, streamOver(r, "GET", "/v1/events", short, "")), "the token has expired")
		})
	}
}
