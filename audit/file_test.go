package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

var _ audit.GroupSink = (*audit.File)(nil)

func TestRequestsWaitForTheDiskAndReadOnlyOnesAreCommittedSoon(t *testing.T) {
	dir := newDir(t)
	synctest.Test(t, func(t *testing.T) {
		f, err := audit.Open(dir, audit.Config{})
		require.NoError(t, err)
		ctx := t.Context()

		require.NoError(t, f.Record(ctx, request("e_1", false)))
		assert.Equal(t, 1, f.Syncs(), "a request that may change something is on disk before Record returns")
		assert.False(t, f.Busy(), "nothing is left for the committer")

		require.NoError(t, f.Record(ctx, request("e_2", true)))
		require.NoError(t, f.Record(ctx, result("e_2")))
		assert.Equal(t, 1, f.Syncs())
		assert.Contains(t, string(readFile(t, dir, "000001.jsonl")), `"id":"e_2"`, "it survives a killed process")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, 2, f.Syncs(), "one fsync for both")
		assert.False(t, f.Busy(), "no goroutine while idle")

		require.NoError(t, f.Record(ctx, result("e_1")))
		require.NoError(t, f.Close())
		assert.Equal(t, 3, f.Syncs(), "Close syncs what is left")
		require.NoError(t, f.Close(), "Close is idempotent")
	})
}

// What is recorded after the deed holds nobody up: it is on disk soon.
func TestTheEndOfADeedDoesNotWaitForTheDisk(t *testing.T) {
	for kind, syncs := range map[audit.Kind]int{
		audit.CommandResult: 0, audit.FileResult: 0, audit.JobResult: 0, audit.SessionClose: 0,
		audit.CommandRequest: 1, audit.FileRequest: 1, audit.JobRequest: 1, audit.SessionOpen: 1, audit.ApprovalRequest: 1,
	} {
		dir := newDir(t)
		synctest.Test(t, func(t *testing.T) {
			f, err := audit.Open(dir, audit.Config{})
			require.NoError(t, err)
			require.NoError(t, f.Record(t.Context(), audit.Event{Kind: kind, ID: "e_1"}))
			assert.Equal(t, syncs, f.Syncs(), kind)
			require.NoError(t, f.Close())
			assert.Equal(t, 1, f.Syncs(), kind)
		})
	}
}

func TestSyncAlwaysWaitsForEveryRecord(t *testing.T) {
	f := open(t, newDir(t), audit.Config{Sync: audit.SyncAlways})
	require.NoError(t, f.Record(t.Context(), request("e_1", true)))
	require.NoError(t, f.Record(t.Context(), result("e_1")))
	assert.Equal(t, 2, f.Syncs())
}

func TestConcurrentRequestsMakeOneChainAndShareFsyncs(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	g := open(t, dir, audit.Config{}) // as if another process
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			assert.NoError(t, f.Record(t.Context(), request(fmt.Sprintf("e_f%d", i), false)))
			assert.NoError(t, g.Record(t.Context(), request(fmt.Sprintf("e_g%d", i), i%2 == 0)))
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(f.Close(), g.Close()))
	r := whole(t, dir)
	assert.EqualValues(t, 200, r.Records)
	assert.LessOrEqual(t, f.Syncs(), 100)
}

func TestAGroupStandsTogetherWithOneFsync(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	var group []audit.Event
	for i := range 50 {
		e := request(fmt.Sprintf("e_%d", i), i > 0)
		e.Group = "g_1"
		group = append(group, e)
	}
	require.NoError(t, audit.RecordAll(t.Context(), f, group))
	require.NoError(t, audit.RecordAll(t.Context(), f, nil))
	assert.Equal(t, 1, f.Syncs())
	assert.Zero(t, group[0].Seq, "the caller's events are left alone")
	require.Len(t, whole(t, dir).Pending, 50)
}

