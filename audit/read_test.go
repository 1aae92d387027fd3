package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

func ids(events []audit.Event) (out []string) {
	for _, e := range events {
		if e.ID != "" {
			out = append(out, e.ID)
		}
	}
	return out
}

func TestTailGivesTheLastEventsOverFileBorders(t *testing.T) {
	dir := chainOf(t, 30, audit.Config{MaxSize: 1500})
	require.Greater(t, whole(t, dir).Files, 4)
	all, err := audit.Tail(dir, 1000)
	require.NoError(t, err)
	for n := range len(all) + 2 {
		events, err := audit.Tail(dir, n)
		require.NoError(t, err)
		require.Equal(t, all[max(0, len(all)-n):], append([]audit.Event{}, events...), "%d", n)
	}
	assert.EqualValues(t, 1, all[0].Seq)
}

// What is wrong with the end of a log is reported by whoever shows the end, with what is left of it.
func TestTailReportsWhatIsWrongWithTheEnd(t *testing.T) {
	file := func(dir string, change func(lines []string) []string) {
		path := filepath.Join(dir, "000001.jsonl")
		lines := strings.SplitAfter(string(readFile(t, path)), "\n")
		writeFile(t, []byte(strings.Join(change(lines[:len(lines)-1]), "")), path)
	}
	without := func(from, to int) func(dir string) {
		return func(dir string) {
			file(dir, func(lines []string) []string { return append(lines[:from:from], lines[to:]...) })
		}
	}
	for _, row := range []struct {
		name   string
		damage func(dir string)
		left   string // of the last three
		said   string
	}{
		{"edited", func(dir string) {
			file(dir, func(l []string) []string { l[8] = strings.Replace(l[8], "uptime", "uptimE", 1); return l })
		}, "e_6 e_7 e_9", "000001.jsonl:9 is not an entry"},
		{"removed", without(8, 9), "e_6 e_7 e_9", "its head names entry 10"},
		{"the last removed", without(9, 10), "e_6 e_7 e_8", "are missing or were changed; its head names entry 10"},
		{"the last three removed", without(7, 10), "e_4 e_5 e_6", "are missing or were changed; its head names entry 10"},
		{"twice", func(dir string) {
			file(dir, func(l []string) []string { return append(l[:9:9], l[8], l[9]) })
		}, "e_7 e_8 e_9", "000001.jsonl:10 is not an entry"},
		{"added", func(dir string) {
			file(dir, func(l []string) []string { return append(l, "noise\n") })
		}, "e_7 e_8 e_9", "is not an entry"},
		{"without head", func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "head"))) }, "e_7 e_8 e_9", "head is missing"},
		{"another head", func(dir string) {
			path := filepath.Join(dir, "head")
			writeFile(t, []byte(strings.Replace(string(readFile(t, path)), "10", "09", 1)), path)
		}, "e_7 e_8 e_9", "head was changed"},
	} {
		dir := chainOf(t, 10, audit.Config{})
		events, err := audit.Tail(dir, 3)
		require.NoError(t, err, row.name)
		require.Equal(t, []string{"e_7", "e_8", "e_9"}, ids(events), row.name)
		row.damage(dir)

		events, err = audit.Tail(dir, 3)
		require.ErrorIs(t, err, audit.ErrDamaged, row.name)
		assert.NotErrorIs(t, err, audit.ErrUnavailable, row.name)
		assert.Contains(t, err.Error(), row.said, row.name)
		assert.Contains(t, err.Error(), "run `fairlead audit verify`", row.name)
		assert.Equal(t, strings.Fields(row.left), ids(events), row.name)

		ctx, cancel := context.WithCancel(t.Context())
		var said []string
		for _, err := range audit.Follow(ctx, dir, 3) {
			if err != nil {
				said = append(said, err.Error())
				cancel()
			}
		}
		cancel()
		assert.Equal(t, []string{err.Error()}, said, row.name)
	}
}

// What a writer that was killed leaves, and the next one seals, is no damage.
func TestTailAndShowPassOverWhatACrashLeft(t *testing.T) {
	dir := chainOf(t, 3, audit.Config{})
	path := filepath.Join(dir, "000001.jsonl")
	writeFile(t, append(readFile(t, path), `{"v":1,"seq":4,"time":"2026`...), path)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_next", true)))
	require.NoError(t, f.Close())
	require.Len(t, whole(t, dir).Sealed, 1)
	for _, n := range []int{1, 3, 100} {
		events, err := audit.Tail(dir, n)
		require.NoError(t, err)
		assert.Equal(t, "e_next", events[len(events)-1].ID)
	}
	_, err := audit.Show(dir, "e_next")
	assert.NoError(t, err)
}

