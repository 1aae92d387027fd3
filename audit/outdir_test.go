package audit_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

var _ audit.OutputStore = (*audit.OutputDir)(nil)

func TestOutputsAreKeptByTheirHash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outputs")
	s := audit.NewOutputDir(dir, nil)
	raw := sha256.Sum256([]byte("hello\n"))
	_, err := s.Get(t.Context(), hex.EncodeToString(raw[:]))
	require.ErrorIs(t, err, audit.ErrNoOutput)

	sum, err := s.Put(t.Context(), []byte("hello\n"))
	require.NoError(t, err)
	assert.Equal(t, hex.EncodeToString(raw[:]), sum)
	again, err := s.Put(t.Context(), []byte("hello\n"))
	require.NoError(t, err)
	assert.Equal(t, sum, again)
	data, err := s.Get(t.Context(), sum)
	require.NoError(t, err)
	assert.Equal(t, "hello\n", string(data))

	path := filepath.Join(dir, sum[:2], sum[2:])
	if runtime.GOOS != "windows" {
		fi, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
		fi, err = os.Stat(filepath.Dir(path))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
	}
	writeFile(t, []byte("hallo\n"), path)
	_, err = s.Get(t.Context(), sum)
	assert.ErrorContains(t, err, "was changed")
}

func TestNoHashLeadsOutOfTheStore(t *testing.T) {
	s := audit.NewOutputDir(t.TempDir(), nil)
	for _, sum := range []string{"", "..", "../../../../etc/passwd", "/etc/passwd", string(make([]byte, 64))} {
		_, err := s.Get(t.Context(), sum)
		require.ErrorIs(t, err, audit.ErrNoOutput, "%q", sum)
	}
}

func TestOldOutputsArePurgedOnRecordAndTheChainStaysWhole(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	dir, outputs := newDir(t), filepath.Join(t.TempDir(), "outputs")
	clock := func() time.Time { return now }
	f, s := open(t, dir, audit.Config{Now: clock}), audit.NewOutputDir(outputs, clock)
	keep := func(text string) string {
		sum, err := s.Put(t.Context(), []byte(text))
		require.NoError(t, err)
		e := result("e")
		e.StdoutKept = sum
		require.NoError(t, f.Record(t.Context(), e))
		return sum
	}
	old, both := keep("old"), keep("both")
	left := filepath.Join(outputs, old[:2], ".tmp-1")
	writeFile(t, nil, left)
	require.NoError(t, os.Chtimes(left, now, now))
	now = now.Add(48 * time.Hour)
	keep("both")
	young := keep("young")

	before := now.Add(-24 * time.Hour)
	_, err := s.Purge(t.Context(), before, func(audit.Purged) error { return errors.New("not writable") })
	require.EqualError(t, err, "not writable")
	_, err = s.Get(t.Context(), old)
	require.NoError(t, err, "what cannot be put on record is not removed")

	record := func(p audit.Purged) error { return f.RecordPurge(p, audit.Event{Principal: "operator/ada"}) }
	p, err := s.Purge(t.Context(), before, record)
	require.NoError(t, err)
	assert.Equal(t, audit.Purged{Before: before, Outputs: 1, Bytes: 3}, p)
	none, err := s.Purge(t.Context(), before, record)
	require.NoError(t, err)
	assert.Zero(t, none)
	require.NoError(t, f.Close())

	_, err = s.Get(t.Context(), old)
	require.ErrorIs(t, err, audit.ErrNoOutput)
	for _, sum := range []string{both, young} {
		_, err = s.Get(t.Context(), sum)
		require.NoError(t, err)
	}
	assert.NoFileExists(t, left)
	whole(t, dir)
	last, err := audit.Tail(dir, 1)
	require.NoError(t, err)
	assert.Equal(t, audit.ChainPurge, last[0].Kind)
	assert.Equal(t, p, last[0].Purged)
	assert.Equal(t, "operator/ada", last[0].Principal)
}

// A directory that cannot be looked into may hold outputs that were to be purged.
func TestAPurgeThatCannotSeeEverythingRemovesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths have no such limit there")
	}
	const longest = 4096 // bytes of a path that the system takes
	dir := t.TempDir()
	for len(dir) < longest-400 {
		dir = filepath.Join(dir, strings.Repeat("d", 200))
	}
	s := audit.NewOutputDir(dir, nil)
	sum, err := s.Put(t.Context(), []byte("x"))
	require.NoError(t, err)
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, root.Mkdir(strings.Repeat("z", 250), 0o700))
	recorded := func(audit.Purged) error { return errors.New("nothing is to be recorded") }
	_, err = s.Purge(t.Context(), time.Now().Add(time.Hour), recorded)
	require.ErrorIs(t, err, audit.ErrUnavailable)
	require.ErrorContains(t, err, "cannot read "+dir)
	_, err = s.Get(t.Context(), sum)
	require.NoError(t, err)
}

func TestAPurgeOfNothingNeedsNoDirectory(t *testing.T) {
	s := audit.NewOutputDir(filepath.Join(t.TempDir(), "none"), nil)
	p, err := s.Purge(t.Context(), time.Now(), func(audit.Purged) error { return errors.New("nothing to record") })
	require.NoError(t, err)
	assert.Zero(t, p)
}

func TestOutputsMayBeKeptAndPurgedAtOnce(t *testing.T) {
	s := audit.NewOutputDir(filepath.Join(t.TempDir(), "outputs"), nil)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 8 {
				_, err := s.Put(context.Background(), []byte{byte(i % 2), byte(n)})
				assert.NoError(t, err)
				if i == 0 {
					_, err := s.Purge(context.Background(), time.Now().Add(time.Hour), func(audit.Purged) error { return nil })
					assert.NoError(t, err)
				}
			}
		})
	}
	all.Wait()
}

// What lies beside the outputs is no output, whatever it is called.
func TestADirectoryAmongTheOutputsIsLeftAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outputs")
	s := audit.NewOutputDir(dir, nil)
	sum, err := s.Put(t.Context(), []byte("hello\n"))
	require.NoError(t, err)
	beside := filepath.Join(dir, sum[:2], strings.Repeat("0", 62))
	require.NoError(t, os.Mkdir(beside, 0o700))
	p, err := s.Purge(t.Context(), time.Now().Add(time.Hour), func(audit.Purged) error { return nil })
	require.NoError(t, err)
	assert.DirExists(t, beside)
	assert.EqualValues(t, 1, p.Outputs)
}
