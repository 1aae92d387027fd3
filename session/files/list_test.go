package files_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/files"
)

func TestADirectoryIsListedWithoutFollowingLinks(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		put(t, dir, "b", "12345")
		put(t, dir, ".hidden", "")
		put(t, dir, " a  name ", "1")
		put(t, dir, "two\nlines", "12")
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o750))
		require.NoError(t, os.Symlink("nowhere -> x", filepath.Join(dir, "link")))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
		i, all, err := h.List(t.Context(), dir, 0)
		require.NoError(t, err)
		assert.Equal(t, files.Directory, i.Kind)
		got := map[string]files.Name{}
		var order []string
		for _, n := range all {
			got[n.Name] = n
			order = append(order, n.Name)
		}
		assert.Equal(t, []string{" a  name ", ".hidden", "b", "link", "pipe", "sub", "two\nlines"}, order)
		assert.Equal(t, files.Regular, got["b"].Kind)
		assert.EqualValues(t, 5, got["b"].Size)
		assert.Equal(t, fs.FileMode(0o640), got["b"].Mode)
		assert.EqualValues(t, 2, got["two\nlines"].Size)
		assert.Equal(t, files.Directory, got["sub"].Kind)
		assert.Equal(t, fs.FileMode(0o750), got["sub"].Mode)
		assert.Equal(t, files.Link, got["link"].Kind)
		assert.Equal(t, files.Special, got["pipe"].Kind)

		empty := filepath.Join(dir, "sub")
		_, all, err = h.List(t.Context(), empty, 0)
		require.NoError(t, err)
		assert.Empty(t, all)
		_, _, err = h.List(t.Context(), dir, 3)
		assert.Equal(t, files.CodeTooLarge, code(t, err))
		_, _, err = h.List(t.Context(), filepath.Join(dir, "b"), 0)
		assert.Equal(t, files.CodeInvalid, code(t, err))
		_, _, err = h.List(t.Context(), filepath.Join(dir, "none"), 0)
		assert.Equal(t, files.CodeNotFound, code(t, err))
	})
}

func TestDevicesAreListedOverAShellToo(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, _ string) {
		_, all, err := h.List(t.Context(), "/dev", 0)
		require.NoError(t, err)
		for _, n := range all {
			if n.Name == "null" {
				assert.Equal(t, files.Special, n.Kind)
				return
			}
		}
		assert.Fail(t, "there is no null in /dev", "%v", all)
	})
}

// What ls prints comes from another machine.
func FuzzParseList(f *testing.F) {
	f.Add("total 4\ndrwxr-xr-x 2 0 0 4096 Nov 21 10:00 .\n-rw-r----- 1 0 0 5 Nov 21  2025  a b\nlrwxrwxrwx 1 0 0 3 Nov 21 10:00 l -> x\n")
	f.Add("crw-rw-rw- 1 0 0 1, 3 Nov 21 10:00 null\nrest")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := files.ParseList(text)
		for _, n := range all {
			if err != nil || n.Size < 0 {
				t.Fatalf("%q, %v", n.Name, err)
			}
		}
	})
}
