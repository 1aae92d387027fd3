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
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// withoutSFTP is a host whose sh is a shell, where some programs are replaced by a script. Calls counts those of cat, mv, chmod, and
// mkdir.
func withoutSFTP(t *testing.T, shell string, replaced map[string]string) (s *site, calls func() map[string]int) {
	t.Helper()
	argv := strings.Fields(shell)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		needs.Part(t, "%s is not installed", argv[0])
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.Symlink(path, filepath.Join(bin, "sh")))
	for _, name := range []string{"cat", "mv", "chmod", "mkdir"} {
		real, err := exec.LookPath(name)
		require.NoError(t, err)
		write(t, filepath.Join(bin, name), fmt.Appendf(nil, "#!/bin/sh\necho %s >>%s\nexec %s \"$@\"\n", name, log, real), 0o755)
	}
	if argv[0] == "busybox" {
		for _, name := range []string{"tar", "stat", "ls", "sha256sum", "xargs"} {
			require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
		}
	}
	for name, text := range replaced {
		_ = os.Remove(filepath.Join(bin, name))
		write(t, filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755)
	}
	command := []string{"env", "PATH=" + bin + ":/usr/bin:/bin", "sh"}
	s = newSite(t, hosts.Host{Name: "box", Transport: hosts.Command, Command: command}, localpty.Dial)
	return s, func() map[string]int {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		n := map[string]int{}
		for name := range strings.FieldsSeq(string(text)) {
			n[name]++
		}
		return n
	}
}

// manySmall is a tree of many small files and directories, some with names of their own kind.
func manySmall(t *testing.T) (src string, want map[string]string) {
	src, want = filepath.Join(tempDir(t), "src"), map[string]string{}
	for i := range 150 {
		name := fmt.Sprintf("d%d/e%d/f %d'\\\"\n\xff", i%2, i%26, i)
		want[name] = fmt.Sprintf("%*d", i*13, i)
		write(t, filepath.Join(src, name), []byte(want[name]), os.FileMode(0o600+i%2*0o155))
	}
	for name, text := range map[string]string{"-rf": "dash", "@at": "at", "d1/empty": "", "d0/new": "new"} {
		want[name] = text
		write(t, filepath.Join(src, name), []byte(text), 0o640)
	}
	require.NoError(t, os.Link(filepath.Join(src, "d0/new"), filepath.Join(src, "d1/same")))
	want["d1/same"] = "new"
	require.NoError(t, os.Chmod(filepath.Join(src, "d0/e0"), 0o750))
	return src, want
}

func TestManySmallFilesTakeFewCommandsOfAShell(t *testing.T) {
	src, want := manySmall(t)
	for _, shell := range []string{"dash", "bash", "zsh", "mksh", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			s, calls := withoutSFTP(t, shell, nil)
			dir := tempDir(t)
			for _, again := range []bool{false, true} { // over what is there, too
				r, reports := s.upload(copies.Plan{Path: filepath.Join(dir, "src"), Merge: true}, src)
				require.NoError(t, errOf(r))
				done := map[string]int{}
				for _, one := range reports {
					done[one.Done]++
				}
				assert.Equal(t, len(want), done[copies.Copied])
				n := calls()
				assert.Less(t, n["cat"], 20, "files are sent together")
				assert.Less(t, n["chmod"], 20, "and dressed together")
				if !again {
					assert.Equal(t, 29, done[copies.Created])
					assert.LessOrEqual(t, n["mkdir"], 36)
				}
				for name, text := range want {
					assert.Equal(t, text, read(t, filepath.Join(dir, "src", name)))
					assert.Equal(t, mode(t, filepath.Join(src, name)), mode(t, filepath.Join(dir, "src", name)), name)
				}
				assert.Equal(t, fs.FileMode(0o750), mode(t, filepath.Join(dir, "src/d0/e0")).Perm())
				noLeftovers(t, dir)
			}

			back := tempDir(t)
			r, _, err := s.download(filepath.Join(dir, "src"), copies.Tree{Dir: back, Times: true})
			require.NoError(t, err)
			require.NoError(t, errOf(r))
			assert.Less(t, calls()["cat"], 20, "files are fetched together")
			for name, text := range want {
				assert.Equal(t, text, read(t, filepath.Join(back, "src", name)))
			}
			st, err := os.Stat(filepath.Join(dir, "src/d0/new"))
			require.NoError(t, err)
			got, err := os.Stat(filepath.Join(back, "src/d0/new"))
			require.NoError(t, err)
			assert.Equal(t, st.ModTime().Truncate(time.Second), got.ModTime())
		})
	}
}

