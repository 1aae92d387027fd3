package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestAnOutputIsFoundByItsHashUntilItIsPurged(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		cfg.MaxOutput = 100
		s := open(t, cfg)
		data := []byte("a\x00\xff\n")
		sum, err := s.PutOutput(t.Context(), data)
		require.NoError(t, err)
		again, err := s.PutOutput(t.Context(), data)
		require.NoError(t, err)
		assert.Equal(t, sum, again)
		empty, err := s.PutOutput(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", empty)
		for sum, want := range map[string][]byte{sum: data, empty: {}} {
			got, err := s.Output(t.Context(), sum)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
		_, err = s.PutOutput(t.Context(), make([]byte, 101))
		assert.ErrorIs(t, err, store.ErrTooLarge)
		_, err = s.Output(t.Context(), "none")
		assert.ErrorIs(t, err, store.ErrNotFound)

		p, err := s.PurgeOutput(t.Context(), sum)
		require.NoError(t, err)
		assert.Equal(t, store.Purged{Outputs: 1, Bytes: 4}, p)
		p, err = s.PurgeOutput(t.Context(), sum)
		require.NoError(t, err)
		assert.Equal(t, store.Purged{}, p)
		_, err = s.Output(t.Context(), sum)
		assert.ErrorIs(t, err, store.ErrPurged)
		_, err = s.PutOutput(t.Context(), data)
		require.NoError(t, err)
		got, err := s.Output(t.Context(), sum)
		require.NoError(t, err)
		assert.Equal(t, data, got)
	})
}

func TestAPurgeTakesOutputsOutOfTheRecordsToo(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		end := func(text string) (store.Command, string) {
			sum, err := s.PutOutput(t.Context(), []byte(text))
			require.NoError(t, err)
			c := begun(t, s, keeperID)
			c, err = s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Executed, Outcome: "ok", Stdout: text, Exec: []byte(`{"stdout":"` + text + `"}`), StdoutSum: sum})
			require.NoError(t, err)
			return c, sum
		}
		old, _ := end("old")
		_, shared := end("shared")
		clock.Add(time.Hour)
		secret, sum := end("secret")
		_, err := s.PutOutput(t.Context(), []byte("shared")) // used again
		require.NoError(t, err)
		runs := begun(t, s, keeperID)

		p, err := s.PurgeOutput(t.Context(), sum)
		require.NoError(t, err)
		assert.Equal(t, store.Purged{Outputs: 1, Bytes: 31, Commands: 1}, p)
		c, err := s.Command(t.Context(), secret.ID)
		require.NoError(t, err)
		assert.Empty(t, c.Stdout)
		assert.Nil(t, c.Exec)
		assert.Equal(t, sum, c.StdoutSum, "that there was one stays known")
		assert.Equal(t, clock.Now(), c.Purged)

		p, err = s.PurgeBefore(t.Context(), clock.Now(), nil)
		require.NoError(t, err)
		assert.Equal(t, store.Purged{Outputs: 1, Bytes: 47, Commands: 2}, p)
		c, err = s.Command(t.Context(), old.ID)
		require.NoError(t, err)
		assert.Empty(t, c.Stdout)
		_, err = s.Output(t.Context(), shared)
		assert.NoError(t, err, "it was used since")

		commands, _, err := s.Prune(t.Context(), clock.Now())
		require.NoError(t, err)
		assert.Equal(t, 2, commands)
		_, err = s.Command(t.Context(), old.ID)
		assert.ErrorIs(t, err, store.ErrNotFound)
		_, err = s.Command(t.Context(), runs.ID)
		assert.NoError(t, err)
	})
}