// A file that is missing between others hides none of those behind it.
func TestWhatStandsBehindAMissingFileIsRead(t *testing.T) {
	dir := chainOf(t, 30, audit.Config{MaxSize: 1500})
	files := whole(t, dir).Files
	require.Greater(t, files, 4)
	require.NoError(t, os.Remove(filepath.Join(dir, "000003.jsonl")))
	var last audit.Event
	var said []string
	for e, err := range audit.All(dir) {
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		last = e
	}
	missing := "audit: " + dir + "/000003.jsonl is missing, and its entries with it; run `fairlead audit verify`"
	assert.Equal(t, []string{missing}, said)
	assert.Equal(t, "e_29", last.ID)
	events, err := audit.Tail(dir, 1000)
	assert.EqualError(t, err, missing)
	assert.Equal(t, "e_29", events[len(events)-1].ID)
	events, err = audit.Tail(dir, 1)
	assert.NoError(t, err, "the end is whole")
	assert.Len(t, events, 1)
}

// An exec of which an entry was changed is not shown as if it were whole.
func TestShowReportsThatEntriesCannotBeRead(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_1", true)))
	require.NoError(t, f.Record(t.Context(), result("e_1")))
	require.NoError(t, f.Close())
	writeFile(t, []byte(strings.Replace(string(readFile(t, dir, "000001.jsonl")), "uptime", "uptimE", 1)), dir, "000001.jsonl")
	events, err := audit.Show(dir, "e_1")
	assert.Equal(t, []string{"e_1"}, ids(events))
	assert.ErrorIs(t, err, audit.ErrDamaged)
	assert.ErrorContains(t, err, "000001.jsonl:1 is not an entry")
	_, err = audit.Show(dir, "e_2")
	assert.ErrorIs(t, err, audit.ErrNotFound)
	assert.ErrorIs(t, err, audit.ErrDamaged)
}

func TestShowFindsAnExecByTheBeginningOfItsID(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	for _, id := range []string{"e_abc", "e_abd", "e_x", "e_xy"} {
		require.NoError(t, f.Record(t.Context(), request(id, true)))
		require.NoError(t, f.Record(t.Context(), result(id)))
	}
	for id, want := range map[string]string{"e_abc": "e_abc", "e_x": "e_x", "e_xy": "e_xy", "e_abd": "e_abd"} {
		events, err := audit.Show(dir, id)
		require.NoError(t, err)
		require.Equal(t, []string{want, want}, ids(events))
		assert.Equal(t, audit.CommandRequest, events[0].Kind)
		assert.Equal(t, 0, *events[1].ExitCode)
	}
	_, err := audit.Show(dir, "e_ab")
	assert.EqualError(t, err, `audit: several ids: 2 of them begin with "e_ab"; give more of it`)
	assert.ErrorIs(t, err, audit.ErrAmbiguous)
	for _, id := range []string{"", "e_zz"} {
		_, err = audit.Show(dir, id)
		assert.ErrorIs(t, err, audit.ErrNotFound)
	}
	_, err = audit.Show(dir+"x", "e_x")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFollowGivesNewEventsOverFileBordersUntilCanceled(t *testing.T) {
	dir := chainOf(t, 5, audit.Config{MaxSize: 1500})
	f := open(t, dir, audit.Config{MaxSize: 1500})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for e, err := range audit.Follow(ctx, dir, 2) {
		require.NoError(t, err)
		if e.Kind == audit.ChainRotate {
			continue
		}
		got = append(got, e.ID)
		if n := len(got); n < 12 {
			require.NoError(t, f.Record(t.Context(), request(fmt.Sprintf("e_new%d", n), true)))
		} else {
			cancel()
		}
	}
	require.GreaterOrEqual(t, len(got), 12)
	last := slices.Index(got, "e_4")
	require.GreaterOrEqual(t, last, 0)
	for i, id := range got[last+1 : 12] {
		assert.Equal(t, fmt.Sprintf("e_new%d", last+1+i), id)
	}
}

func TestALineThatIsNoRecordIsToldAndReadingGoesOn(t *testing.T) {
	dir := chainOf(t, 3, audit.Config{})
	b := strings.SplitAfter(string(readFile(t, dir, "000001.jsonl")), "\n")
	writeFile(t, []byte(b[0]+"garbage\n"+b[1]+b[2]), dir, "000001.jsonl")
	var events []audit.Event
	var errs []string
	for e, err := range audit.All(dir) {
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		events = append(events, e)
	}
	assert.Len(t, events, 3)
	assert.Equal(t, []string{"audit: " + dir + "/000001.jsonl:2 is not an entry; run `fairlead audit verify`"}, errs)
}

func TestRequestsWithoutResultPassAndAreListed(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	for _, e := range []audit.Event{request("e_1", true), request("e_2", true), result("e_1")} {
		require.NoError(t, f.Record(t.Context(), e))
	}
	r := whole(t, dir)
	require.Len(t, r.Pending, 1)
	assert.Equal(t, "e_2", r.Pending[0].ID)
	assert.EqualValues(t, 2, r.Pending[0].Seq)
	assert.Equal(t, "web1", r.Pending[0].Host)
}

func TestVerifyOfNoChainIsAnError(t *testing.T) {
	_, err := audit.Verify(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "there is no audit log in this directory")
	for _, err := range audit.All(t.TempDir()) {
		assert.ErrorContains(t, err, "check the name of the directory")
	}
}
