package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestAFullDiskTakesNothingHalf(t *testing.T) {
	cfg := inSQLite(t)
	s := open(t, cfg)
	approved := wait(t, s, nil)
	_, err := s.Decide(t.Context(), approved.ID, yes())
	require.NoError(t, err)
	require.NoError(t, s.Exec(t.Context(), `PRAGMA max_page_count = 1`)) // which is as many as there are
	var made []string
	for err == nil {
		n := allowed()
		n.Command.Command = string(make([]byte, 9000))
		var c store.Command
		if c, _, err = s.Create(t.Context(), n); err == nil {
			made = append(made, c.ID)
		}
		require.Less(t, len(made), 100)
	}
	require.ErrorIs(t, err, store.ErrFull)
	assert.ErrorContains(t, err, cfg.Path)
	_, err = s.PutOutput(t.Context(), make([]byte, 1<<20))
	require.ErrorIs(t, err, store.ErrFull)

	page, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{})
	require.NoError(t, err, "reading goes on")
	assert.Len(t, page.Items, len(made)+1)
	require.NoError(t, s.Exec(t.Context(), `PRAGMA max_page_count = 100000`))
	_, exact, err := s.Begin(t.Context(), approved.ID, keeperID)
	require.NoError(t, err, "and writing, when there is room again")
	assert.Equal(t, pending().Exact, exact)
}

func TestAPlaceThatCannotBeWrittenIsSaidToBeSo(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"an empty directory": func(t *testing.T, path string) {
			for _, f := range []string{path, path + ".key"} {
				require.NoError(t, os.Remove(f))
			}
			require.NoError(t, os.Chmod(filepath.Dir(path), 0o500))
		},
		"a store in its directory": func(t *testing.T, path string) {
			require.NoError(t, os.Chmod(path, 0o400))
			require.NoError(t, os.Chmod(filepath.Dir(path), 0o500))
		},
		"a store's file": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o400)) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := inSQLite(t)
			require.NoError(t, open(t, cfg).Close())
			spoil(t, cfg.Path)
			if os.Getuid() == 0 { // whom no mode stops
				for _, f := range []string{filepath.Dir(cfg.Path), cfg.Path, cfg.Path + ".key"} {
					if err := os.Chown(f, nobody, nobody); !errors.Is(err, os.ErrNotExist) {
						require.NoError(t, err)
					}
				}
			}
			said := child(t, "open", cfg).all(t)
			assert.Contains(t, said, "store: ")
			assert.Contains(t, said, filepath.Dir(cfg.Path))
			assert.NotContains(t, said, "opened and written")
		})
	}
}

func TestWhoHoldsAFileIsWaitedForAndThenToldOf(t *testing.T) {
	cfg := inSQLite(t)
	s := open(t, cfg)
	cfg.Patience = time.Millisecond
	hasty := open(t, cfg)
	other, err := sql.Open("sqlite", cfg.Path)
	require.NoError(t, err)
	defer other.Close()
	conn, err := other.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)

	_, _, err = hasty.Create(t.Context(), pending())
	require.ErrorIs(t, err, store.ErrBusy)
	_, err = hasty.Commands(t.Context(), store.CommandFilter{}, store.Paging{})
	require.NoError(t, err, "readers do not wait")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err = s.Create(ctx, pending())
	require.ErrorIs(t, err, context.DeadlineExceeded)

	done := make(chan error, 1)
	go func() {
		_, _, err := s.Create(t.Context(), pending())
		done <- err
	}()
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, <-done)
	page, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{})
	require.NoError(t, err)
	assert.Len(t, page.Items, 1, "only what was said to be kept")
}

func TestATokenIsUsedWhereItsUseCannotBeNoted(t *testing.T) {
	cfg := inSQLite(t)
	clock := newClock()
	cfg.Now = clock.Now
	s := open(t, cfg)
	const secret = "fl_0123456789abcdef"
	token, err := s.CreateToken(t.Context(), store.Token{Principal: ada}, secret)
	require.NoError(t, err)
	_, err = s.UseToken(t.Context(), secret)
	require.NoError(t, err)
	was := clock.Now()
	clock.Add(time.Hour)
	require.NoError(t, s.Exec(t.Context(), `PRAGMA query_only = 1`))
	require.ErrorIs(t, s.RevokeToken(t.Context(), token.ID), store.ErrReadOnly)
	used, err := s.UseToken(t.Context(), secret)
	require.NoError(t, err)
	assert.Equal(t, token.ID, used.ID)
	assert.Equal(t, was, used.Used, "as it is kept")
	_, err = s.UseToken(t.Context(), secret+"x")
	require.ErrorIs(t, err, store.ErrToken)

	require.NoError(t, s.Exec(t.Context(), `PRAGMA query_only = 0`))
	used, err = s.UseToken(t.Context(), secret)
	require.NoError(t, err)
	assert.Equal(t, clock.Now(), used.Used)
}

func TestATokenIsUsedWhileAnotherProcessWrites(t *testing.T) {
	cfg := inSQLite(t)
	s, other := open(t, cfg), open(t, cfg)
	const secret = "fl_0123456789abcdef"
	_, err := s.CreateToken(t.Context(), store.Token{Principal: ada}, secret)
	require.NoError(t, err)
	require.NoError(t, other.Exec(t.Context(), `BEGIN IMMEDIATE`))
	began := time.Now()
	used, err := s.UseToken(t.Context(), secret)
	require.NoError(t, err)
	assert.Zero(t, used.Used)
	assert.Less(t, time.Since(began), store.DefaultPatience/2)
	require.NoError(t, other.Exec(t.Context(), `ROLLBACK`))
}
