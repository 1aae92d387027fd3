package copies_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// aged is a tree whose files and directories were changed at times of their own. One has a part of a second, which is not kept.
func aged(t *testing.T, files int) string {
	src := filepath.Join(tempDir(t), "src")
	write(t, filepath.Join(src, "large"), make([]byte, 300<<10), 0o644)
	write(t, filepath.Join(src, "odd\nname -x"), []byte("odd"), 0o600)
	for i := range files {
		write(t, filepath.Join(src, "d", "e", fmt.Sprint("f", i)), fmt.Append(nil, i), 0o644)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(src, "empty"), 0o755))
	var all []string
	require.NoError(t, filepath.WalkDir(src, func(name string, _ fs.DirEntry, err error) error {
		all = append(all, name)
		return err
	}))
	for i := len(all) - 1; i >= 0; i-- {
		when := time.Unix(int64(i)*1e8%4e9, 0) // the first one is from 1970 exactly
		if i == 1 {
			when = when.Add(600 * time.Millisecond)
		}
		require.NoError(t, os.Chtimes(all[i], when, when))
	}
	require.NoError(t, os.Chmod(filepath.Join(src, "d", "e"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(src, "d", "e"), 0o755) })
	return src
}

// times are those of all that is in a directory, and its own.
func times(t *testing.T, dir string) map[string]int64 {
	out := map[string]int64{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		out[strings.TrimPrefix(name, dir)] = st.ModTime().Unix()
		return err
	}))
	return out
}

func TestTimesAreKeptBothWays(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := aged(t, 5)
		want := times(t, src)
		to := filepath.Join(dir, "to")
		t.Cleanup(func() {
			for _, d := range []string{"to", "back", "merged"} {
				_ = os.Chmod(filepath.Join(dir, d, "d", "e"), 0o755)
			}
		})
		plan := copies.Plan{Path: to, Times: true}
		res, _ := s.upload(plan, src)
		require.NoError(t, errOf(res))
		assert.Equal(t, want, times(t, to))

		// What is there already gets its time back, directories too, whatever is removed from them.
		for _, name := range []string{"", "d", "large"} {
			require.NoError(t, os.Chtimes(filepath.Join(to, name), time.Time{}, time.Now()))
		}
		write(t, filepath.Join(to, "empty", "more"), nil, 0o600)
		plan.Merge, plan.DryRun = true, true
		res, planned := s.upload(plan, src)
		require.NoError(t, errOf(res))
		changed := map[string]int64{}
		for _, r := range planned {
			if r.Done == copies.Changed {
				changed[strings.TrimPrefix(r.Path, to)] = r.Modified.Unix()
				assert.Equal(t, times(t, to)[strings.TrimPrefix(r.Path, to)], r.WasModified.Unix())
			}
		}
		assert.Equal(t, map[string]int64{"": want[""], "/d": want["/d"], "/large": want["/large"], "/empty": want["/empty"]}, changed)
		plan.DryRun, plan.Delete, plan.Resume = false, true, true
		require.NoError(t, os.Chmod(filepath.Join(to, "d", "e"), 0o755)) // for an account that is not root
		res, _ = s.upload(plan, src)
		require.NoError(t, errOf(res))
		assert.Equal(t, want, times(t, to))

		res, _, err := s.download(src, copies.Tree{Dir: dir, Name: "back", Times: true})
		require.NoError(t, errOf(res))
		require.NoError(t, err)
		assert.Equal(t, want, times(t, filepath.Join(dir, "back")))
		res, _, err = s.download(src, copies.Tree{Dir: filepath.Join(dir, "merged"), Merge: true, Times: true})
		require.NoError(t, errOf(res))
		require.NoError(t, err)
		assert.Equal(t, want, times(t, filepath.Join(dir, "merged")))
	})
}