func TestCanceledContextDoesNotLoseTheRecord(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, f.Record(ctx, result("e_1")))
	assert.EqualValues(t, 1, whole(t, dir).Records)
}

func TestRotationKeepsTheChain(t *testing.T) {
	dir := newDir(t)
	for range 3 { // it goes on over restarts
		f := open(t, dir, audit.Config{MaxSize: 2000})
		for i := range 20 {
			require.NoError(t, f.Record(t.Context(), request(fmt.Sprint("e_", i), true)))
		}
		require.NoError(t, f.Close())
	}
	r := whole(t, dir)
	assert.Greater(t, r.Files, 5)
	assert.EqualValues(t, 60+r.Files-1, r.Records, "one more at the end of each full file")
}

func TestFilesAreForThisAccountOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes")
	}
	dir := chainOf(t, 1, audit.Config{})
	fi, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		fi, err := e.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm(), e.Name())
	}
	require.NoError(t, os.Chmod(dir, 0o755))
	_, err = audit.Open(dir, audit.Config{})
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.EqualError(t, err, "audit: cannot use "+dir+": other accounts may look into it; "+
		"make it readable and writable for this account only (directory 0700, files 0600)")
}

// Whatever happens to the files between two records, the next request fails and says why.
func TestNothingIsRecordedElsewhere(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		words  string
		is     error
	}{
		{"the directory is removed", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) },
			"no such file or directory; put the audit directory back, or restart this program (the keeper: `fairlead serve --stop`) to begin a new chain", os.ErrNotExist},
		{"the directory is moved away", func(t *testing.T, dir string) { require.NoError(t, os.Rename(dir, dir+".old")) },
			"no such file or directory", os.ErrNotExist},
		{"a new directory took its place", func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+".old"))
			require.NoError(t, open(t, dir, audit.Config{}).Close())
		}, "another file took its place; run `fairlead audit verify`", audit.ErrDamaged},
		{"the file is removed", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "000001.jsonl"))) },
			"000001.jsonl: no such file", os.ErrNotExist},
		{"the file is replaced by its copy", func(t *testing.T, dir string) {
			path := filepath.Join(dir, "000001.jsonl")
			writeFile(t, readFile(t, path), path+".new")
			require.NoError(t, os.Rename(path+".new", path))
		}, "another file took its place; run `fairlead audit verify`: where the log is whole and no older copy, restart this program (the keeper: `fairlead serve --stop`) to go on with it", audit.ErrDamaged},
		{"the file is cut", func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, "000001.jsonl"), 10))
		}, "it is shorter than it was", audit.ErrDamaged},
		{"head is removed", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "head"))) },
			"head: no such file or directory", os.ErrNotExist},
		{"head is replaced by its copy", func(t *testing.T, dir string) {
			path := filepath.Join(dir, "head")
			writeFile(t, readFile(t, path), path+".new")
			require.NoError(t, os.Rename(path+".new", path))
		}, "another file took its place", audit.ErrDamaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newDir(t)
			f := open(t, dir, audit.Config{})
			require.NoError(t, f.Record(t.Context(), request("e_1", true)))
			tt.damage(t, dir)
			for _, readOnly := range []bool{false, true} {
				err := f.Record(t.Context(), request("e_2", readOnly))
				require.ErrorIs(t, err, audit.ErrUnavailable)
				assert.ErrorIs(t, err, tt.is)
				assert.ErrorContains(t, err, tt.words)
				assert.NotContains(t, err.Error(), "uptime", "no command in an error")
			}
		})
	}
}

func TestAReadOnlyRequestSeesARemovedDirectoryAtOnce(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_1", true)))
	require.NoError(t, os.RemoveAll(dir))
	err := f.Record(t.Context(), request("e_2", true))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, err, audit.ErrUnavailable)
}

