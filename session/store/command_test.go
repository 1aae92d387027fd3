package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestACommandGoesFromItsRequestToItsEndAndIsTheSameAfterReopening(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := wait(t, s, nil)
		assert.Equal(t, store.Pending, c.Status)
		assert.Equal(t, clock.Now(), c.Created)

		clock.Add(time.Second)
		c, err := s.Decide(t.Context(), c.ID, yes())
		require.NoError(t, err)
		assert.Equal(t, store.Approved, c.Status)
		assert.Equal(t, ada, c.ApprovedBy)
		assert.Equal(t, "passphrase", c.Proof)

		clock.Add(time.Second)
		begun, exact, err := s.Begin(t.Context(), c.ID, keeperID)
		require.NoError(t, err)
		assert.Equal(t, pending().Exact, exact)
		assert.Equal(t, keeperID, begun.ClaimedBy)
		assert.Equal(t, clock.Now(), begun.Claimed)

		clock.Add(time.Second)
		code := 3
		ended, err := s.Finish(t.Context(), c.ID, keeperID, store.End{
			Status: store.Executed, Outcome: "exit", ExitCode: &code, Stdout: "a\x00\xffb", Stderr: "e", Exec: []byte(`{"state":"done"}`),
		})
		require.NoError(t, err)
		assert.Equal(t, "a\x00\xffb", ended.Stdout)
		assert.Equal(t, 3, *ended.ExitCode)
		assert.Equal(t, clock.Now(), ended.Ended)

		clock.Add(time.Second)
		frozen, err := s.Finalize(t.Context(), c.ID)
		require.NoError(t, err)
		clock.Add(time.Second)
		again, err := s.Finalize(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, frozen, again)

		require.NoError(t, s.Close())
		s = open(t, cfg)
		kept, err := s.Command(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, frozen, kept)
		a, err := s.Approval(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, yes().Signature, a.Signature)
		assert.Equal(t, store.Digest(pending().Document), a.Digest)
		assert.Nil(t, a.Document, "wiped")
	})
}
