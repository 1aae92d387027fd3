package audit_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// anchored is a chain of ten records and the anchors of the third, sixth and ninth.
func anchored(t testing.TB) (dir string, anchors []audit.Anchor) {
	t.Helper()
	dir = newDir(t)
	f := open(t, dir, audit.Config{MaxSize: 1500})
	for i := range 10 {
		require.NoError(t, f.Record(t.Context(), result("e")))
		if i%3 == 2 {
			a, err := f.Head()
			require.NoError(t, err)
			anchors = append(anchors, a)
		}
	}
	require.NoError(t, f.Close())
	return dir, anchors
}

func verifyAnchored(t testing.TB, dir string, anchors ...audit.Anchor) audit.Report {
	t.Helper()
	r, err := audit.VerifyAnchored(dir, anchors)
	require.NoError(t, err)
	return r
}

func TestAnchorsTellWhatTheyProve(t *testing.T) {
	dir, anchors := anchored(t)
	r := whole(t, dir)
	assert.Nil(t, r.Anchors, "there was nothing to compare with")
	own, err := audit.ParseAnchor([]byte(r.Anchor))
	require.NoError(t, err)
	assert.Equal(t, r.Records, verifyAnchored(t, dir, own).Anchors.Through)
	last := anchors[len(anchors)-1]
	assert.Less(t, last.Count, r.Records)

	slices.Reverse(anchors)
	foreign := last
	foreign.Chain = strings.Repeat("0", 32)
	r = verifyAnchored(t, dir, append(anchors, last, foreign)...)
	require.Nil(t, r.Problem)
	assert.Equal(t, &audit.Anchored{Through: last.Count, Time: last.Time, Matched: 4, Others: 1}, r.Anchors)
}

func TestAnAnchorOfTheBeginningIsRight(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	a, err := f.Head()
	require.NoError(t, err)
	assert.Zero(t, a.Count)
	r := verifyAnchored(t, dir, a)
	require.Nil(t, r.Problem)
	assert.Equal(t, 1, r.Anchors.Matched)
	require.NoError(t, f.Record(t.Context(), result("e")))
	require.Nil(t, verifyAnchored(t, dir, a).Problem)
}

// What somebody with the chain's own key can do without a trace in the chain.
func TestAnchorsFindWhatTheChainItselfCannot(t *testing.T) {
	for _, tt := range []struct {
		name   string
		attack func(t *testing.T, dir string)
		kind   audit.ProblemKind
		words  string
	}{
		{"written anew with the same key", func(t *testing.T, dir string) {
			key := readFile(t, dir, "key")
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, os.Mkdir(dir, 0o700))
			writeFile(t, key, dir, "key")
			f := open(t, dir, audit.Config{MaxSize: 1500})
			for range 12 {
				require.NoError(t, f.Record(t.Context(), result("e_forged")))
			}
			require.NoError(t, f.Close())
		}, audit.NotAnchored, "is not the one that was anchored at"},
		{"cut back to an earlier head", func(t *testing.T, dir string) {
			key := readFile(t, dir, "key")
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, os.Mkdir(dir, 0o700))
			writeFile(t, key, dir, "key")
			require.NoError(t, open(t, dir, audit.Config{}).Close())
		}, audit.Truncated, "entries were anchored at"},
		{"replaced as a whole", func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(dir))
			f := open(t, dir, audit.Config{})
			require.NoError(t, f.Record(t.Context(), result("e")))
			require.NoError(t, f.Close())
		}, audit.NotAnchored, "no one of the 3 anchors belongs to this chain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, anchors := anchored(t)
			tt.attack(t, dir)
			whole(t, dir)
			r := verifyAnchored(t, dir, anchors...)
			require.NotNil(t, r.Problem)
			assert.Equal(t, tt.kind, r.Problem.Kind, r.Problem)
			assert.Contains(t, r.Problem.Text, tt.words)
		})
	}
}

func TestAChangedAnchorIsFound(t *testing.T) {
	dir, anchors := anchored(t)
	for name, change := range map[string]func(a *audit.Anchor){
		"count": func(a *audit.Anchor) { a.Count-- },
		"hash":  func(a *audit.Anchor) { a.Hash = strings.Repeat("0", 64) },
		"time":  func(a *audit.Anchor) { a.Time = a.Time.Add(time.Second) },
		"mac":   func(a *audit.Anchor) { a.MAC = strings.Repeat("0", 64) },
	} {
		a := anchors[0]
		change(&a)
		r := verifyAnchored(t, dir, anchors[1], a)
		require.NotNil(t, r.Problem, name)
		assert.Equal(t, audit.BadAnchor, r.Problem.Kind, name)
	}
}

func TestAnchorsOfPurgedRecordsAreTold(t *testing.T) {
	dir, anchors := anchored(t)
	f := open(t, dir, audit.Config{})
	_, err := f.PurgeRecords(time.Now().Add(time.Hour), audit.Event{})
	require.NoError(t, err)
	late, err := f.Head()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	r := verifyAnchored(t, dir, append(anchors, late)...)
	require.Nil(t, r.Problem)
	assert.Equal(t, late.Count, r.Anchors.Through)
	assert.Positive(t, r.Anchors.Purged)
	assert.Equal(t, len(anchors)+1, r.Anchors.Purged+r.Anchors.Matched)
}

func TestAnchorsAreReadFromAnyLog(t *testing.T) {
	_, anchors := anchored(t)
	text := "# heads\n\n" + string(anchors[0].Line()) + "\n" +
		"<109>1 2026-11-21T02:00:00Z here fairlead 12 head - " + string(anchors[1].Line()) + " \r\n" +
		string(anchors[2].Line()[:40])
	got, others, err := audit.ReadAnchors(strings.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, anchors[:2], got)
	assert.Equal(t, 2, others)

	_, _, err = audit.ReadAnchors(strings.NewReader(strings.Repeat("x", 1<<20)))
	assert.ErrorContains(t, err, "audit: reading anchors: ")
}

// The format is one that others keep: it must not change.
func TestTheFormatOfAnchorsIsStable(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	writeFile(t, []byte(goldenKey), dir, "key")
	at := time.Date(2026, 11, 21, 2, 0, 0, 5, time.UTC)
	f := open(t, dir, audit.Config{Now: func() time.Time { return at }})
	require.NoError(t, f.Record(t.Context(), result("e_1")))
	a, err := f.Head()
	require.NoError(t, err)
	golden := filepath.Join("testdata", "v1", "anchor")
	if *update {
		require.NoError(t, os.WriteFile(golden, append(a.Line(), '\n'), 0o644))
	}
	assert.Equal(t, string(readFile(t, golden)), string(a.Line())+"\n")
}

func FuzzParseAnchor(f *testing.F) {
	f.Add(readFile(f, "testdata", "v1", "anchor"))
	f.Add([]byte(`{"v":1,"chain":"`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := audit.ParseAnchor(line)
		if err != nil {
			require.Zero(t, a)
			return
		}
		require.True(t, bytes.Contains(line, a.Line()), "what is accepted is written in the same bytes")
		_, err = hex.DecodeString(a.Hash)
		require.NoError(t, err)
		_, err = audit.VerifyAnchored(t.TempDir(), []audit.Anchor{a})
		require.ErrorIs(t, err, audit.ErrUnavailable)
	})
}
