package store_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// ranWith keeps a command that has ended and printed so much.
func ranWith(t *testing.T, s *store.Store, bytes int) store.Command {
	t.Helper()
	c := begun(t, s, keeperID)
	c, err := s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Executed, Outcome: "ok", Stdout: strings.Repeat("x", bytes)})
	require.NoError(t, err)
	return c
}

func sizeOf(t *testing.T, path string) (n int64) {
	t.Helper()
	for _, end := range []string{"", "-wal"} {
		if st, err := os.Stat(path + end); err == nil {
			n += st.Size()
		}
	}
	return n
}

func TestTheFileShrinksWhenOutputsAreRemoved(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, s *store.Store, before time.Time){
		"purge": func(t *testing.T, s *store.Store, before time.Time) {
			told := store.Purged{}
			p, err := s.PurgeBefore(t.Context(), before, func(p store.Purged) error { told = p; return nil })
			require.NoError(t, err)
			assert.Equal(t, store.Purged{Bytes: 8 << 20, Commands: 8}, p)
			assert.Equal(t, p, told)
		},
		"prune": func(t *testing.T, s *store.Store, before time.Time) {
			n, _, err := s.Prune(t.Context(), before)
			require.NoError(t, err)
			assert.Equal(t, 8, n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := inSQLite(t)
			clock := newClock()
			cfg.Now = clock.Now
			s := open(t, cfg)
			for range 8 {
				ranWith(t, s, 1<<20)
			}
			clock.Add(time.Hour)
			last := ranWith(t, s, 10)
			require.Greater(t, sizeOf(t, cfg.Path), int64(8<<20))
			remove(t, s, clock.Now())
			assert.Less(t, sizeOf(t, cfg.Path), int64(1<<20))
			c, err := s.Command(t.Context(), last.ID)
			require.NoError(t, err)
			assert.Equal(t, strings.Repeat("x", 10), c.Stdout)
			require.NoError(t, s.Check(t.Context()))
		})
	}
}

// What cannot be put on record is not removed.
func TestWhatIsNotToldIsNotPurged(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := ranWith(t, s, 100)
		clock.Add(time.Hour)
		_, err := s.PurgeBefore(t.Context(), clock.Now(), func(store.Purged) error { return errors.New("no room for an entry") })
		require.ErrorContains(t, err, "no room for an entry")
		c, err = s.Command(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Len(t, c.Stdout, 100)
	})
}

// A file of an earlier version could not be made smaller.
func TestAFileOfAnEarlierVersionShrinksToo(t *testing.T) {
	cfg := inSQLite(t)
	clock := newClock()
	cfg.Now = clock.Now
	s := open(t, cfg)
	require.NoError(t, s.Exec(t.Context(), "PRAGMA auto_vacuum = 0"))
	require.NoError(t, s.Exec(t.Context(), "VACUUM"))
	for range 4 {
		ranWith(t, s, 1<<20)
	}
	require.NoError(t, s.Close())
	clock.Add(time.Hour)
	s = open(t, cfg)
	_, err := s.PurgeBefore(t.Context(), clock.Now(), nil)
	require.NoError(t, err)
	assert.Less(t, sizeOf(t, cfg.Path), int64(1<<20))
}
