package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

func TestAFileIsFullByAge(t *testing.T) {
	dir := newDir(t)
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	cfg := audit.Config{MaxAge: time.Hour, Now: func() time.Time { return now }}
	f, other := open(t, dir, cfg), open(t, dir, cfg)
	for i, after := range []time.Duration{0, 59 * time.Minute, time.Minute, 30 * time.Minute, -2 * time.Hour, 3 * time.Hour} {
		now = now.Add(after)
		require.NoError(t, []*audit.File{f, other}[i%2].Record(t.Context(), request(fmt.Sprint("e_", i), false)))
	}
	require.NoError(t, f.Close())
	require.NoError(t, other.Close())
	assert.Equal(t, 3, whole(t, dir).Files)
	for file, ids := range map[string][]string{"000001.jsonl": {"e_0", "e_1"}, "000002.jsonl": {"e_2", "e_3", "e_4"}, "000003.jsonl": {"e_5"}} {
		for _, id := range ids {
			assert.Contains(t, string(readFile(t, dir, file)), `"id":"`+id+`"`, file)
		}
	}
}

func TestNoAgeIsTooOldWhereThatIsOff(t *testing.T) {
	dir := newDir(t)
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	f := open(t, dir, audit.Config{MaxAge: -1, Now: func() time.Time { now = now.AddDate(1, 0, 0); return now }})
	for range 3 {
		require.NoError(t, f.Record(t.Context(), request("e", false)))
	}
	require.NoError(t, f.Close())
	assert.Equal(t, 1, whole(t, dir).Files)
}

// A rotation that cannot make the next file records nothing, and is taken up again.
func TestARotationThatCannotMakeTheNextFileRefusesWhatFollows(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{MaxSize: 1})
	require.NoError(t, f.Record(t.Context(), request("e_1", false)))
	inTheWay := filepath.Join(dir, "000002.jsonl")
	require.NoError(t, os.Mkdir(inTheWay, 0o700))
	for range 2 {
		err := f.Record(t.Context(), request("e_refused", false))
		require.ErrorIs(t, err, audit.ErrUnavailable)
		require.ErrorContains(t, err, "cannot open "+inTheWay+": ")
	}
	require.NoError(t, os.Remove(inTheWay))
	require.NoError(t, f.Record(t.Context(), request("e_2", false)))
	require.NoError(t, f.Close())
	r := whole(t, dir)
	assert.Equal(t, 2, r.Files)
	assert.EqualValues(t, 3, r.Records, "two requests and the end of the first file")
	assert.NotContains(t, string(readFile(t, dir, "000001.jsonl")), `"id":"e_refused"`)
	assert.Contains(t, string(readFile(t, inTheWay)), `"id":"e_2"`)
}

func TestTheLastFileNameIsNotRotated(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{MaxSize: 1})
	require.NoError(t, f.Record(t.Context(), request("e_1", false)))
	f.AtLastName()
	err := f.Record(t.Context(), request("e_2", false))
	require.ErrorIs(t, err, audit.ErrUnavailable)
	require.ErrorContains(t, err, "the chain has no more file names; move the directory aside to start a new chain")
	assert.NoFileExists(t, filepath.Join(dir, "1000000.jsonl"))
	assert.NotContains(t, string(readFile(t, dir, "000001.jsonl")), "chain.rotate")
}

// aged is a chain of n files, an hour apart, and when the last one was made.
func aged(t testing.TB, n int) (dir string, last time.Time) {
	t.Helper()
	dir, last = newDir(t), time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	now := last
	f := open(t, dir, audit.Config{MaxAge: time.Hour, Now: func() time.Time { return now }})
	for h := range n {
		now = last.Add(time.Duration(h) * time.Hour)
		for i := range 3 {
			require.NoError(t, f.Record(t.Context(), request(fmt.Sprintf("e_%d_%d", h, i), false)))
		}
	}
	require.NoError(t, f.Close())
	r := whole(t, dir)
	require.Equal(t, n, r.Files)
	require.Equal(t, last, r.First)
	require.Equal(t, now, r.Last)
	return dir, now
}

func TestTheOldestFilesCanBeRemovedOnRecord(t *testing.T) {
	dir, last := aged(t, 4)
	f := open(t, dir, audit.Config{})
	p, err := f.PurgeRecords(last.Add(-time.Hour).Add(time.Minute), audit.Event{Principal: "operator/ada"})
	require.NoError(t, err)
	assert.Equal(t, "000002.jsonl", p.Through, "the third ends with a record of the last hour: it was full then")
	assert.EqualValues(t, 8, p.Records)

	none, err := f.PurgeRecords(last.Add(-time.Hour).Add(time.Minute), audit.Event{})
	require.NoError(t, err)
	assert.Zero(t, none, "there is nothing left to remove, and nothing new on record")
	require.NoError(t, f.Close())

	assert.NoFileExists(t, filepath.Join(dir, "000002.jsonl"))
	r := whole(t, dir)
	assert.Equal(t, &audit.Missing{Files: 2, Records: 8}, r.Purged)
	assert.Equal(t, 2, r.Files)

	var ids []string
	var purge audit.Event
	for e, err := range audit.All(dir) {
		require.NoError(t, err)
		if e.Kind == audit.ChainPurge {
			purge = e
		}
		if e.ID != "" {
			ids = append(ids, e.ID)
		}
	}
	assert.Equal(t, []string{"e_2_0", "e_2_1", "e_2_2", "e_3_0", "e_3_1", "e_3_2"}, ids)
	assert.Equal(t, "operator/ada", purge.Principal)
	assert.Equal(t, p, purge.Purged)
	tail, err := audit.Tail(dir, 100)
	require.NoError(t, err)
	assert.Len(t, tail, 8)

	f = open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_after", false)), "the chain goes on")
	require.NoError(t, f.Close())
	whole(t, dir)
}