// Whatever does not work for many at once is done for each, and says of each what is wrong.
func TestManySmallFilesArriveOverAShellAsTheyAre(t *testing.T) {
	src, want := manySmall(t)
	for name, replaced := range map[string]map[string]string{
		"tar fails":   {"tar": `/usr/bin/tar "$@"; exit 2`},
		"tar is lost": {"tar": "exit 127"},
		"of BSD":      {"tar": `case $1 in --version) echo bsdtar 3.7.2 - libarchive 3.7.2; exit ;; esac; exit 1`},
		"other files": {"tar": `case $1 in --version) exec /usr/bin/tar "$@" ;; -cf) cd /etc; exec /usr/bin/tar -cf - ./passwd ;; esac; exec /usr/bin/tar "$@"`},
		"other sums":  {"sha256sum": `/usr/bin/sha256sum "$@" | tr 0-7 1-8`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := withoutSFTP(t, "sh", replaced)
			dir := tempDir(t)
			to := filepath.Join(dir, "src")
			write(t, filepath.Join(to, "@at"), []byte("old"), 0o600)
			require.NoError(t, os.MkdirAll(filepath.Join(to, "d1/empty"), 0o700))
			require.NoError(t, os.Symlink("/etc", filepath.Join(to, "-rf")))
			r, reports := s.upload(copies.Plan{Path: to, Merge: true}, src)
			assert.ErrorContains(t, errOf(r), fmt.Sprintf("2 of %d files were not copied", len(want)))
			why := map[string]string{}
			for _, one := range reports {
				if one.Done == copies.Failed {
					why[one.Name] = one.Why
				}
			}
			assert.Equal(t, map[string]string{"src/-rf": "it is a symbolic link on the host, which is not followed", "src/d1/empty": "it is a directory on the host"}, why)
			for name, text := range want {
				if name != "-rf" && name != "d1/empty" {
					assert.Equal(t, text, read(t, filepath.Join(to, name)))
				}
			}
			noLeftovers(t, dir)

			back := tempDir(t)
			r, _, err := s.download(src, copies.Tree{Dir: back})
			require.NoError(t, err)
			require.NoError(t, errOf(r))
			for name, text := range want {
				assert.Equal(t, text, read(t, filepath.Join(back, "src", name)))
			}
		})
	}
}

// What hangs is ended in the time of a program, whatever words the path holds, and what is at hand is copied one by one.
func TestAPackThatHangsIsEndedWhateverTheDirectoryIsCalled(t *testing.T) {
	defer copies.SetProgramWait(4 * time.Second)()
	src, want := manySmall(t)
	s, _ := withoutSFTP(t, "sh", map[string]string{"tar": `case $1 in --version) exec /usr/bin/tar "$@" ;; esac; exec sleep 1000`})
	to := filepath.Join(tempDir(t), "a sync's\n\"place\"")
	require.NoError(t, os.Mkdir(to, 0o755))
	r, reports := s.upload(copies.Plan{Path: to, Merge: true}, src)
	require.NoError(t, errOf(r))
	noted := 0
	for _, one := range reports {
		if one.Done == copies.Noted {
			noted++
			assert.Contains(t, one.Why, "tar on the host failed")
		}
	}
	assert.Equal(t, 1, noted)
	for name, text := range want {
		assert.Equal(t, text, read(t, filepath.Join(to, name)))
	}
	noLeftovers(t, to)
}

// A file that cannot be read, or that has another size than it says, keeps no other file back.
func TestAFileThatCannotBeReadKeepsNoOtherBack(t *testing.T) {
	src, want := manySmall(t)
	s, calls := withoutSFTP(t, "sh", map[string]string{ // what root may read, too
		"tar": `for f; do case $f in *locked*) echo "tar: $f: Permission denied" >&2; exit 2 ;; esac; done; exec /usr/bin/tar "$@"`,
		"cat": `case $(readlink /proc/self/fd/0) in *locked*) echo "cat: Permission denied" >&2; exit 1 ;; esac; exec /bin/cat "$@"`,
	})
	write(t, filepath.Join(src, "d1/locked"), []byte("locked"), 0o600)
	calls()
	back := tempDir(t)
	r, reports, err := s.download(src, copies.Tree{Dir: back})
	require.NoError(t, err)
	assert.ErrorContains(t, errOf(r), fmt.Sprintf("1 of %d files were not copied", len(want)+1))
	for _, one := range reports {
		if one.Done == copies.Failed {
			assert.Equal(t, "src/d1/locked", one.Name)
			assert.Equal(t, "permission denied", one.Why)
		}
	}
	for name, text := range want {
		assert.Equal(t, text, read(t, filepath.Join(back, "src", name)))
	}
	noLeftovers(t, back)
}
