package shell_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
)

// recording returns the path of the one recording.
func (p place) recording(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.recordings(), "*"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// sum is a file's SHA-256 and length.
func sum(t *testing.T, path string) (string, int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:]), int64(len(data))
}

// replayed is the screen after the one recording was played.
func (p place) replayed(t *testing.T) []string {
	t.Helper()
	f, err := os.Open(p.recording(t))
	require.NoError(t, err)
	defer f.Close()
	s := screen.New(screen.Config{Render: emulate.Render})
	_, err = screen.Play(f, s, screen.PlayOptions{Resize: s.Resize})
	require.NoError(t, err)
	return s.Render().Lines
}

// events is the record, which must be whole and have no request without a result.
func (p place) events(t *testing.T) []audit.Event {
	t.Helper()
	report, err := audit.Verify(p.audit())
	require.NoError(t, err)
	require.Nil(t, report.Problem)
	require.Empty(t, report.Pending)
	events, err := audit.Tail(p.audit(), 1000)
	require.NoError(t, err)
	return events
}

// wait returns what a file holds, once it is there.
func wait(t *testing.T, path string) string {
	t.Helper()
	var data []byte
	require.Eventually(t, func() (ok bool) {
		var err error
		data, err = os.ReadFile(path)
		return err == nil
	}, patience, 20*time.Millisecond, "%s was not written", path)
	return string(data)
}