func TestThePurgeOfEverythingLeavesTheFileInUse(t *testing.T) {
	dir, last := aged(t, 3)
	f := open(t, dir, audit.Config{})
	p, err := f.PurgeRecords(last.AddDate(1, 0, 0), audit.Event{})
	require.NoError(t, err)
	assert.Equal(t, "000002.jsonl", p.Through)
	require.NoError(t, f.Close())
	whole(t, dir)
}

func TestAPurgeRefusesWhatIsNotWhole(t *testing.T) {
	dir, last := aged(t, 4)
	require.NoError(t, os.Remove(filepath.Join(dir, "000002.jsonl")))
	f := open(t, dir, audit.Config{})
	_, err := f.PurgeRecords(last, audit.Event{})
	require.ErrorIs(t, err, audit.ErrDamaged)
	assert.FileExists(t, filepath.Join(dir, "000001.jsonl"))

	dir, last = aged(t, 3)
	path := filepath.Join(dir, "000001.jsonl")
	writeFile(t, []byte(strings.Replace(string(readFile(t, path)), `"next":"000002`, `"next":"000003`, 1)), path)
	f = open(t, dir, audit.Config{})
	_, err = f.PurgeRecords(last, audit.Event{})
	require.ErrorIs(t, err, audit.ErrDamaged)
	assert.FileExists(t, path)
}

func TestAPurgeRefusesWhatCannotBeRead(t *testing.T) {
	dir, last := aged(t, 4)
	path := filepath.Join(dir, "000002.jsonl")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	f := open(t, dir, audit.Config{})
	_, err := f.PurgeRecords(last, audit.Event{})
	require.ErrorIs(t, err, audit.ErrUnavailable)
	require.ErrorContains(t, err, path)
	assert.FileExists(t, filepath.Join(dir, "000001.jsonl"))
}

func TestMissingFilesAreFound(t *testing.T) {
	remove := func(names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, n := range names {
				require.NoError(t, os.Remove(filepath.Join(dir, n)))
			}
		}
	}
	purged := func(then func(t *testing.T, dir string)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			f := open(t, dir, audit.Config{})
			_, err := f.PurgeRecords(time.Date(2026, 11, 21, 4, 1, 0, 0, time.UTC), audit.Event{})
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.Equal(t, 2, whole(t, dir).Purged.Files)
			then(t, dir)
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		kind   audit.ProblemKind
		file   string
		words  string
	}{
		{"the first, and no record says so", remove("000001.jsonl"), audit.Gap, "000001.jsonl", "no entry says that it was purged"},
		{"one in the middle", remove("000003.jsonl"), audit.Gap, "000003.jsonl", "this file of the chain is missing"},
		{"the last", remove("000005.jsonl"), audit.Truncated, "000005.jsonl", "this file is missing"},
		{"more than was purged", purged(remove("000003.jsonl")), audit.Gap, "000003.jsonl", "no entry says that it was purged"},
		{"one in the middle of what a purge left", purged(remove("000004.jsonl")), audit.Gap, "000004.jsonl", "this file of the chain is missing"},
		{"all but the one with the record of a purge", purged(remove("000003.jsonl", "000004.jsonl")), audit.Gap, "000004.jsonl",
			"no entry says that it was purged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := aged(t, 5)
			tt.damage(t, dir)
			r := verify(t, dir)
			require.NotNil(t, r.Problem)
			assert.Equal(t, tt.kind, r.Problem.Kind, r.Problem)
			assert.Equal(t, filepath.Join(dir, tt.file), r.Problem.File)
			assert.Contains(t, r.Problem.Text, tt.words)
		})
	}
}

// A chain.purge record of another chain, or one that names another record, accepts nothing.
func TestAPurgeRecordOfAnotherChainAcceptsNothing(t *testing.T) {
	dir, last := aged(t, 3)
	forged := open(t, dir, audit.Config{})
	require.NoError(t, forged.Record(t.Context(), audit.Event{Kind: audit.ChainPurge, Purged: audit.Purged{
		Before: last, Through: "000001.jsonl", Records: 4, Hash: strings.Repeat("ab", 32)}}))
	require.NoError(t, forged.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, "000001.jsonl")))
	require.Equal(t, audit.Gap, verify(t, dir).Problem.Kind)
}
