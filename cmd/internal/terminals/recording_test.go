package terminals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func newRecording(t *testing.T, limit int64) (*Recording, *[]error) {
	t.Helper()
	var warned []error
	r, err := StartRecording(filepath.Join(t.TempDir(), "recordings"), "x.cast", limit, session.Size{Rows: 5, Cols: 40},
		screen.CastHeader{}, func(err error) { warned = append(warned, err) })
	require.NoError(t, err)
	return r, &warned
}

// replay returns what a recording holds.
func replay(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var out bytes.Buffer
	_, err = screen.Play(f, &out, screen.PlayOptions{})
	require.NoError(t, err)
	return out.String()
}

func TestARecordingIsForNobodyElseToRead(t *testing.T) {
	r, warned := newRecording(t, MaxRecording)
	r.Output([]byte("hello"))
	rec := r.Close()
	require.NoError(t, rec.Err)
	assert.Empty(t, *warned)
	for path, want := range map[string]os.FileMode{rec.Path: 0o600, filepath.Dir(rec.Path): 0o700 | os.ModeDir} {
		fi, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, want, fi.Mode())
	}
	data, err := os.ReadFile(rec.Path)
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	assert.Equal(t, hex.EncodeToString(sum[:]), rec.SHA256)
	assert.EqualValues(t, len(data), rec.Bytes)
	assert.Equal(t, "hello", replay(t, rec.Path))
	_, err = StartRecording(filepath.Dir(rec.Path), "x.cast", MaxRecording, session.Size{}, screen.CastHeader{}, nil)
	assert.ErrorIs(t, err, os.ErrExist, "nothing is ever written over")
}

func TestARecordingThatIsTooLongStopsWithOneWarningAndReplays(t *testing.T) {
	r, warned := newRecording(t, 400)
	for range 100 {
		r.Output([]byte("0123456789"))
		r.Input([]byte("x"))
		r.Resize(session.Size{Rows: 6, Cols: 40})
	}
	rec := r.Close()
	assert.ErrorIs(t, rec.Err, errTooLong)
	assert.Len(t, *warned, 1)
	assert.LessOrEqual(t, rec.Bytes, int64(400))
	assert.True(t, strings.HasPrefix(replay(t, rec.Path), "0123456789"))
}

func TestAFullDiskStopsARecordingWithOneWarning(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		needs.Part(t, "this system has no /dev/full")
	}
	r, warned := newRecording(t, MaxRecording)
	r.Output([]byte("before"))
	whole := r.file.f
	defer whole.Close()
	r.file.f = full
	for range 3 {
		r.Output([]byte("after"))
	}
	rec := r.Close()
	assert.ErrorIs(t, rec.Err, syscall.ENOSPC)
	require.Len(t, *warned, 1)
	assert.Equal(t, "no space left on device", Reason((*warned)[0]))
	assert.Equal(t, "before", replay(t, whole.Name()))
}

func TestNoRecordingIsOneToo(t *testing.T) {
	var r *Recording
	r.Output([]byte("x"))
	r.Input([]byte("x"))
	r.Resize(session.Size{})
	r.Drop()
	assert.Zero(t, r.Close())
}

func TestNamesOfRecordingsAreSafe(t *testing.T) {
	at := time.Date(2026, 11, 21, 3, 4, 5, 0, time.FixedZone("x", 3600))
	assert.Equal(t, "20261121T020405Z-web01.example.com-e_a.cast", RecordingName(at, "web01.example.com", "e_a"))
	assert.Equal(t, "20261121T020405Z-_.._etc_passwd__-e_a.cast", RecordingName(at, "/../etc/passwdé\n", "e_a"))
	assert.Len(t, RecordingName(at, strings.Repeat("x", 500), "e_a"), 16+1+64+1+3+5)
}
