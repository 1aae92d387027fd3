package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// epoch is a time that does not change.
var epoch = time.Unix(1, 0)

// snapshot is all that there is to a tree: names, kinds, modes, contents, targets, times of the last change. Directories
// count by what is in them.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		said := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			said += fmt.Sprintf(" %q %v", text, info.ModTime())
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			if err != nil {
				return err
			}
			said += " -> " + to
		}
		out[name] = said
		return nil
	}))
	return out
}
