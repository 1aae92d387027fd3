package audit_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// Each part of an anchor has its form.
func TestAnAnchorIsReadStrictly(t *testing.T) {
	_, anchors := anchored(t)
	good := anchors[0]
	got, err := audit.ParseAnchor(good.Line())
	require.NoError(t, err)
	assert.Equal(t, good, got)
	for name, change := range map[string]func(a *audit.Anchor){
		"a short chain": func(a *audit.Anchor) { a.Chain = a.Chain[1:] }, "a chain in capitals": func(a *audit.Anchor) { a.Chain = "A" + a.Chain[1:] },
		"a short hash": func(a *audit.Anchor) { a.Hash = a.Hash[1:] }, "a long hash": func(a *audit.Anchor) { a.Hash += "0" },
		"a short MAC": func(a *audit.Anchor) { a.MAC = a.MAC[1:] }, "no MAC": func(a *audit.Anchor) { a.MAC = "" }, "another letter": func(a *audit.Anchor) { a.MAC = "g" + a.MAC[1:] },
	} {
		bad := good
		change(&bad)
		_, err := audit.ParseAnchor(bad.Line())
		assert.Error(t, err, name)
	}
}

// A file that cannot be read to its end has not come to its end.
func TestLinesThatCannotBeReadAreAnError(t *testing.T) {
	broken := errors.New("the disk is broken")
	for text, lines := range map[string]int{"": 0, "one\n": 1, "one\ntw": 1, "one\ntwo\n": 2} {
		n, err := audit.Lines(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		assert.ErrorIs(t, err, broken, text)
		assert.Equal(t, lines, n, text)
		n, err = audit.Lines(strings.NewReader(text))
		assert.ErrorIs(t, err, io.EOF)
		assert.Equal(t, len(strings.Fields(text)), n, "the last line may lack its newline")
	}
}

// A result that waits for company has the time at which it was recorded.
func TestAResultThatWaitsHasItsOwnTime(t *testing.T) {
	dir := newDir(t)
	synctest.Test(t, func(t *testing.T) {
		f, err := audit.Open(dir, audit.Config{})
		require.NoError(t, err)
		require.NoError(t, f.Record(t.Context(), request("e_1", false)))
		ended := time.Now()
		require.NoError(t, f.Record(t.Context(), result("e_1")))
		time.Sleep(2 * time.Millisecond)
		require.NoError(t, f.Record(t.Context(), request("e_2", false)))
		require.NoError(t, f.Close())
		lines := strings.Split(strings.TrimSpace(string(readFile(t, dir, "000001.jsonl"))), "\n")
		require.Len(t, lines, 3)
		assert.Contains(t, lines[1], `"time":"`+ended.UTC().Format(time.RFC3339Nano)+`"`)
		assert.Contains(t, lines[2], `"time":"`+ended.Add(2*time.Millisecond).UTC().Format(time.RFC3339Nano)+`"`)
	})
}

// An output that cannot be kept is an error.
func TestAnOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outputs")
	require.NoError(t, os.Mkdir(dir, 0o700))
	data := []byte("some output")
	sum := sha256.Sum256(data)
	require.NoError(t, os.WriteFile(filepath.Join(dir, hex.EncodeToString(sum[:1])), nil, 0o600)) // a file where the directory would be
	_, err := audit.NewOutputDir(dir, nil).Put(t.Context(), data)
	require.ErrorIs(t, err, audit.ErrUnavailable)

	dir = filepath.Join(t.TempDir(), "outputs")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, audit.OutputLock), 0o700)) // as the lock, nobody can take it
	_, err = audit.NewOutputDir(dir, nil).Put(t.Context(), data)
	require.ErrorIs(t, err, audit.ErrUnavailable)
	_, err = audit.NewOutputDir(dir, nil).Purge(t.Context(), time.Now(), func(audit.Purged) error { return nil })
	require.ErrorIs(t, err, audit.ErrUnavailable)
}

// A purge that nobody waits for any more removes nothing more.
func TestAPurgeOfOutputsEndsWithItsContext(t *testing.T) {
	s := audit.NewOutputDir(filepath.Join(t.TempDir(), "outputs"), nil)
	sum, err := s.Put(t.Context(), []byte("old"))
	require.NoError(t, err)
	ctx, leave := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	_, err = s.Purge(ctx, time.Now().Add(time.Hour), func(p audit.Purged) error {
		assert.EqualValues(t, 1, p.Outputs)
		leave(gone)
		return nil
	})
	require.ErrorIs(t, err, gone)
	got, err := s.Get(t.Context(), sum)
	require.NoError(t, err)
	assert.Equal(t, "old", string(got))
}

// Of what somebody administered the subject and the change are searched, and its id if it is the whole of it; else the command.
func TestATextIsSearchedInWhatAnEntryIsAbout(t *testing.T) {
	e := audit.Event{ID: "t_17", Subject: "agent/build", Change: "role: operator", Command: "uptime"}
	for text, want := range map[string][2]bool{
		"t_17": {true, false}, "t_1": {false, false}, "build": {true, false}, "operator": {true, false}, "uptime": {false, true}, "none": {false, false},
	} {
		for i, kind := range []audit.Kind{audit.TokenRevoke, audit.CommandRequest} {
			e.Kind = kind
			assert.Equal(t, want[i], audit.Holds(e, text), "%s of %s", text, kind)
		}
	}
}

// A file that has reached its size takes nothing more.
func TestAFileOfExactlyTheLargestSizeIsFull(t *testing.T) {
	for more, files := range map[int64]int{0: 2, 1: 1} {
		dir := newDir(t)
		f := open(t, dir, audit.Config{})
		require.NoError(t, f.Record(t.Context(), request("e_1", false)))
		require.NoError(t, f.Close())
		f = open(t, dir, audit.Config{MaxSize: int64(len(readFile(t, dir, "000001.jsonl"))) + more})
		require.NoError(t, f.Record(t.Context(), request("e_2", false)))
		require.NoError(t, f.Close())
		assert.Equal(t, files, whole(t, dir).Files)
	}
}
