package store_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestEachStepOfACommandIsAnEvent(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := wait(t, s, nil)
		_, err := s.Decide(t.Context(), c.ID, yes())
		require.NoError(t, err)
		_, _, err = s.Begin(t.Context(), c.ID, keeperID)
		require.NoError(t, err)
		_, err = s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Executed, Outcome: "ok", Stdout: "hunter2"})
		require.NoError(t, err)
		_, err = s.Append(t.Context(), "job.ended", ada, nil)
		require.NoError(t, err)
		e, err := s.Since(t.Context(), 0, 0)
		require.NoError(t, err)
		var kinds []string
		for i, v := range e.Items {
			kinds = append(kinds, v.Kind)
			assert.EqualValues(t, i+1, v.Seq)
			assert.Equal(t, clock.Now(), v.Time)
			assert.NotContains(t, string(v.Payload), "hunter2")
		}
		assert.Equal(t, []string{"command.pending", "command.approved", "command.running", "command.executed", "job.ended"}, kinds)
		assert.Equal(t, asker, e.Items[0].Principal)
		assert.JSONEq(t, `{"command_id":"`+c.ID+`","session_id":"s_1","host":"web01","status":"executed","outcome":"ok","requested_by":"agent/mcp","approved_by":"operator/ada"}`,
			string(e.Items[3].Payload))
		assert.Nil(t, e.Items[4].Payload)
		assert.EqualValues(t, 5, e.Last)
		assert.False(t, e.Missed)
	})
}

func TestWhoComesBackReadsOnOrIsToldWhatIsMissing(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		cfg.MaxEvents = 10
		s := open(t, cfg)
		e, err := s.Since(t.Context(), 0, 10)
		require.NoError(t, err)
		assert.Equal(t, store.Events{}, e)
		for i := range 25 {
			seq, err := s.Append(t.Context(), "k", "", []byte(strconv.Itoa(i)))
			require.NoError(t, err)
			assert.EqualValues(t, i+1, seq)
		}
		require.NoError(t, s.Close())
		s = open(t, cfg)
		for _, tt := range []struct {
			after  int64
			limit  int
			first  int64
			count  int
			missed bool
		}{
			{0, 100, 16, 10, true},
			{14, 100, 16, 10, true},
			{15, 100, 16, 10, false},
			{20, 3, 21, 3, false},
			{25, 3, 0, 0, false},
			{99, 3, 0, 0, true},
		} {
			e, err := s.Since(t.Context(), tt.after, tt.limit)
			require.NoError(t, err)
			require.Len(t, e.Items, tt.count, "after %d", tt.after)
			assert.Equal(t, tt.missed, e.Missed, "after %d", tt.after)
			assert.EqualValues(t, 25, e.Last)
			if tt.count > 0 {
				assert.Equal(t, tt.first, e.Items[0].Seq)
			}
		}
	})
}
