package store_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
	"github.com/fairlead-ssh/fairlead/session/store/storetest"
)

// inSQLite is where a new store in a file is to be.
func inSQLite(t *testing.T) store.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, os.Chmod(dir, 0o700)) // a test may have taken the right to remove what is in it
		assert.NoError(t, os.RemoveAll(dir))
	})
	return store.Config{Path: filepath.Join(dir, "store.db")}
}

// postgres is started by the first test that needs it.
var postgres storetest.Postgres

// inPostgres is where a new store in Postgres is to be.
func inPostgres(t *testing.T) store.Config {
	return store.Config{URL: postgres.Schema(t), Key: []byte(strings.Repeat("k", 32))}
}

func TestWhatIsNoPlaceForAStoreIsRefused(t *testing.T) {
	for name, cfg := range map[string]store.Config{
		"nothing":           {},
		"both":              {Path: "/x", URL: "postgres://h/d"},
		"another database":  {URL: "mysql://u:hunter2@h/d"},
		"a broken URL":      {URL: "postgres://u:hunter2@h:port/d"},
		"a broken escape":   {URL: "postgres://u:hunter2%zz@h/d"},
		"a short key":       {Path: "/x", Key: []byte("short")},
		"nobody listens":    {URL: "postgres://u:hunter2@127.0.0.1:1/d?connect_timeout=2"},
		"a socket too long": {URL: "postgres://u:hunter2@/d?host=/tmp/" + strings.Repeat("x", 200)},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), cfg)
			require.Error(t, err)
			assert.Nil(t, s)
			assert.True(t, strings.HasPrefix(err.Error(), "store: "), err)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestAURLWithoutASchemeIsAPath(t *testing.T) {
	cfg := inSQLite(t)
	cfg.URL, cfg.Path = cfg.Path, ""
	s := open(t, cfg)
	assert.Equal(t, cfg.URL, s.Name())
	require.NoError(t, s.Ping(t.Context()))
}

func TestFilesAreForThisAccountAlone(t *testing.T) {
	cfg := inSQLite(t)
	dir := filepath.Join(filepath.Dir(cfg.Path), "new", "er ?%41#")
	cfg.Path = filepath.Join(dir, "store.db")
	s := open(t, cfg)
	wait(t, s, nil)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
		st, err := f.Info()
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), st.Mode().Perm(), f.Name())
	}
	assert.ElementsMatch(t, []string{"store.db", "store.db-wal", "store.db-shm", "store.db.key"}, names)
	st, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), st.Mode().Perm())
}

func TestAFileThatOthersCanReachIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string) error{
		"an open file":      func(_ *testing.T, path string) error { return os.Chmod(path, 0o640) },
		"an open directory": func(_ *testing.T, path string) error { return os.Chmod(filepath.Dir(path), 0o711) },
		"an open key":       func(_ *testing.T, path string) error { return os.Chmod(path+".key", 0o604) },
		"a short key":       func(_ *testing.T, path string) error { return os.WriteFile(path+".key", []byte("k"), 0o600) },
		"a directory":       func(_ *testing.T, path string) error { return os.Remove(path + ".key") },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := inSQLite(t)
			require.NoError(t, open(t, cfg).Close())
			require.NoError(t, spoil(t, cfg.Path))
			if name == "a directory" {
				require.NoError(t, os.Mkdir(cfg.Path+".key", 0o700))
			}
			_, err := store.Open(t.Context(), cfg)
			require.ErrorContains(t, err, filepath.Dir(cfg.Path))
		})
	}
}

func TestADamagedFileIsSaidToBeSo(t *testing.T) {
	for name, damage := range map[string]func(b []byte) []byte{
		"text":            func([]byte) []byte { return bytes.Repeat([]byte("no database "), 1000) },
		"a damaged head":  func(b []byte) []byte { copy(b[16:], "\xff\xff\xff\xff"); return b },
		"damaged schema":  func(b []byte) []byte { copy(b[100:], bytes.Repeat([]byte{0xff}, 200)); return b },
		"cut in a page":   func(b []byte) []byte { return b[:5000] },
		"all but its top": func(b []byte) []byte { copy(b[4096:], make([]byte, len(b))); return b },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := inSQLite(t)
			s := open(t, cfg)
			wait(t, s, nil)
			require.NoError(t, s.Close())
			b, err := os.ReadFile(cfg.Path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(cfg.Path, damage(b), 0o600))
			s, err = store.Open(t.Context(), cfg)
			if err == nil { // what is damaged was not looked at yet
				t.Cleanup(func() { s.Close() })
				_, err = s.Commands(t.Context(), store.CommandFilter{}, store.Paging{})
			}
			require.ErrorIs(t, err, store.ErrDamaged)
			assert.ErrorContains(t, err, cfg.Path)
		})
	}
}

func TestAStoreOfANewerVersionIsRefusedAndLeftAsItIs(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		require.NoError(t, s.Exec(t.Context(), `INSERT INTO fairlead_schema (version, name, applied_at) VALUES (99, '0099_future', 0)`))
		require.NoError(t, s.Close())
		_, err := store.Open(t.Context(), cfg)
		require.ErrorIs(t, err, store.ErrNewer)
		assert.ErrorContains(t, err, "99")
	})
}

func TestANewerVersionThatComesWhileTheStoreIsOpenIsNoticed(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		require.NoError(t, s.Exec(t.Context(), `INSERT INTO fairlead_schema (version, name, applied_at) VALUES (99, '0099_future', 0)`))
		_, err := s.Sweep(t.Context(), keeperID)
		require.ErrorIs(t, err, store.ErrNewer)
		_, _, err = s.Create(t.Context(), pending())
		require.ErrorIs(t, err, store.ErrNewer)
		text, ok := store.Fault(err)
		require.True(t, ok)
		assert.Contains(t, text, "Update it")
	})
}

func TestManyMayOpenAnEmptyStoreAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		cfg.MaxConns = 3
		var wg sync.WaitGroup
		stores := make([]*store.Store, 8)
		errs := make([]error, len(stores))
		for i := range stores {
			wg.Go(func() { stores[i], errs[i] = store.Open(t.Context(), cfg) })
		}
		wg.Wait()
		for i, s := range stores {
			require.NoError(t, errs[i])
			defer s.Close()
		}
		c := wait(t, stores[0], nil)
		for _, s := range stores {
			exact, err := s.Exact(t.Context(), c.ID)
			require.NoError(t, err, "all have the same key")
			assert.Equal(t, pending().Exact, exact)
		}
	})
}

func TestAClosedStoreSaysSo(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		require.NoError(t, s.Close())
		require.NoError(t, s.Close())
		_, _, err := s.Create(t.Context(), pending())
		assert.ErrorIs(t, err, store.ErrClosed)
		_, err = s.Command(t.Context(), "c_1")
		assert.ErrorIs(t, err, store.ErrClosed)
	})
}

func TestASecretIsNeverReadableInTheFiles(t *testing.T) {
	cfg := inSQLite(t)
	s := open(t, cfg)
	c := wait(t, s, nil)
	const secret = "tokensecret0123456789"
	_, err := s.CreateToken(t.Context(), store.Token{Principal: ada}, secret)
	require.NoError(t, err)
	_, err = s.UseToken(t.Context(), secret)
	require.NoError(t, err)
	look := func() {
		files, err := filepath.Glob(cfg.Path + "*")
		require.NoError(t, err)
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			assert.NotContains(t, string(b), "hunter2", f)
			assert.NotContains(t, string(b), secret, f)
		}
	}
	look()
	_, err = s.Decide(t.Context(), c.ID, yes())
	require.NoError(t, err)
	_, _, err = s.Begin(t.Context(), c.ID, keeperID)
	require.NoError(t, err)
	look()
	require.NoError(t, s.Close())
	look()
}

func TestAnotherKeyNeitherReadsNorClaims(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := wait(t, s, nil)
		_, err := s.Decide(t.Context(), c.ID, yes())
		require.NoError(t, err)
		cfg.KeyFile, cfg.Key = "", bytes.Repeat([]byte("x"), 32)
		other := open(t, cfg)
		_, err = other.Exact(t.Context(), c.ID)
		require.ErrorIs(t, err, store.ErrSealKey)
		_, _, err = other.Begin(t.Context(), c.ID, keeperID)
		require.ErrorIs(t, err, store.ErrSealKey)
		_, exact, err := s.Begin(t.Context(), c.ID, keeperID)
		require.NoError(t, err)
		assert.Equal(t, pending().Exact, exact)
	})
}

func TestASealedValueThatWasMovedOrChangedIsDamage(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		a := wait(t, s, func(n *store.NewCommand) { n.ID = "c_a" })
		b := wait(t, s, func(n *store.NewCommand) { n.ID, n.Exact = "c_b", []byte("other") })
		require.NoError(t, s.Exec(t.Context(), `UPDATE commands SET sealed = (SELECT c.sealed FROM commands c WHERE c.command_id = 'c_b') WHERE command_id = 'c_a'`))
		_, err := s.Exact(t.Context(), a.ID)
		assert.ErrorIs(t, err, store.ErrDamaged)
		_, err = s.Exact(t.Context(), b.ID)
		assert.NoError(t, err)
	})
}

func TestWithoutAKeyNothingWaits(t *testing.T) {
	cfg := inPostgres(t)
	cfg.Key = nil
	s := open(t, cfg)
	_, _, err := s.Create(t.Context(), pending())
	require.ErrorIs(t, err, store.ErrSealKey)
	n := allowed()
	n.Claim, n.Exact = keeperID, []byte("uptime")
	_, _, err = s.Create(t.Context(), n)
	require.NoError(t, err)
}

func TestConnectionsThatWereCutAreReplaced(t *testing.T) {
	cfg := inPostgres(t)
	admin, err := pgx.Connect(t.Context(), cfg.URL)
	require.NoError(t, err)
	defer admin.Close(context.Background())
	cfg.URL += "&application_name=to_be_cut"
	s := open(t, cfg)
	c := wait(t, s, nil)
	for name, call := range map[string]func() error{
		"a step":    func() error { return second(s.Decide(t.Context(), c.ID, yes())) },
		"a look":    func() error { return second(s.Command(t.Context(), c.ID)) },
		"a list":    func() error { return second(s.Commands(t.Context(), store.CommandFilter{}, store.Paging{})) },
		"a request": func() error { return s.Ping(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'to_be_cut'`)
			require.NoError(t, err)
			require.NoError(t, call())
		})
	}
}

func TestACheckReadsTheWholeDatabase(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		wait(t, s, nil)
		require.NoError(t, s.Check(t.Context()))
		if cfg.Path == "" {
			return
		}
		require.NoError(t, s.Exec(t.Context(), `PRAGMA writable_schema = 1`))
		require.NoError(t, s.Exec(t.Context(), `DELETE FROM sqlite_schema WHERE name = 'commands_by_time'`))
		require.NoError(t, s.Close())
		s = open(t, cfg)
		require.ErrorIs(t, s.Check(t.Context()), store.ErrDamaged, "pages that belong to nothing")
	})
}
