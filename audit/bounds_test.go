package audit_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// A record may be as long as a reader accepts, and not a byte longer.
func TestTheLongestRecordIsWhatAReaderAccepts(t *testing.T) {
	lineOf := func(n int) (length int, err error) {
		dir := newDir(t)
		f := open(t, dir, audit.Config{Now: func() time.Time { return time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC) }}) // times differ in length
		require.NoError(t, f.Record(t.Context(), request("e_1", true)))
		e := request("e_2", true)
		e.Command = strings.Repeat("x", n)
		if err := f.Record(t.Context(), e); err != nil {
			require.ErrorIs(t, err, audit.ErrUnavailable)
			require.ErrorContains(t, err, "in smaller parts")
			require.NoError(t, f.Close())
			assert.EqualValues(t, 1, whole(t, dir).Records, "the chain is whole without it")
			return 0, err
		}
		require.NoError(t, f.Close())
		assert.EqualValues(t, 2, whole(t, dir).Records)
		lines := bytes.SplitAfter(readFile(t, filepath.Join(dir, "000001.jsonl")), []byte{'\n'})
		return len(lines[1]), nil
	}
	short, err := lineOf(1000)
	require.NoError(t, err)
	n := audit.MaxLine - (short - 1000)
	length, err := lineOf(n)
	require.NoError(t, err)
	require.Equal(t, audit.MaxLine, length)
	_, err = lineOf(n + 1)
	require.Error(t, err)
}

func TestAQueueIsThinnedWhenItIsFull(t *testing.T) {
	for n, want := range map[int]int{1: 1, audit.MaxQueue - 1: audit.MaxQueue - 1, audit.MaxQueue: audit.MaxQueue / 2, audit.MaxQueue + 1: audit.MaxQueue/2 + 1} {
		assert.Len(t, audit.Thin(make([]audit.Anchor, n)), want, "%d", n)
	}
}

// What precedes a deed is on disk before it is done; what follows it need not be.
func TestOnlyEndsAndResultsAreWrittenAfterTheDeed(t *testing.T) {
	for _, k := range kinds(t) {
		assert.Equal(t, k == "session.close" || strings.HasSuffix(string(k), ".result"), audit.After(k), "%s", k)
	}
	assert.False(t, audit.After("session.closed"))
}
