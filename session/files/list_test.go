package files_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/localpty"
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

// hostile are names and link targets that have been taken for something else in listings.
func hostile(t *testing.T, dir string) []string {
	t.Helper()
	plain := []string{
		" lead", "trail ", "  two", "a -> b", "-> x", "-l", "--", "-rw-r--r-- 1 0 0 5 Nov 21 10:00 z", "nl\nin", "\nfirst", "last\n", "two\n\n", "\n",
		"lrwxrwxrwx 1 0 0 3 Nov 21 10:00 l -> x", "x\nlrwxrwxrwx 1 0 0 3 Nov 21 10:00 l -> x", "*", "?", "[a]", "\\", "\\n", "a\\", "'", `"`, "$HOME", "`id`", "tab\there",
		".dot", "...", "..x", ".[!.]*", "~", "#", "\xff\xfe", "ü", "\x01\x1b[2J", "s81a4 5 0",
		"-", "-n", "-e", "--help", "-- -", "=", "!", "{a,b}", "%s%n", "\\0", "$(id)", "${IFS}", "[", "]", "[!a]*", "**", "?*", "~root", "&", ";", "|x", "<", ">y", "(", "a b\tc\nd",
		".. ", "..\n", ". ", ".\n", "....", ".-", ".\n\n.", "\n.", "s", "l", "\r\n", "\x7f", "\xc3", "\xe2\x80\xae", "total 0", "-rwsr-xr-x 1 0 0 99 Jan  1 00:00 sudo",
		"x\n-rwsr-xr-x 1 0 0 99 Jan  1 00:00 sudo", "x\ns89ed 5 0", strings.Repeat("n", 255), strings.Repeat("\n", 255), "81a4 5 0\n81a4 5 0", "CR\r",
	}
	for _, name := range plain {
		put(t, dir, name, "12345")
	}
	names := plain
	for name, to := range map[string]string{
		"current": "/srv/releases/42", "app": "../x/y -> z", "to -> from": "a/b", "odd": "a\n-rw-r--r-- 1 0 0 5 Nov 21 10:00 forged", "end": "x\n", "loop": "loop", "blank": " ",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
		names = append(names, name)
	}
	for i := range 250 {
		name := fmt.Sprintf("many %03d", i)
		put(t, dir, name, "12345")
		names = append(names, name)
	}
	return names
}

func TestEveryNameIsListedAsItIs(t *testing.T) {
	check := func(t *testing.T, h *files.Host, dir string) {
		want := hostile(t, dir)
		_, all, err := h.List(t.Context(), dir, 0)
		require.NoError(t, err)
		got := []string{}
		for _, n := range all {
			got = append(got, n.Name)
			st, err := os.Lstat(filepath.Join(dir, n.Name))
			if !assert.NoError(t, err, "%q", n.Name) {
				continue
			}
			assert.Equal(t, st.Mode().IsRegular(), n.Kind == files.Regular, "%q is %s", n.Name, n.Kind)
			assert.Equal(t, st.Mode()&fs.ModeSymlink != 0, n.Kind == files.Link, "%q is %s", n.Name, n.Kind)
			assert.Equal(t, st.Size(), n.Size, "%q", n.Name)
			assert.Equal(t, st.Mode().Perm(), n.Mode, "%q", n.Name)
			if !n.Changed.IsZero() {
				assert.Equal(t, st.ModTime().Unix(), n.Changed.Unix(), "%q", n.Name)
			}
		}
		assert.ElementsMatch(t, want, got)
	}
	ways(t, check)
	ways(t, func(t *testing.T, h *files.Host, dir string) { // and in a directory with such a name
		dir = filepath.Join(dir, " -l\n*[!x]?\\ ; $(id) ")
		require.NoError(t, os.Mkdir(dir, 0o700))
		check(t, h, dir)
	})
	for _, shell := range []string{"bash", "dash", "zsh", "mksh", "busybox"} {
		for _, stat := range []bool{true, false} {
			name := shell
			if !stat {
				name += " without stat"
			}
			t.Run(name, func(t *testing.T) { check(t, asSh(t, shell, stat), t.TempDir()) })
		}
	}
}

// shellOf returns the path of a shell, and skips the test where it is not installed.
func shellOf(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

// asSh returns the files of a host whose sh is this shell, and that has stat or a stat without formats.
func asSh(t *testing.T, shell string, stat bool) *files.Host {
	t.Helper()
	path := shellOf(t, shell)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(bin, "sh")))
	argv := []string{"env", "PATH=" + bin + ":" + os.Getenv("PATH"), "sh"}
	if shell == "busybox" {
		for _, applet := range []string{"ls", "stat", "printf", "cat", "readlink"} {
			require.NoError(t, os.Symlink(path, filepath.Join(bin, applet)))
		}
	}
	if !stat {
		_ = os.Remove(filepath.Join(bin, "stat"))
		require.NoError(t, os.WriteFile(filepath.Join(bin, "stat"), []byte("#!/bin/false\n"), 0o755))
	}
	return openOn(t, pty(t, localpty.Config{Command: argv}), hosts.Host{Name: "box", Transport: hosts.Command, Command: argv})
}

func TestADirectoryThatCannotBeReadIsNotEmpty(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every directory")
	}
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		for _, mode := range []fs.FileMode{0o300, 0o400} {
			sub := filepath.Join(dir, mode.String())
			require.NoError(t, os.Mkdir(sub, 0o700))
			put(t, sub, "x", "")
			require.NoError(t, os.Chmod(sub, mode))
			_, _, err := h.List(t.Context(), sub, 0)
			assert.Equal(t, files.CodePermission, code(t, err))
			require.NoError(t, os.Chmod(sub, 0o700))
		}
	})
}
