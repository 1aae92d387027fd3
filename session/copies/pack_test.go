package copies_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

func TestManySmallFilesArriveAsTheyAre(t *testing.T) {
	for name, program := range map[string]string{
		"packed":      "",
		"tar fails":   "tar:exec 2>/dev/null; /usr/bin/env PATH=/usr/bin:/bin tar \"$@\"; exit 2",
		"tar is lost": "tar:exit 127",
		"other sums":  "sha256sum:/usr/bin/sha256sum \"$@\" | tr 0-7 1-8",
		"tar stays":   "tar:exec sleep 1000",
		"tar is deaf": "tar:trap '' HUP TERM; echo $$ >$(dirname \"$0\")/deaf; exec sleep 1000",
		"tar talks":   "tar:exec yes",
		"tar errs":    "tar:exec yes >&2",
		"sums stay":   "sha256sum:exec sleep 1000",
		"sync stays":  "sync:exec sleep 1000",
		"sync fails":  "sync:echo no disk >&2; exit 3",
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(program, "sleep") {
				defer copies.SetProgramWait(8 * time.Second)()
			}
			bin := t.TempDir()
			if file, text, ok := strings.Cut(program, ":"); ok {
				write(t, filepath.Join(bin, file), []byte("#!/bin/sh\necho >>"+bin+"/called\n"+text+"\n"), 0o755)
			}
			s := sshd(t, "SetEnv PATH="+bin+":/usr/bin:/bin HOME="+t.TempDir())
			src, dir := filepath.Join(t.TempDir(), "src"), tempDir(t)
			want := map[string]string{}
			for i := range 116 {
				name := fmt.Sprintf("d%d/f %d'\\\"\n\xff", i%3, i)
				want[name] = fmt.Sprintf("%*d", i*13, i)
				write(t, filepath.Join(src, name), []byte(want[name]), os.FileMode(0o600+i%2*0o155))
			}
			write(t, filepath.Join(src, "d1/empty"), nil, 0o644)
			write(t, filepath.Join(src, "d1/large"), make([]byte, 300<<10), 0o644)
			write(t, filepath.Join(src, "d2/in the way"), []byte("x"), 0o644)
			write(t, filepath.Join(src, "d2/there"), []byte("new"), 0o644)
			write(t, filepath.Join(dir, "src/d2/there"), []byte("old"), 0o600)
			require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "src/d2/in the way")))

			r, reports := s.upload(copies.Plan{Path: dir}, src)
			assert.Equal(t, session.StatusError, r.Status)
			assert.ErrorContains(t, errOf(r), "1 of 120 files were not copied")
			done := map[string]int{}
			for _, one := range reports {
				done[one.Done]++
				if one.Done == copies.Failed {
					assert.Equal(t, "src/d2/in the way", one.Name)
				}
			}
			assert.Equal(t, 119, done[copies.Copied])
			for name, text := range want {
				assert.Equal(t, text, read(t, filepath.Join(dir, "src", name)))
				st, err := os.Stat(filepath.Join(src, name))
				require.NoError(t, err)
				assert.Equal(t, st.Mode(), mode(t, filepath.Join(dir, "src", name)), name)
			}
			assert.Equal(t, "new", read(t, filepath.Join(dir, "src/d2/there")))
			assert.Empty(t, read(t, filepath.Join(dir, "src/d1/empty")))
			noLeftovers(t, dir)

			back := tempDir(t)
			r, _, err := s.download(filepath.Join(dir, "src"), copies.Tree{Dir: back})
			require.NoError(t, err)
			require.NoError(t, errOf(r))
			for name, text := range want {
				assert.Equal(t, text, read(t, filepath.Join(back, "src", name)))
			}
			noLeftovers(t, back)
			if pid, err := os.ReadFile(filepath.Join(bin, "deaf")); err == nil { // it minds nothing, and would stay
				n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
				require.NoError(t, err)
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
			if program != "" {
				assert.FileExists(t, filepath.Join(bin, "called"))
			}
		})
	}
}

// Files that were changed in the future, as seen by the host, are packed as others are, though tar warns of each. Without
// Times no file is from the future: the host gives it a time of its own.
func TestStrangeTimesKeepNoFileFromBeingPacked(t *testing.T) {
	for _, times := range []bool{true, false} {
		t.Run(strconv.FormatBool(times), func(t *testing.T) {
			s := sshd(t, "SetEnv HOME="+t.TempDir())
			src, dir := filepath.Join(t.TempDir(), "src"), tempDir(t)
			future := time.Now().Add(1000 * time.Hour).Truncate(time.Second)
			for i := range 900 {
				name := filepath.Join(src, fmt.Sprintf("f%d", i))
				write(t, name, []byte("x"), 0o644)
				require.NoError(t, os.Chtimes(name, future, future))
			}
			r, reports := s.upload(copies.Plan{Path: dir, Times: times}, src)
			require.NoError(t, errOf(r))
			for _, one := range reports {
				assert.NotContains(t, one.Why, "tar ")
			}
			for _, i := range []int{0, 899} {
				st, err := os.Stat(filepath.Join(dir, "src", fmt.Sprintf("f%d", i)))
				require.NoError(t, err)
				assert.Equal(t, times, st.ModTime().Equal(future), "%v", st.ModTime())
			}
		})
	}
}
