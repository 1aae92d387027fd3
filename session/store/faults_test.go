package store_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestAFileThatIsNotThereAnyMoreTakesNothing(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"all deleted": func(t *testing.T, path string) {
			for _, end := range []string{"", "-wal", "-shm"} {
				require.NoError(t, os.Remove(path+end))
			}
		},
		"moved": func(t *testing.T, path string) { require.NoError(t, os.Rename(path, path+".away")) },
		"replaced": func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".copy", text, 0o600))
			require.NoError(t, os.Rename(path+".copy", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := inSQLite(t)
			s := open(t, cfg)
			c := wait(t, s, nil)
			harm(t, cfg.Path)
			_, _, err := s.Create(t.Context(), pending())
			require.ErrorIs(t, err, store.ErrReplaced)
			_, err = s.Decide(t.Context(), c.ID, yes())
			require.ErrorIs(t, err, store.ErrReplaced)
			_, err = s.Commands(t.Context(), store.CommandFilter{}, store.Paging{})
			require.ErrorIs(t, err, store.ErrReplaced, "an empty list would not be true")
			require.ErrorIs(t, s.Ping(t.Context()), store.ErrReplaced)
			text, ok := store.Fault(err)
			assert.True(t, ok)
			assert.Contains(t, text, "fairlead serve --stop")
			if name == "moved" {
				require.NoError(t, os.Rename(cfg.Path+".away", cfg.Path))
				require.NoError(t, s.Ping(t.Context()), "it is the same again")
			}
		})
	}
}

// A backup that is put back while the store is open has fewer events than were seen.
func TestAnOlderCopyInPlaceIsNoticed(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, _ *clock) {
		s := open(t, cfg)
		wait(t, s, nil)
		wait(t, s, nil)
		store.RewindEvents(t, s)
		_, _, err := s.Create(t.Context(), pending())
		require.ErrorIs(t, err, store.ErrReplaced)
	})
}

// A frozen database is waited for as long as Timeout says, and what it says for itself is not passed on.
func TestAFrozenDatabaseIsGivenUp(t *testing.T) {
	cfg := inPostgres(t)
	cfg.Timeout = 2 * time.Second // all is well in this time on a busy machine too
	s := open(t, cfg)
	c := wait(t, s, nil)
	thaw := postgres.Freeze(t)
	calls := map[string]func() error{
		"read":  func() error { _, err := s.Command(t.Context(), c.ID); return err },
		"list":  func() error { _, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{}); return err },
		"write": func() error { _, _, err := s.Create(t.Context(), pending()); return err },
		"ping":  func() error { return s.Ping(t.Context()) },
		"begin": func() error { _, _, err := s.Begin(t.Context(), c.ID, keeperID); return err },
		"sweep": func() error { _, err := s.Sweep(t.Context(), keeperID); return err },
		"open":  func() error { _, err := store.Open(t.Context(), cfg); return err },
	}
	names := slices.Collect(maps.Keys(calls))
	for i, err := range together(len(names), func(i int) error { return calls[names[i]]() }) { // they wait at the same time
		what := names[i]
		require.ErrorIs(t, err, store.ErrUnavailable, what)
		text, ok := store.Fault(err)
		assert.True(t, ok)
		for _, secret := range []string{"user ", "127.0.0.1", "postgres", "context", "dial"} {
			assert.NotContains(t, strings.ToLower(text), secret)
		}
	}
	thaw()
	require.Eventually(t, func() bool { return s.Ping(t.Context()) == nil }, time.Minute, 50*time.Millisecond)
	now, err := s.Command(t.Context(), c.ID)
	require.NoError(t, err)
	assert.Equal(t, store.Pending, now.Status)
}