// Many small files go another way over sftp.
func TestTimesOfManySmallFilesAreKept(t *testing.T) {
	s, src := sshd(t), aged(t, 150)
	to := filepath.Join(tempDir(t), "to")
	res, _ := s.upload(copies.Plan{Path: to, Times: true}, src)
	require.NoError(t, errOf(res))
	assert.Equal(t, times(t, src), times(t, to))
	_ = os.Chmod(filepath.Join(to, "d", "e"), 0o755)
}

func TestTimesAreNotKeptUnlessAskedFor(t *testing.T) {
	s, src := sshd(t), aged(t, 1)
	dir := tempDir(t)
	res, _ := s.upload(copies.Plan{Path: filepath.Join(dir, "to")}, src)
	require.NoError(t, errOf(res))
	_, _, err := s.download(src, copies.Tree{Dir: dir, Name: "back"})
	require.NoError(t, err)
	for _, name := range []string{"to", "back"} {
		assert.NotEqual(t, times(t, src)["/large"], times(t, filepath.Join(dir, name))["/large"])
		_ = os.Chmod(filepath.Join(dir, name, "d", "e"), 0o755)
	}
}

func TestTimesThatNoServerHasANumberForAreReported(t *testing.T) {
	dir := tempDir(t)
	for name, year := range map[string]int{"old": 1950, "new": 2200, "now": 2026} {
		write(t, filepath.Join(dir, name), nil, 0o644)
		when := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, when))
	}
	local, err := copies.NewLocal([]string{dir})
	require.NoError(t, err)
	local.Times()
	var said []string
	for _, r := range local.Left {
		said = append(said, filepath.Base(r.Name)+": "+r.Why)
	}
	assert.Equal(t, []string{
		"new: its time is before 1970 or after 2106, and becomes 2106-02-07T06:28:15Z", "old: its time is before 1970 or after 2106, and becomes 1970-01-01T00:00:00Z",
	}, said)
	plan := copies.Plan{Op: copies.Upload, Path: "to", Entries: local.Entries, Times: true}
	require.NoError(t, plan.Check())
	assert.Contains(t, plan.Text(nil), "files and directories get the times of the source\n")
	assert.Contains(t, plan.Text(nil), " 2026-01-01T00:00:00Z "+filepath.Base(dir)+"/now\n")
}

func TestPlansWithTimesAreChecked(t *testing.T) {
	at := time.Unix(1e9, 0)
	for want, plan := range map[string]copies.Plan{
		`"a" has no time of its last change, which an upload with times needs`:           {Times: true, Entries: []copies.Entry{{Name: "a"}}},
		`"a" has the time of its last change, which is for an upload with times`:         {Entries: []copies.Entry{{Name: "a", Modified: at}}},
		`the time of the last change of "a" must be in whole seconds, from 1970 to 2106`: {Times: true, Entries: []copies.Entry{{Name: "a", Modified: at.Add(1)}}},
	} {
		plan.Op = copies.Upload
		assert.EqualError(t, plan.Check(), want)
	}
}

// Where no program says when a file was changed, a copy with times says so, and copies nothing.
func TestAHostWithoutProgramsForTimesSaysSo(t *testing.T) {
	bin, dir, src := t.TempDir(), tempDir(t), aged(t, 1)
	for _, name := range []string{"sh", "stty", "env", "cat", "chmod", "head", "ls", "mkdir", "mkfifo", "mv", "rm", "rmdir", "sync", "tr", "wc", "hexdump", "readlink"} {
		if path, err := exec.LookPath(name); err == nil {
			require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
		}
	}
	s := newSite(t, hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"env", "PATH=" + bin, "sh"}}, localpty.Dial)
	res, _, _ := s.download(src, copies.Tree{Dir: dir, Name: "back", Times: true})
	assert.ErrorContains(t, errOf(res), "the host has neither stat nor perl, which say when it was changed: copy it without its time")
	res, reports := s.upload(copies.Plan{Path: dir, Times: true}, src)
	assert.Equal(t, session.StatusError, res.Status)
	said := ""
	for _, r := range reports {
		said += r.Why
	}
	assert.Contains(t, said, "the host has no touch, which files take where there is no sftp")
	noLeftovers(t, dir)
}
