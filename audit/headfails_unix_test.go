//go:build unix

package audit_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// failAt breaks f's head at a step, until writing it has failed.
func failAt(f *audit.File, step string, also func()) {
	mend := func() {}
	f.At(func(name string) {
		switch name {
		case step:
			if also != nil {
				also()
			}
			mend = f.BreakHead()
		case "head failed":
			mend()
		}
	})
}

// What cannot be put on record because the head cannot be written leaves no trace, and the next entry is as if it had never been.
func TestAnEntryWhoseHeadCannotBeWrittenLeavesNoTrace(t *testing.T) {
	for name, tear := range map[string]bool{"nothing of it was written": false, "part of it was written": true} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			f := open(t, dir, audit.Config{})
			require.NoError(t, f.Record(t.Context(), request("e_1", false)))
			before := readFile(t, dir, "000001.jsonl")
			failAt(f, "written", func() {
				if !tear {
					return
				}
				head, err := os.OpenFile(filepath.Join(dir, "head"), os.O_WRONLY, 0)
				require.NoError(t, err)
				_, err = head.WriteAt([]byte("torn"), 2)
				require.NoError(t, err)
				require.NoError(t, head.Close())
			})
			err := f.Record(t.Context(), request("e_2", false))
			require.ErrorIs(t, err, audit.ErrUnavailable)
			assert.Equal(t, string(before), string(readFile(t, dir, "000001.jsonl")))
			assert.EqualValues(t, 1, whole(t, dir).Records)

			f.At(func(string) {})
			require.NoError(t, f.Record(t.Context(), request("e_3", false)))
			require.NoError(t, f.Close())
			r := whole(t, dir)
			assert.EqualValues(t, 2, r.Records)
			assert.Empty(t, r.Sealed)
			assert.NotContains(t, string(readFile(t, dir, "000001.jsonl")), "e_2")
		})
	}
}

// A file that head cannot be moved to gets nothing; the next entry goes there.
func TestARotationWhoseHeadCannotBeWrittenIsFinishedLater(t *testing.T) {
	dir := threeFiles(t)
	before := whole(t, dir).Records
	f := open(t, dir, steppedConfig(stepped.Add(3*time.Hour)))
	failAt(f, "synced", nil)
	require.ErrorIs(t, f.Record(t.Context(), request("e_lost", false)), audit.ErrUnavailable)
	assert.Equal(t, before+1, whole(t, dir).Records, "the chain.rotate record")

	f.At(func(string) {})
	require.NoError(t, f.Record(t.Context(), request("e_after", false)))
	require.NoError(t, f.Close())
	r := whole(t, dir)
	assert.Equal(t, 4, r.Files)
	assert.Equal(t, before+2, r.Records)
	assert.Contains(t, string(readFile(t, dir, "000004.jsonl")), `"id":"e_after"`)
}

// What a writer that died left behind the head is taken over before anything is added to it, or nothing is added.
func TestWhatADeadWriterLeftIsTakenOverOrNothingIsAdded(t *testing.T) {
	dir := threeFiles(t)
	before := whole(t, dir).Records
	f := open(t, dir, steppedConfig(stepped.Add(2*time.Hour)))
	runDying(t, "rotate:written", dir)
	mend := f.BreakHead()
	f.At(func(name string) {
		if name == "head failed" {
			mend()
		}
	})
	require.ErrorIs(t, f.Record(t.Context(), request("e_lost", false)), audit.ErrUnavailable)
	r := whole(t, dir)
	assert.Equal(t, before+1, r.Records)
	assert.EqualValues(t, 1, r.Behind)

	f.At(func(string) {})
	require.NoError(t, f.Record(t.Context(), request("e_after", false)))
	require.NoError(t, f.Close())
	r = whole(t, dir)
	assert.Equal(t, before+2, r.Records)
	assert.Equal(t, 4, r.Files)
	assert.Empty(t, r.Sealed)
}

// A file that the head leads to and that is gone is never made again: what was in it is missing.
func TestAFileThatIsGoneIsNotMadeAgain(t *testing.T) {
	dir := threeFiles(t)
	runDying(t, "rotate:moved", dir)
	last := filepath.Join(dir, "000004.jsonl")
	require.NoError(t, os.Remove(last))
	f, err := audit.Open(dir, steppedConfig(stepped.Add(3*time.Hour)))
	if err == nil {
		require.NoError(t, f.Close())
	}
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.NoFileExists(t, last)
}

// After a write that failed, a check tries once more, and takes back what it wrote.
func TestACheckTriesAgainWhatFailed(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_1", false)))
	before := readFile(t, dir, "000001.jsonl")
	mend := f.BreakHead()
	require.ErrorIs(t, f.Record(t.Context(), request("e_2", false)), audit.ErrUnavailable)
	err := f.Check(t.Context())
	mend()
	require.ErrorIs(t, err, audit.ErrUnavailable)

	require.NoError(t, f.Check(t.Context()))
	assert.Equal(t, string(before), string(readFile(t, dir, "000001.jsonl")))
	require.NoError(t, f.Record(t.Context(), request("e_3", false)))
	require.NoError(t, f.Close())
	r := whole(t, dir)
	assert.EqualValues(t, 2, r.Records)
	assert.Empty(t, r.Sealed)
}