func TestADirectoryPutBackIsGoodAgain(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_1", true)))
	require.NoError(t, os.Rename(dir, dir+".old"))
	require.Error(t, f.Record(t.Context(), request("e_2", false)))
	require.NoError(t, os.Rename(dir+".old", dir))
	require.NoError(t, f.Record(t.Context(), request("e_3", true)))
	require.NoError(t, f.Close())
	assert.EqualValues(t, 2, whole(t, dir).Records)
}

func TestOpenRefusesWhatIsNoDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	writeFile(t, nil, path)
	_, err := audit.Open(filepath.Join(path, "audit"), audit.Config{})
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.ErrorContains(t, err, "not a directory")
}

func TestRecordAfterCloseSaysSo(t *testing.T) {
	f := open(t, newDir(t), audit.Config{})
	require.NoError(t, f.Close())
	err := f.Record(t.Context(), request("e_1", false))
	require.ErrorIs(t, err, audit.ErrClosed)
	require.ErrorIs(t, err, audit.ErrUnavailable)
}

func TestARecordNoReaderWouldAcceptIsRefused(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	e := request("e_1", false)
	e.Command = string(make([]byte, 3<<20)) // six bytes each
	err := f.Record(t.Context(), e)
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.ErrorContains(t, err, "send the command in smaller parts")
	e.Command = e.Command[:2<<20]
	require.NoError(t, f.Record(t.Context(), e))
	assert.EqualValues(t, 1, whole(t, dir).Records)
	events, err := audit.Show(dir, "e_1")
	require.NoError(t, err)
	assert.Len(t, events, 1)
}

func TestSinkFuncStopsAGroupAtTheFirstError(t *testing.T) {
	var seen []string
	s := audit.SinkFunc(func(_ context.Context, e audit.Event) error {
		seen = append(seen, e.ID)
		if e.ID == "b" {
			return audit.ErrUnavailable
		}
		return nil
	})
	require.ErrorIs(t, audit.RecordAll(t.Context(), s, []audit.Event{{ID: "a"}, {ID: "b"}, {ID: "c"}}), audit.ErrUnavailable)
	assert.Equal(t, []string{"a", "b"}, seen)
	require.NoError(t, audit.RecordAll(t.Context(), audit.Discard{}, make([]audit.Event, 3)))
}

func TestAsSaysWhoWhereAnEventDoesNot(t *testing.T) {
	var seen []audit.Event
	uid, other := 1000, 1001
	s := audit.As(audit.SinkFunc(func(_ context.Context, e audit.Event) error {
		seen = append(seen, e)
		return nil
	}), audit.Event{Principal: "operator/ada", Client: "shell", UID: &uid, Separation: "shared-uid", Host: "not meant"})
	group := []audit.Event{{ID: "a"}, {ID: "b", Principal: "agent/x", UID: &other}}
	require.NoError(t, s.RecordAll(t.Context(), group))
	require.NoError(t, s.Record(t.Context(), audit.Event{ID: "c", Separation: "split-uid"}))
	assert.Empty(t, group[0].Principal, "the caller's events are left alone")
	assert.Equal(t, []audit.Event{
		{ID: "a", Principal: "operator/ada", Client: "shell", UID: &uid, Separation: "shared-uid"},
		{ID: "b", Principal: "agent/x", Client: "shell", UID: &other, Separation: "shared-uid"},
		{ID: "c", Principal: "operator/ada", Client: "shell", UID: &uid, Separation: "split-uid"},
	}, seen)
}

// After an fsync that failed nothing is certain any more, and nothing is recorded.
func TestAFailedSyncIsAnErrorFromThenOn(t *testing.T) {
	f := open(t, newDir(t), audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_1", false)))
	r, w, err := os.Pipe() // which cannot be synced
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	assert.ErrorIs(t, f.SyncOn(w), audit.ErrUnavailable)
	assert.ErrorIs(t, f.Record(t.Context(), request("e_2", false)), audit.ErrUnavailable)
	_, err = f.PurgeRecords(time.Now(), audit.Event{})
	assert.ErrorIs(t, err, audit.ErrUnavailable)
}
