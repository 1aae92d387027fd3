package audit_test

import (
	"context"
	"fmt"
	"os"
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
