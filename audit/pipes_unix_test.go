//go:build unix

package audit_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// A named pipe, or a directory, that has the name of a file of the chain keeps no reader and no writer waiting: it is refused.
func TestWhatIsNoFileKeepsNothingWaiting(t *testing.T) {
	within := func(t *testing.T, f func()) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			require.Fail(t, "it hangs")
		}
	}
	for kind, put := range map[string]func(path string) error{
		"a pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to a pipe": func(path string) error {
			if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".pipe", path)
		},
	} {
		for _, name := range []string{"000001.jsonl", "000002.jsonl", "000004.jsonl", "head", "key"} {
			t.Run(kind+" as "+name, func(t *testing.T) {
				dir := threeFiles(t)
				path := filepath.Join(dir, name)
				if name != "000004.jsonl" {
					require.NoError(t, os.Remove(path))
				}
				require.NoError(t, put(path))
				within(t, func() {
					r, err := audit.Verify(dir)
					if err == nil {
						require.NotNil(t, r.Problem)
						assert.Equal(t, path, r.Problem.File)
					}
					if kind == "a pipe" {
						require.NoError(t, err, "it is a finding, and no failure of the check")
					}
				})
				within(t, func() {
					for _, err := range audit.All(dir) {
						_ = err
					}
				})
				within(t, func() { _, _ = audit.Tail(dir, 10) })
				within(t, func() {
					f, err := audit.Open(dir, audit.Config{})
					if err == nil {
						_ = f.Record(t.Context(), request("e_new", false))
						_ = f.Check(t.Context())
						_ = f.Close()
					}
					if name == "head" || name == "key" {
						require.ErrorIs(t, err, audit.ErrUnavailable)
					}
				})
			})
		}
	}
}

// An output that became a pipe is no output.
func TestAnOutputThatIsAPipeIsNotWaitedFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outputs")
	out := audit.NewOutputDir(dir, nil)
	sum, err := out.Put(t.Context(), []byte("hello"))
	require.NoError(t, err)
	path := filepath.Join(dir, sum[:2], sum[2:])
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err = out.Get(t.Context(), sum)
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.NotErrorIs(t, err, io.EOF)
	assert.ErrorContains(t, err, "it is not a regular file; see which program put it there and move it away")
}
